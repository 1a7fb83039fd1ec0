//! Samples as wav2vec 2.0 takes them: of zero mean and unit variance.

use super::{Features, FrontEnd};
use crate::cast::{count, narrow};

/// The number of samples that one output frame is computed from.
const SHORTEST: usize = 400;
/// A constant that is added to the variance, which leaves silence silent.
const EPSILON: f64 = 1e-5;

/// The front end of models that take samples.
pub(crate) struct Waveform;

impl FrontEnd for Waveform {
    /// The samples, each as a frame; none of a window that is too short for an output frame.
    fn features(&self, samples: &[f32]) -> Features {
        let samples = if samples.len() < SHORTEST { &[] } else { samples };
        let n = count(samples.len());
        let mean = samples.iter().map(|sample| f64::from(*sample)).sum::<f64>() / n;
        let variance = samples.iter().map(|sample| (f64::from(*sample) - mean).powi(2)).sum::<f64>() / n;
        let scale = (variance + EPSILON).sqrt();
        let values = samples.iter().map(|sample| narrow((f64::from(*sample) - mean) / scale)).collect();
        Features { n_mels: 1, n_frames: samples.len(), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::signal;

    #[test]
    fn level_and_offset_make_no_difference() {
        let samples = signal(1, 5000);
        let plain = Waveform.features(&samples);
        let values = |level: f32, offset: f32| {
            let samples: Vec<f32> = samples.iter().map(|sample| level * sample + offset).collect();
            Waveform.features(&samples).values
        };
        for (level, offset) in [(2.0, 0.0), (1.0, 0.4), (0.5, -0.3)] {
            let apart = crate::testing::apart(&plain.values, &values(level, offset));
            assert!(apart < 1e-2, "{level} {offset}: {apart}");
        }
        assert!(values(1e-4, 0.0).iter().all(|value| value.abs() < 0.1), "silence is not amplified");
        let n = count(plain.values.len());
        let mean = |power: i32| plain.values.iter().map(|v| f64::from(*v).powi(power)).sum::<f64>() / n;
        assert!(mean(1).abs() < 1e-6 && (mean(2) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_window_without_an_output_frame_has_no_features() {
        assert_eq!(Waveform.features(&[0.1; SHORTEST]).n_frames, SHORTEST);
        for n in [0, SHORTEST - 1] {
            assert_eq!(
                Waveform.features(&vec![0.1; n]),
                Features { n_mels: 1, n_frames: 0, values: Vec::new() }
            );
        }
    }
}
