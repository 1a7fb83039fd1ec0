//! Computes log-mel features as Whisper does: 3000 frames for up to 30 s of samples, or as many as the samples have.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex, num_complex::Complex};

use crate::speech::{
    SAMPLE_RATE,
    cast::{count, narrow},
    features::{Features, Filter, HOP, filters},
};

const FFT: usize = 400;
const SECONDS: usize = 30;
/// The lowest energy of a band.
pub(crate) const FLOOR: f32 = 1e-10;
/// The decades that are kept below the highest energy. A feature is a fourth of a decade.
pub(crate) const RANGE: f32 = 8.0;

/// Whisper's feature extraction. The FFT plan, the Hann window and the filters are computed once.
#[derive(Clone)]
pub(crate) struct WhisperMel {
    fft: Arc<dyn RealToComplex<f32>>,
    hann: Vec<f32>,
    filters: Vec<Filter>,
    /// The number of samples that every recording is padded or cut to; none to take it as it is.
    n_samples: Option<usize>,
}

impl WhisperMel {
    /// Features of 30 s of sound. Shorter sound is padded with silence, and longer sound is cut off.
    pub(crate) fn new(n_mels: usize) -> Self {
        Self { n_samples: Some(SECONDS * SAMPLE_RATE), ..Self::of_any_length(n_mels) }
    }

    /// Features of the sound as it is: a frame for each 10 ms.
    pub(crate) fn of_any_length(n_mels: usize) -> Self {
        let fft = RealFftPlanner::new().plan_fft_forward(FFT);
        let step = std::f64::consts::TAU / count(FFT);
        let hann = (0..FFT).map(|i| narrow(0.5 - 0.5 * (step * count(i)).cos())).collect();
        Self { fft, hann, filters: filters(n_mels, FFT), n_samples: None }
    }

    /// The features of a recording at 16 kHz, with a full scale of 1.
    pub(crate) fn features(&self, samples: &[f32]) -> Features {
        let n_samples = self.n_samples.unwrap_or(samples.len());
        let (n_mels, n_frames) = (self.filters.len(), n_samples / HOP);
        let mut values = vec![0.0; n_mels * n_frames];
        let mut frame = vec![0.0; FFT];
        let mut spectrum = vec![Complex::default(); FFT / 2 + 1];
        let mut power = vec![0.0; FFT / 2 + 1];
        let mut scratch = self.fft.make_scratch_vec();
        for t in 0..n_frames {
            for (i, (place, weight)) in frame.iter_mut().zip(&self.hann).enumerate() {
                *place = reflected(samples, n_samples, t * HOP + i) * weight;
            }
            // The only possible error is a wrong length, and the lengths are those of the plan.
            let _ = self.fft.process_with_scratch(&mut frame, &mut spectrum, &mut scratch);
            for (p, c) in power.iter_mut().zip(&spectrum) {
                *p = c.norm_sqr();
            }
            for (row, filter) in self.filters.iter().enumerate() {
                values[row * n_frames + t] = filter.energy(&power).max(FLOOR).log10();
            }
        }
        let highest = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        for value in &mut values {
            *value = (value.max(highest - RANGE) + 4.0) / 4.0;
        }
        Features { n_mels, n_frames, values }
    }
}

/// The sample at `at` of a recording of `n` samples with reflect padding: half a frame of its mirror image before
/// and after it. Samples that the recording does not have are 0.
fn reflected(samples: &[f32], n: usize, at: usize) -> f32 {
    let place = at.abs_diff(FFT / 2);
    let place = if place < n { place } else { (2 * n).saturating_sub(2 + place) };
    samples.get(place).copied().unwrap_or(0.0)
}
