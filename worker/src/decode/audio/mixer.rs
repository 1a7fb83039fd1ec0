//! Mixes the channels of decoded sound down to mono, or takes one of them, and leaves out samples that are no sound.

/// Samples with a larger absolute value are taken for errors. Full scale is 1, and software that writes
/// floats on the scale of 16-bit integers reaches 2^15.
const MAX_LEVEL: f32 = 1e6;

/// Mixes to mono, and counts the samples of a file.
#[derive(Debug, Default)]
pub(super) struct Mixer {
    /// The channel that is taken. `None`: all of them are mixed.
    channel: Option<usize>,
    n_samples: u64,
    n_invalid: u64,
}

impl Mixer {
    /// A mixer that takes one channel, the first of which is 0. Where there are fewer channels, it mixes those.
    pub(super) fn of_channel(channel: Option<usize>) -> Self {
        Self { channel, ..Self::default() }
    }

    /// Appends at most `n_frames` frames to `mono`, each the mean of its channels or the one that is taken. An invalid sample counts as 0.
    pub(super) fn mix(
        &mut self,
        interleaved: &[f32],
        n_channels: usize,
        n_frames: usize,
        mono: &mut Vec<f32>,
    ) {
        let taken = self.channel.filter(|channel| *channel < n_channels);
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
            let taken = taken.and_then(|channel| frame.get(channel));
            let is_sound = |sample: &&f32| sample.abs() <= MAX_LEVEL;
            mono.push(
                taken.map_or(sum * share, |sample| Some(sample).filter(is_sound).copied().unwrap_or(0.0)),
            );
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
