//! The properties of a file's sound, the steps through it, and the limits on what is decoded.

use std::{
    ops::{Range, RangeInclusive},
    time::Duration,
};

use symphonia::core::codecs::audio::AudioCodecId;

use crate::decode::undecodable::Undecodable;

/// Samples a second of what comes out.
pub(super) const RATE: u32 = 16_000;

/// What is read at most.
#[derive(Debug, Clone)]
pub(crate) struct AudioLimits {
    /// Longest recording, seconds.
    pub(crate) max_seconds: u32,
    /// Most channels.
    pub(crate) max_channels: u16,
    /// Sampling rates, Hz.
    pub(crate) rates: RangeInclusive<u32>,
}

impl Default for AudioLimits {
    fn default() -> Self {
        Self { max_seconds: 3600, max_channels: 8, rates: 4_000..=192_000 }
    }
}

/// The properties of a file's sound, known from its headers before any of it is decoded. A frame here is one sample of every
/// channel.
#[derive(Debug)]
pub(super) struct Sound {
    pub(super) codec: AudioCodecId,
    pub(super) rate: u32,
    pub(super) n_channels: u16,
    /// Coded in blocks of fixed size.
    pub(super) blocks: Option<Blocks>,
    /// What the encoder put before the sound.
    pub(super) n_lead: u64,
    /// The sound, after the lead.
    pub(super) n_frames: u64,
    pub(super) warnings: Vec<String>,
}

/// Blocks a codec can decode each on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blocks {
    pub(super) n_bytes: usize,
    pub(super) n_frames: usize,
}

/// One step through a file.
#[derive(Debug)]
pub(super) enum Step {
    /// What decodes to so many frames.
    Packet { bytes: Range<usize>, n_frames: usize, n_channels: u16 },
    /// Sound of about that length should be here, and is not.
    Lost { n_frames: u64 },
}

impl Blocks {
    /// How many make a packet: about 4096 frames.
    pub(super) fn per_packet(self) -> usize {
        (4096 / self.n_frames.max(1)).max(1)
    }
}

impl Sound {
    /// Refuses what is beyond the limits, or holds no sound.
    pub(super) fn admit(&self, limits: &AudioLimits) -> Result<(), Undecodable> {
        let &Self { rate, n_channels, n_frames, .. } = self;
        if n_channels > limits.max_channels {
            let max = limits.max_channels;
            let detail = format!("{n_channels} channels, at most {max} are read");
            return Err(Undecodable::new("too_many_channels", detail));
        }
        if !limits.rates.contains(&rate) {
            let (min, max) = (limits.rates.start(), limits.rates.end());
            let detail = format!("{rate} samples a second, from {min} to {max} are read");
            return Err(Undecodable::new("unsupported_rate", detail));
        }
        if n_frames == 0 {
            return Err(Undecodable::new("empty_audio", "expected sound: the file holds not one sample"));
        }
        if n_frames > u64::from(limits.max_seconds) * u64::from(rate) {
            let (length, max) = (seconds(n_frames, rate), limits.max_seconds);
            let detail = format!("the recording lasts at least {length:.1} s, at most {max} s are read");
            return Err(Undecodable::new("too_long", detail));
        }
        Ok(())
    }
}

/// How long so many frames last.
pub(super) fn seconds(n_frames: u64, rate: u32) -> f64 {
    let micros = u128::from(n_frames) * 1_000_000 / u128::from(rate.max(1));
    Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)).as_secs_f64()
}
