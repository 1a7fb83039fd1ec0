//! Decodes a recording into 16 kHz mono, or each of its channels, one second at a time. The timing of the sound is kept.
//!
//! This module reads mp3 and wav files itself, from the bytes of the file. So a broken frame becomes silence of the
//! same length, and wrong lengths in headers do no harm. Symphonia reads the other formats, and has the codecs.

mod allowance;
mod container;
mod decoder;
mod mixer;
mod mp3;
mod opus;
mod reader;
mod resample;
mod riff;
mod sound;
mod source;
#[cfg(test)]
mod tests;
mod wav;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_jobs::MediaType;

pub(crate) use allowance::Pace;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use allowance::{Counted, most_steps};
pub(crate) use mixer::Channels;
pub(crate) use sound::AudioLimits;

use super::{guard, job_file::JobFile, undecodable::Undecodable};
use allowance::{Allowance, Unpaced};
use mixer::Mixer;
use resample::Resampler;
use sound::{Chunk, RATE, seconds};
use source::Source;

/// The number of samples in one piece: one second.
const PIECE: usize = RATE as usize;

/// The type of a recording that no api has checked, by its first bytes. MP3 has no certain ones, so it is `None` as well as
/// what is no recording.
pub(crate) fn certain_type(bytes: &[u8]) -> Option<MediaType> {
    let is_wav = matches!(bytes.get(..4), Some(b"RIFF" | b"RF64"));
    MediaType::of_container(bytes).or_else(|| is_wav.then_some(MediaType::Wav))
}

/// An opened audio file, which gives its sound at 16 kHz in pieces of one second. It is decoded once for all tracks.
pub(crate) struct Audio {
    source: Source,
    allowance: Allowance,
    mixer: Mixer,
    tracks: Vec<Track>,
    rate: u32,
    n_channels: u16,
    /// Frames at the start that are still to be left out.
    n_lead: u64,
    /// Frames that are still to be returned.
    n_left: u64,
    /// Frames of silence that are still to be inserted before the next packet.
    n_silent: u64,
    n_given: u64,
    /// Frames of the sound, at the rate of the file.
    n_frames: u64,
    is_over: bool,
    resampling: Duration,
    losses: Losses,
    warnings: Vec<String>,
}

/// The sound of one channel, or of all of them mixed.
struct Track {
    resampler: Resampler,
    /// Samples at 16 kHz that are not returned yet.
    ready: Vec<f32>,
}

/// What could not be decoded so far.
#[derive(Debug, Default)]
struct Losses {
    n_packets: u64,
    /// Packets that are in the file but cannot be decoded.
    n_broken: u64,
    /// Frames of packets that are missing from the file.
    missing: u64,
}

impl Audio {
    /// Opens a file. Checks the headers against the limits, and checks that at least one packet can be
    /// decoded.
    pub(crate) fn open(file: JobFile, limits: &AudioLimits, channels: Channels) -> Result<Self, Undecodable> {
        Self::open_at(&(Arc::new(Unpaced) as Arc<dyn Pace>), file, limits, channels)
    }

    /// Like [`Self::open`], at this pace.
    pub(crate) fn open_at(
        pace: &Arc<dyn Pace>,
        file: JobFile,
        limits: &AudioLimits,
        channels: Channels,
    ) -> Result<Self, Undecodable> {
        let allowance = Allowance::new(file.content.len(), pace.clone());
        let opened = guard::decoded("header", || Source::open(file, limits, &allowance));
        allowance.check()?;
        let (sound, source) = opened?;
        pace.lasts(seconds(sound.n_frames, sound.rate));
        let n_left = match &source {
            Source::Frames { .. } => sound.n_frames,
            // The times of packets need not be exact, so the sound may be a little longer.
            Source::Container(_) => u64::from(limits.max_seconds) * u64::from(sound.rate),
        };
        let mixer = Mixer::new(channels, sound.n_channels.into());
        let track = |_| Ok(Track { resampler: Resampler::new(sound.rate)?, ready: Vec::new() });
        let tracks = mixer.tracks().map(track).collect::<Result<_, _>>()?;
        Ok(Self {
            source,
            allowance,
            mixer,
            tracks,
            rate: sound.rate,
            n_channels: sound.n_channels,
            n_lead: sound.n_lead,
            n_left,
            n_frames: sound.n_frames,
            n_silent: 0,
            n_given: 0,
            is_over: false,
            resampling: Duration::ZERO,
            losses: Losses::default(),
            warnings: sound.warnings,
        })
    }

