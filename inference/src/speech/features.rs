//! Log-mel features as NeMo computes them: 16 kHz samples come in, normalised log energies come out.
//!
//! Pre-emphasis of 0.97; frames of 512 every 160 samples (10 ms), the first centred on the first sample;
//! a symmetric Hann window of 400; power spectrum; mel filters of Slaney's Auditory Toolbox, 0 to 8 kHz;
//! the logarithm; then normalisation over the recording. The golden files of the tests come from a reference
//! implementation in Python.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex};

use super::{
    SAMPLE_RATE,
    cast::{count, narrow},
    normalise::{GlobalCmvn, normalise},
};

const FFT: usize = 512;
const WINDOW: usize = 400;
/// Samples from one frame to the next.
pub const HOP: usize = 160;
const BINS: usize = FFT / 2 + 1;
const PRE_EMPHASIS: f32 = 0.97;
/// Added to an energy before its logarithm.
const FLOOR: f32 = 1.0 / 16_777_216.0; // 2^-24

/// Features of a recording: `n_mels` rows of `n_frames` values.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Rows.
    pub n_mels: usize,
    /// Columns: samples / [`HOP`].
    pub n_frames: usize,
    /// Row-major.
    pub values: Vec<f32>,
}

/// Features of windows together, each filled up with zeros to the longest.
pub(crate) struct Batch {
    /// Windows, mel bands, frames.
    pub(crate) shape: [i64; 3],
    /// Row-major.
    pub(crate) signal: Vec<f32>,
    /// Each window's own frames.
    pub(crate) lengths: Vec<i64>,
}

/// Puts windows of the same number of bands together.
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

/// Feature extraction with its plan, window and filters, made once.
#[derive(Clone)]
pub struct LogMel {
    fft: Arc<dyn RealToComplex<f32>>,
    hann: Vec<f32>,
    filters: Vec<Filter>,
    global_cmvn: Option<GlobalCmvn>,
}

/// A triangle of weights over neighbouring bins of the spectrum.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    first: usize,
    weights: Vec<f32>,
}

impl Filter {
    /// The energy of its band in a power spectrum.
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
    /// For this many mel bands, 80 or 128.
    pub fn new(n_mels: usize) -> Self {
        let fft = RealFftPlanner::new().plan_fft_forward(FFT);
        let step = std::f64::consts::TAU / count(WINDOW - 1);
        let hann = (0..WINDOW).map(|i| narrow(0.5 - 0.5 * (step * count(i)).cos())).collect();
        Self { fft, hann, filters: filters(n_mels, FFT), global_cmvn: None }
    }

    /// The same, for a model whose short recordings are normalised with global statistics besides.
    pub(crate) fn with_global_cmvn(self, global_cmvn: Option<GlobalCmvn>) -> Self {
        Self { global_cmvn, ..self }
    }

    /// Features of one recording, or of one window of it.
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
            // Its lengths are the plan's own, which is all that can be wrong.
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

    /// The windowed samples around the `t`-th hop; beyond the recording there is silence.
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

/// Mel filters of equal area: triangles between neighbouring centres.
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

/// Slaney's mel scale: linear to 1 kHz, logarithmic above.
fn mel(hertz: f64) -> f64 {
    if hertz < 1000.0 { hertz * 3.0 / 200.0 } else { 15.0 + (hertz / 1000.0).ln() * 27.0 / 6.4_f64.ln() }
}

fn hertz(mel: f64) -> f64 {
    if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * ((mel - 15.0) * 6.4_f64.ln() / 27.0).exp() }
}
