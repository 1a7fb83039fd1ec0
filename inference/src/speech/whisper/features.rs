//! Computes log-mel features as Whisper does: 3000 frames for up to 30 s of samples.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex};

use crate::speech::{
    SAMPLE_RATE,
    cast::{count, narrow},
    features::{Features, Filter, HOP, filters},
};

const FFT: usize = 400;
const SECONDS: usize = 30;
const N_FRAMES: usize = SECONDS * SAMPLE_RATE / HOP;

/// Whisper's feature extraction. The FFT plan, the Hann window and the filters are computed once.
#[derive(Clone)]
pub(crate) struct WhisperMel {
    fft: Arc<dyn RealToComplex<f32>>,
    hann: Vec<f32>,
    filters: Vec<Filter>,
}

impl WhisperMel {
    pub(crate) fn new(n_mels: usize) -> Self {
        let fft = RealFftPlanner::new().plan_fft_forward(FFT);
        let step = std::f64::consts::TAU / count(FFT);
        let hann = (0..FFT).map(|i| narrow(0.5 - 0.5 * (step * count(i)).cos())).collect();
        Self { fft, hann, filters: filters(n_mels, FFT) }
    }

    /// The features of 30 s of sound. Shorter sound is padded with silence, and longer sound is cut off.
    pub(crate) fn features(&self, samples: &[f32]) -> Features {
        let n_mels = self.filters.len();
        let mut values = vec![0.0; n_mels * N_FRAMES];
        let mut frame = vec![0.0; FFT];
        let mut spectrum = vec![Complex::default(); FFT / 2 + 1];
        let mut power = vec![0.0; FFT / 2 + 1];
        let mut scratch = self.fft.make_scratch_vec();
        for t in 0..N_FRAMES {
            for (i, (place, weight)) in frame.iter_mut().zip(&self.hann).enumerate() {
                *place = reflected(samples, t * HOP + i) * weight;
            }
            // The only possible error is a wrong length, and the lengths are those of the plan.
            let _ = self.fft.process_with_scratch(&mut frame, &mut spectrum, &mut scratch);
            for (p, c) in power.iter_mut().zip(&spectrum) {
                *p = c.norm_sqr();
            }
            for (row, filter) in self.filters.iter().enumerate() {
                values[row * N_FRAMES + t] = filter.energy(&power).max(1e-10).log10();
            }
        }
        let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for value in &mut values {
            *value = (value.max(highest - 8.0) + 4.0) / 4.0;
        }
        Features { n_mels, n_frames: N_FRAMES, values }
    }
}

/// The sample at `at` of the recording with reflect padding: half a frame of its mirror image before and
/// after it.
fn reflected(samples: &[f32], at: usize) -> f32 {
    let n = SECONDS * SAMPLE_RATE;
    let place = at.abs_diff(FFT / 2);
    let place = if place < n { place } else { 2 * (n - 1) - place };
    samples.get(place).copied().unwrap_or(0.0)
}
