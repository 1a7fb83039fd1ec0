//! The energies of mel bands: windowed frames of samples come in; the energy of each band in each frame goes out.
//!
//! The filters are those of Slaney's Auditory Toolbox, from 0 to 8 kHz.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex};

use super::SAMPLE_RATE;
use crate::cast::{count, narrow};

/// A Fourier transform and mel filters over its power spectrum, which are computed once.
#[derive(Clone)]
pub(super) struct MelBands {
    fft: Arc<dyn RealToComplex<f32>>,
    filters: Vec<Filter>,
}

/// A mel filter: a triangle of weights over neighbouring bins of the spectrum.
#[derive(Debug, Clone)]
struct Filter {
    first: usize,
    weights: Vec<f32>,
}

impl MelBands {
    /// `n_mels` bands of frames of `n_fft` samples.
    pub(super) fn new(n_mels: usize, n_fft: usize) -> Self {
        let fft = RealFftPlanner::new().plan_fft_forward(n_fft);
        Self { fft, filters: filters(n_mels, n_fft) }
    }

    /// The number of bands.
    pub(super) const fn len(&self) -> usize {
        self.filters.len()
    }

    /// The energies of `n_frames` frames, one row for each band. `cut` writes the windowed samples of a frame, and
    /// `log` takes an energy's logarithm.
    pub(super) fn energies(
        &self,
        n_frames: usize,
        cut: impl Fn(usize, &mut [f32]),
        log: impl Fn(f32) -> f32,
    ) -> Vec<f32> {
        let mut values = vec![0.0; self.filters.len() * n_frames];
        let mut frame = vec![0.0; self.fft.len()];
        let mut spectrum = vec![Complex::default(); self.fft.complex_len()];
        let mut power = vec![0.0; self.fft.complex_len()];
        let mut scratch = self.fft.make_scratch_vec();
        for t in 0..n_frames {
            cut(t, &mut frame);
            // The only possible error is a wrong length, and the lengths are those of the plan.
            let _ = self.fft.process_with_scratch(&mut frame, &mut spectrum, &mut scratch);
            for (p, c) in power.iter_mut().zip(&spectrum) {
                *p = c.norm_sqr();
            }
            for (row, filter) in self.filters.iter().enumerate() {
                values[row * n_frames + t] = log(filter.energy(&power));
            }
        }
        values
    }
}

impl Filter {
    /// The energy of the filter's band in a power spectrum.
    fn energy(&self, power: &[f32]) -> f32 {
        let bins = power.get(self.first..).unwrap_or_default();
        bins.iter().zip(&self.weights).map(|(p, w)| p * w).sum()
    }
}

/// A Hann window of `n` samples with the period `period`: `n` for a spectrum, and `n - 1` for a symmetric window.
pub(super) fn hann(n: usize, period: usize) -> Vec<f32> {
    let step = std::f64::consts::TAU / count(period);
    (0..n).map(|i| narrow(0.5 - 0.5 * (step * count(i)).cos())).collect()
}

/// Triangular mel filters of equal area, each between the centres of its neighbours.
fn filters(n_mels: usize, n_fft: usize) -> Vec<Filter> {
    let top = mel(count(SAMPLE_RATE) / 2.0);
    let edge = |i: usize| hertz(top * count(i) / count(n_mels + 1));
    let bin = |k: usize| count(SAMPLE_RATE) * count(k) / count(n_fft);
    (0..n_mels)
        .map(|m| {
            let [low, middle, high] = [edge(m), edge(m + 1), edge(m + 2)];
            let weight = |k: usize| {
                let rising = (bin(k) - low) / (middle - low);
                let falling = (high - bin(k)) / (high - middle);
                narrow(rising.min(falling).max(0.0) * 2.0 / (high - low))
            };
            let all: Vec<f32> = (0..=n_fft / 2).map(weight).collect();
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
