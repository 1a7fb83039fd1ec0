//! Computes log-mel features of 16 kHz samples as NeMo does.
//!
//! The steps:
//! 1. pre-emphasis of 0.97;
//! 2. frames of 512 samples every 160 samples (10 ms), the first one centred on the first sample, with a
//!    symmetric Hann window of 400 samples;
//! 3. the power spectrum, and the mel filters of Slaney's Auditory Toolbox from 0 to 8 kHz;
//! 4. the logarithm, and normalisation over the recording.
//!
//! A reference implementation in Python wrote the golden files of the tests.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex};

use super::{
    SAMPLE_RATE,
    cast::{count, narrow},
    normalise::{GlobalCmvn, normalise},
};

const FFT: usize = 512;
const WINDOW: usize = 400;
/// The number of samples from one frame to the next.
pub const HOP: usize = 160;
const BINS: usize = FFT / 2 + 1;
const PRE_EMPHASIS: f32 = 0.97;
/// A constant that is added to an energy before the logarithm.
const FLOOR: f32 = 1.0 / 16_777_216.0; // 2^-24

/// The features of a recording: `n_mels` rows of `n_frames` values.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// The number of mel bands.
    pub n_mels: usize,
    /// The number of frames: the number of samples, divided by [`HOP`].
    pub n_frames: usize,
    /// The values in row-major order, one row for each mel band.
    pub values: Vec<f32>,
}

/// The features of several windows, each padded with zeros to the length of the longest.
pub(crate) struct Batch {
    /// The numbers of windows, mel bands and frames.
    pub(crate) shape: [i64; 3],
    /// The values in row-major order.
    pub(crate) signal: Vec<f32>,
    /// The number of frames of each window, without padding.
    pub(crate) lengths: Vec<i64>,
}

/// Makes a batch of windows that have the same number of mel bands.
pub(crate) fn batch(windows: &[&Features]) -> Batch {
    let n_mels = windows.first().map_or(0, |w| w.n_mels);
    let n_frames = windows.iter().map(|w| w.n_frames).max().unwrap_or(0);
    let mut signal = vec![0.0; windows.len() * n_mels * n_frames];
    for (window, block) in windows.iter().zip(signal.chunks_exact_mut((n_mels * n_frames).max(1))) {
        let rows = window.values.chunks_exact(window.n_frames.max(1));
        for (row, place) in rows.zip(block.chunks_exact_mut(n_frames)) {
            place[..window.n_frames].copy_from_slice(row);
        }
    }
    let dimension = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let lengths = windows.iter().map(|w| dimension(w.n_frames)).collect();
    Batch { shape: [windows.len(), n_mels, n_frames].map(dimension), signal, lengths }
}

/// Log-mel feature extraction. The FFT plan, the Hann window and the filters are computed once.
#[derive(Clone)]
pub struct LogMel {
    fft: Arc<dyn RealToComplex<f32>>,
    hann: Vec<f32>,
    filters: Vec<Filter>,
    global_cmvn: Option<GlobalCmvn>,
}

/// A mel filter: a triangle of weights over neighbouring bins of the spectrum.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    first: usize,
    weights: Vec<f32>,
}

impl Filter {
    /// The energy of the filter's band in a power spectrum.
    pub(crate) fn energy(&self, power: &[f32]) -> f32 {
        let bins = power.get(self.first..).unwrap_or_default();
        bins.iter().zip(&self.weights).map(|(p, w)| p * w).sum()
    }
}

impl std::fmt::Debug for LogMel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogMel").field("n_mels", &self.filters.len()).finish_non_exhaustive()
    }
}

impl LogMel {
    /// Feature extraction with `n_mels` mel bands. Models use 80 or 128.
    pub fn new(n_mels: usize) -> Self {
        let fft = RealFftPlanner::new().plan_fft_forward(FFT);
        let step = std::f64::consts::TAU / count(WINDOW - 1);
        let hann = (0..WINDOW).map(|i| narrow(0.5 - 0.5 * (step * count(i)).cos())).collect();
        Self { fft, hann, filters: filters(n_mels, FFT), global_cmvn: None }
    }