    /// The next second of sound at 16 kHz, of each track: of each channel if each is asked for, or else of one. The last
    /// piece may be shorter; after it comes `None`.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Vec<f32>>>, Undecodable> {
        while !self.is_over && self.n_ready() < PIECE {
            guard::decoded("sound", || self.advance())?;
            self.allowance.check()?;
        }
        let n = self.n_ready().min(PIECE);
        self.n_given += n as u64;
        Ok((n > 0).then(|| self.tracks.iter_mut().map(|track| track.ready.drain(..n).collect()).collect()))
    }

    /// The samples of each track that are not returned yet.
    fn n_ready(&self) -> usize {
        self.tracks.first().map_or(0, |track| track.ready.len())
    }

    /// What the caller should know about problems in the file. Complete once [`Self::next`] has returned
    /// `None`.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The number of channels of the file.
    pub(crate) fn n_channels(&self) -> usize {
        self.n_channels.into()
    }

    /// The number of tracks.
    pub(crate) fn n_tracks(&self) -> usize {
        self.tracks.len()
    }

    /// The length of the sound by the file's headers and packets, seconds.
    pub(crate) fn length_s(&self) -> f64 {
        seconds(self.n_frames, self.rate)
    }

    /// The length of the sound returned so far, seconds.
    pub(crate) fn seconds(&self) -> f64 {
        seconds(self.n_given, RATE)
    }

    /// The computing time spent so far on changing the sampling rate.
    pub(crate) fn resampling(&self) -> Duration {
        self.resampling
    }

    /// Takes one step through the file and appends the sound that it gives to the tracks.
    fn advance(&mut self) -> Result<(), Undecodable> {
        self.mixer.clear();
        if self.n_silent > 0 {
            self.allowance.look();
            let n = usize::try_from(self.n_silent).unwrap_or(PIECE).min(PIECE);
            self.n_silent -= n as u64;
            self.mixer.resize(n);
        } else {
            self.allowance.step();
            match self.source.next(&mut self.mixer)? {
                Chunk::Sound { is_whole } => {
                    self.losses.n_packets += 1;
                    self.losses.n_broken += u64::from(!is_whole);
                }
                Chunk::Lost { n_frames } => {
                    self.n_silent = n_frames.min(self.n_lead.saturating_add(self.n_left));
                    self.losses.missing += n_frames;
                    return Ok(());
                }
                Chunk::End => return self.end(),
            }
        }
        let n = self.mixer.n_frames() as u64;
        let start = self.n_lead.min(n);
        self.n_lead -= start;
        let end = n.min(start.saturating_add(self.n_left));
        self.n_left -= end - start;
        let kept = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        let started = Instant::now();
        for (track, samples) in self.tracks.iter_mut().zip(self.mixer.tracks()) {
            track.resampler.push(samples.get(kept.clone()).unwrap_or_default(), &mut track.ready)?;
        }
        self.resampling += started.elapsed();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Undecodable> {
        self.is_over = true;
        let Losses { n_packets, n_broken, missing } = self.losses;
        if n_broken > 0 {
            let warning =
                format!("{n_broken} of {n_packets} frames could not be decoded and were replaced by silence");
            self.warnings.push(warning);
        }
        if missing > 0 {
            let length = seconds(missing, self.rate);
            let warning =
                format!("about {length:.3} s of sound are missing in the file and were replaced by silence");
            self.warnings.push(warning);
        }
        self.warnings.extend(self.source.warning());
        if self.mixer.all_invalid() {
            let detail = "no sample of the file is a number in the range of sound: all are not finite or far too large";
            return Err(Undecodable::new("undecodable", detail));
        }
        let n_invalid = self.mixer.n_invalid();
        if n_invalid > 0 {
            let warning =
                format!("{n_invalid} samples are not finite or far too large and were replaced by silence");
            self.warnings.push(warning);
        }
        self.tracks.iter_mut().try_for_each(|track| track.resampler.finish(&mut track.ready))
    }
}
