//! The properties of a file's sound, the steps in which it is read, and the limits on what is decoded.

use std::{
    ops::{Range, RangeInclusive},
    time::Duration,
};

use akhar_requests::{MAX_FETCHED_S, MAX_RECORDING_S};
use symphonia::core::codecs::audio::AudioCodecId;

use super::timeline::Timeline;
use crate::decode::{job_file::JobFile, undecodable::Undecodable};

/// Sampling rate of the decoded sound, Hz.
pub(super) const RATE: u32 = 16_000;

/// The limits on a recording.
#[derive(Debug, Clone)]
pub(crate) struct AudioLimits {
    /// The longest allowed recording, seconds.
    pub(crate) max_seconds: u32,
    /// The largest allowed number of channels.
    pub(crate) max_channels: u16,
    /// The allowed sampling rates, Hz.
    pub(crate) rates: RangeInclusive<u32>,
}

impl Default for AudioLimits {
    fn default() -> Self {
        Self { max_seconds: MAX_RECORDING_S, max_channels: 8, rates: 4_000..=192_000 }
    }
}

impl AudioLimits {
    /// The limits on a job's file.
    pub(crate) fn of(file: &JobFile) -> Self {
        let max_seconds = if file.is_on_disk() { MAX_FETCHED_S } else { MAX_RECORDING_S };
        Self { max_seconds, ..Self::default() }
    }
}

/// The properties of a file's sound, read from its headers before any of it is decoded. One frame is one
/// sample of every channel.
#[derive(Debug)]
pub(super) struct Sound {
    pub(super) codec: AudioCodecId,
    /// Sampling rate, Hz.
    pub(super) rate: u32,
    pub(super) n_channels: u16,
    /// The block size of a codec with blocks of fixed size.
    pub(super) blocks: Option<Blocks>,
    /// What the decoded samples are multiplied with, so that full scale is 1.
    pub(super) gain: f32,
    /// Which of the decoded frames are the sound.
    pub(super) timeline: Timeline,
    /// Frames of the sound, with its silence.
    pub(super) n_frames: u64,
    pub(super) warnings: Vec<String>,
}

/// The size of one block, where a codec decodes each block on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks {
    pub(super) n_bytes: usize,
    pub(super) n_frames: usize,
}

/// One step through a file.
#[derive(Debug)]
pub(super) enum Step {
    /// The byte range of a packet that decodes to `n_frames` frames.
    Packet { bytes: Range<usize>, n_frames: usize, n_channels: u16 },
    /// About `n_frames` frames of sound are missing here.
    Lost { n_frames: u64 },
}

/// What comes next in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Sound, which the mixer has. It has silence if the sound is not whole.
    Sound { is_whole: bool },
    /// About `n_frames` frames are missing here.
    Lost { n_frames: u64 },
    /// `n_frames` frames of silence.
    Silent { n_frames: u64 },
    /// Nothing.
    End,
}

impl Blocks {
    /// The number of blocks in one packet: as many as hold about 4096 frames.
    pub(super) fn per_packet(self) -> usize {
        (4096 / self.n_frames.max(1)).max(1)
    }
}

impl Sound {
    /// Refuses sound that exceeds the limits, and files without any sound.
    pub(super) fn check(&self, limits: &AudioLimits) -> Result<(), Undecodable> {
        let &Self { rate, n_channels, n_frames, .. } = self;
        if n_channels > limits.max_channels {
            let max = limits.max_channels;
            let detail = format!("the recording has {n_channels} channels, but at most {max} are allowed");
            return Err(Undecodable::new("too_many_channels", detail));
        }
        if !limits.rates.contains(&rate) {
            let (min, max) = (limits.rates.start(), limits.rates.end());
            let detail =
                format!("the recording's sampling rate is {rate} Hz: expected a rate from {min} to {max} Hz");
            return Err(Undecodable::new("unsupported_rate", detail));
        }
        if n_frames == 0 {
            return Err(Undecodable::new("empty_audio", "the recording is empty: it has no samples"));
        }
        if n_frames > u64::from(limits.max_seconds) * u64::from(rate) {
            return Err(too_long(seconds(n_frames, rate), limits));
        }
        Ok(())
    }
}

/// The error of a recording that is longer than the limits allow.
pub(super) fn too_long(length_s: f64, limits: &AudioLimits) -> Undecodable {
    let max = limits.max_seconds;
    let detail = format!(
        "the recording is at least {length_s:.1} s long, but at most {max} s are allowed: \
         send it in shorter parts"
    );
    Undecodable::new("too_long", detail)
}

/// The warning for a file that has `actual` seconds of sound where its header declares `declared` seconds.
pub(super) fn truncation_warning(actual: f64, declared: f64) -> String {
    format!("the file is cut off: it has {actual:.3} s of sound, but its header says {declared:.3} s")
}

/// The length of `n_frames` frames at `rate` Hz, seconds, rounded down to microseconds.
pub(super) fn seconds(n_frames: u64, rate: u32) -> f64 {
    let micros = u128::from(n_frames) * 1_000_000 / u128::from(rate.max(1));
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)).as_secs_f64()
}
