//! Mixes the channels of decoded sound into the tracks that are asked for, and leaves out samples that are no sound.

use super::{polarity::Polarity, sound::RATE};

/// Samples with a larger absolute value are taken for errors. Full scale is 1.
const MAX_LEVEL: f32 = 1e6;

/// The channels that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channels {
    /// All of them, mixed.
    Mixed,
    /// One of them, the first of which is 0. Where there are fewer channels, those are mixed.
    One(usize),
    /// Each of them, in its own track.
    Each,
}

/// Mixes the sound of each step through a file into tracks, and counts the samples of a file.
#[derive(Debug)]
pub(super) struct Mixer {
    tracks: Vec<Track>,
    /// What samples are multiplied with.
    gain: f32,
    /// Which channels are inverted, if they are mixed.
    polarity: Polarity,
    n_samples: u64,
    n_invalid: u64,
}

#[derive(Debug)]
struct Track {
    /// The channel that is taken. `None`: all of them are mixed.
    channel: Option<usize>,
    samples: Vec<f32>,
}

impl Mixer {
    /// A mixer for a file with so many channels.
    pub(super) fn new(channels: Channels, n_channels: usize) -> Self {
        let channels = match channels {
            Channels::Mixed => vec![None],
            Channels::One(channel) => vec![Some(channel)],
            Channels::Each => (0..n_channels.max(1)).map(Some).collect(),
        };
        let tracks = channels.into_iter().map(|channel| Track { channel, samples: Vec::new() }).collect();
        Self { tracks, gain: 1.0, polarity: Polarity::new(RATE), n_samples: 0, n_invalid: 0 }
    }

    /// Begins a recording with this rate, Hz, whose samples are to be multiplied with `gain`.
    pub(super) fn begin(&mut self, rate: u32, gain: f32) {
        self.clear();
        self.polarity = Polarity::new(rate);
        self.gain = gain;
    }

    /// Forgets the sound of the last step.
    pub(super) fn clear(&mut self) {
        for track in &mut self.tracks {
            track.samples.clear();
        }
    }

    /// Appends at most `n_frames` frames, of which `channels` has the samples. An invalid sample counts as 0.
    pub(super) fn mix(&mut self, channels: &mut [Vec<f32>], n_frames: usize) {
        let is_invalid = |sample: &f32| sample.abs() > MAX_LEVEL || sample.is_nan();
        for samples in channels.iter_mut() {
            samples.truncate(n_frames);
            if self.gain.to_bits() != 1.0_f32.to_bits() {
                for sample in samples.iter_mut() {
                    *sample *= self.gain;
                }
            }
            self.n_samples += samples.len() as u64;
            let n_invalid = samples.iter().map(|sample| u32::from(is_invalid(sample))).sum::<u32>();
            if n_invalid > 0 {
                self.n_invalid += u64::from(n_invalid);
                samples.iter_mut().filter(|sample| is_invalid(sample)).for_each(|sample| *sample = 0.0);
            }
        }
        for Track { channel, samples } in &mut self.tracks {
            match channels {
                [only] => samples.extend_from_slice(only),
                _ => match channel.and_then(|channel| channels.get(channel)) {
                    Some(taken) => samples.extend_from_slice(taken),
                    None => append_mean(channels, &mut self.polarity, samples),
                },
            }
        }
    }

    /// Appends silence or takes sound away, so that each track has so many frames.
    pub(super) fn resize(&mut self, n_frames: usize) {
        for track in &mut self.tracks {
            track.samples.resize(n_frames, 0.0);
        }
    }

    /// The frames of the last step.
    pub(super) fn n_frames(&self) -> usize {
        self.tracks.first().map_or(0, |track| track.samples.len())
    }

    /// The sound of the last step, of each track.
    pub(super) fn tracks(&self) -> impl Iterator<Item = &[f32]> {
        self.tracks.iter().map(|track| track.samples.as_slice())
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

/// Appends the mean of the channels. Those that are inverted are turned over.
fn append_mean(channels: &[Vec<f32>], polarity: &mut Polarity, samples: &mut Vec<f32>) {
    let Some((first, further)) = channels.split_first() else { return };
    let n_frames = channels.iter().map(Vec::len).min().unwrap_or(0);
    let n_before = samples.len();
    samples.extend_from_slice(first);
    let sum = &mut samples[n_before..];
    let mut start = 0;
    while start < n_frames {
        let block = start..n_frames.min(start + polarity.n_block());
        start = block.end;
        let parts: Vec<&[f32]> = channels.iter().map(|channel| &channel[block.clone()]).collect();
        let inverted = polarity.of(&parts);
        for (channel, is_inverted) in further.iter().zip(&inverted[1..]) {
            let added = sum[block.clone()].iter_mut().zip(&channel[block.clone()]);
            if *is_inverted {
                added.for_each(|(sum, sample)| *sum -= sample);
            } else {
                added.for_each(|(sum, sample)| *sum += sample);
            }
        }
    }
    let share = u16::try_from(channels.len()).map_or(0.0, |n| 1.0 / f32::from(n));
    for sum in sum {
        *sum *= share;
    }
}