    /// The same, for a model that also uses global statistics to normalise short recordings.
    pub(crate) fn with_global_cmvn(self, global_cmvn: Option<GlobalCmvn>) -> Self {
        Self { global_cmvn, ..self }
    }

    /// The features of a recording, or of one window of it. `samples` are at 16 kHz, with a full scale of 1.
    pub fn features(&self, samples: &[f32]) -> Features {
        let (n_mels, n_frames) = (self.filters.len(), samples.len() / HOP);
        let mut values = vec![0.0; n_mels * n_frames];
        let emphasised = emphasise(samples);
        let mut frame = vec![0.0; FFT];
        let mut spectrum = vec![Complex::default(); BINS];
        let mut power = vec![0.0; BINS];
        let mut scratch = self.fft.make_scratch_vec();
        for t in 0..n_frames {
            self.cut(&emphasised, t, &mut frame);
            // The only possible error is a wrong length, and the lengths are those of the plan.
            let _ = self.fft.process_with_scratch(&mut frame, &mut spectrum, &mut scratch);
            for (p, c) in power.iter_mut().zip(&spectrum) {
                *p = c.norm_sqr();
            }
            for (row, filter) in self.filters.iter().enumerate() {
                values[row * n_frames + t] = (filter.energy(&power) + FLOOR).ln();
            }
        }
        normalise(&mut values, n_frames, self.global_cmvn.as_ref());
        Features { n_mels, n_frames, values }
    }

    /// Writes the windowed samples around frame `t` into `frame`. Samples beyond the recording are 0.
    fn cut(&self, samples: &[f32], t: usize, frame: &mut [f32]) {
        frame.fill(0.0);
        let margin = (FFT - WINDOW) / 2;
        for (i, weight) in self.hann.iter().enumerate() {
            let at = (t * HOP + margin + i).checked_sub(FFT / 2);
            frame[margin + i] = at.and_then(|at| samples.get(at)).map_or(0.0, |s| s * weight);
        }
    }
}

fn emphasise(samples: &[f32]) -> Vec<f32> {
    let first = samples.first().copied();
    let rest = samples.windows(2).map(|w| w[1] - PRE_EMPHASIS * w[0]);
    first.into_iter().chain(rest).collect()
}

/// Triangular mel filters of equal area, each between the centres of its neighbours. `fft` is the length of
/// the FFT.
pub(crate) fn filters(n_mels: usize, fft: usize) -> Vec<Filter> {
    let top = mel(count(SAMPLE_RATE) / 2.0);
    let edge = |i: usize| hertz(top * count(i) / count(n_mels + 1));
    let bin = |k: usize| count(SAMPLE_RATE) * count(k) / count(fft);
    (0..n_mels)
        .map(|m| {
            let [low, middle, high] = [edge(m), edge(m + 1), edge(m + 2)];
            let weight = |k: usize| {
                let rising = (bin(k) - low) / (middle - low);
                let falling = (high - bin(k)) / (high - middle);
                narrow(rising.min(falling).max(0.0) * 2.0 / (high - low))
            };
            let all: Vec<f32> = (0..=fft / 2).map(weight).collect();
            let first = all.iter().position(|w| *w > 0.0).unwrap_or(0);
            let end = all.iter().rposition(|w| *w > 0.0).map_or(first, |last| last + 1);
            Filter { first, weights: all[first..end].to_vec() }
        })
        .collect()
}

/// Slaney's mel scale, which is linear below 1 kHz and logarithmic above.
fn mel(hertz: f64) -> f64 {
    if hertz < 1000.0 { hertz * 3.0 / 200.0 } else { 15.0 + (hertz / 1000.0).ln() * 27.0 / 6.4_f64.ln() }
}

fn hertz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4_f64.ln() / 27.0).exp() }
}
