//! Mixes the channels of decoded sound down to mono, and leaves out samples that are no sound.

/// Samples with a larger absolute value are taken for errors. Full scale is 1, and software that writes
/// floats on the scale of 16-bit integers reaches 2^15.
const MAX_LEVEL: f32 = 1e6;

/// Mixes to mono, and counts the samples of a file.
#[derive(Debug, Default)]
pub(super) struct Mixer {
    n_samples: u64,
    n_invalid: u64,
}

impl Mixer {
    /// Appends at most `n_frames` frames to `mono`, each the mean of its channels. An invalid sample counts as 0.
    pub(super) fn mix(
        &mut self,
        interleaved: &[f32],
        n_channels: usize,
        n_frames: usize,
        mono: &mut Vec<f32>,
    ) {
        let share = u16::try_from(n_channels).map_or(0.0, |n| 1.0 / f32::from(n));
        for frame in interleaved.chunks_exact(n_channels.max(1)).take(n_frames) {
            self.n_samples += frame.len() as u64;
            let mut sum = 0.0;
            for &sample in frame {
                if sample.abs() <= MAX_LEVEL {
                    sum += sample;
                } else {
                    self.n_invalid += 1;
                }
            }
            mono.push(sum * share);
        }
    }

    /// The number of samples so far that were not finite or larger than [`MAX_LEVEL`].
    pub(super) fn n_invalid(&self) -> u64 {
        self.n_invalid
    }

    /// Whether there were samples, and all of them were not finite or larger than [`MAX_LEVEL`].
    pub(super) fn all_invalid(&self) -> bool {
        self.n_samples > 0 && self.n_invalid == self.n_samples
    }
}
