//! Computes log-mel features as Whisper does: 3000 frames for up to 30 s of samples, or as many as the samples have.

use super::{
    Features, FrontEnd, HOP, SAMPLE_RATE, Steps,
    filters::{MelBands, hann},
};

const FFT: usize = 400;
const SECONDS: usize = 30;
/// The lowest energy of a band.
const FLOOR: f32 = 1e-10;
/// The decades that are kept below the highest energy.
const RANGE: f32 = 8.0;

/// Whisper's feature extraction.
#[derive(Clone)]
pub struct WhisperMel {
    bands: MelBands,
    hann: Vec<f32>,
    /// The number of samples that every recording is padded or cut to; none to take it as it is.
    n_samples: Option<usize>,
}

impl WhisperMel {
    /// Features of 30 s of sound. Shorter sound is padded with silence, and longer sound is cut off.
    pub fn new(n_mels: usize) -> Self {
        Self { n_samples: Some(SECONDS * SAMPLE_RATE), ..Self::of_any_length(n_mels) }
    }

    /// Features of the sound as it is: a frame for each 10 ms.
    pub fn of_any_length(n_mels: usize) -> Self {
        Self { bands: MelBands::new(n_mels, FFT), hann: hann(FFT, FFT), n_samples: None }
    }

    /// The feature of a power of 0 in a recording with these features.
    pub(crate) fn silence(features: &Features) -> f32 {
        scaled(FLOOR.log10()).max(highest(&features.values) - RANGE / 4.0)
    }
}

impl FrontEnd for WhisperMel {
    fn features(&self, samples: &[f32]) -> Features {
        let mut features = self.log_energies(samples);
        self.normalise(&mut features);
        features
    }
}

impl Steps for WhisperMel {
    fn log_energies(&self, samples: &[f32]) -> Features {
        let n_samples = self.n_samples.unwrap_or(samples.len());
        let n_frames = n_samples / HOP;
        let cut = |t: usize, frame: &mut [f32]| {
            for (i, (place, weight)) in frame.iter_mut().zip(&self.hann).enumerate() {
                *place = reflected(samples, n_samples, t * HOP + i) * weight;
            }
        };
        let values = self.bands.energies(n_frames, cut, |energy| energy.max(FLOOR).log10());
        Features { n_mels: self.bands.len(), n_frames, values }
    }

    fn normalise(&self, features: &mut Features) {
        let lowest = highest(&features.values) - RANGE;
        for value in &mut features.values {
            *value = scaled(value.max(lowest));
        }
    }
}

/// The feature of an energy's logarithm: a fourth of a decade, from 4 decades below 1.
fn scaled(log_energy: f32) -> f32 {
    (log_energy + 4.0) / 4.0
}

fn highest(values: &[f32]) -> f32 {
    values.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}

/// The sample at `at` of a recording of `n` samples with reflect padding: half a frame of its mirror image before
/// and after it. Samples that the recording does not have are 0.
fn reflected(samples: &[f32], n: usize, at: usize) -> f32 {
    let place = at.abs_diff(FFT / 2);
    let place = if place < n { place } else { (2 * n).saturating_sub(2 + place) };
    samples.get(place).copied().unwrap_or(0.0)
}
