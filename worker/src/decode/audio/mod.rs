//! Decodes a file into 16 kHz mono, or each of its channels, one second at a time. The timing of the sound is kept. Recordings that
//! were joined in one file are one sound.
//!
//! This module reads mp3 and wav files itself, from the bytes of the file. So a broken frame becomes silence of the
//! same length, and wrong lengths in headers do no harm. Symphonia reads the other formats, and has the codecs.

mod allowance;
mod container;
mod decoder;
mod kind;
mod matroska;
mod mixer;
mod mp3;
mod mp4;
mod ogg;
mod opus;
mod packets;
mod polarity;
mod reader;
mod recordings;
mod resample;
mod riff;
mod scale;
mod sound;
mod source;
mod tags;
#[cfg(test)]
mod tests;
mod timeline;
mod wav;

use std::{
    collections::VecDeque,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_requests::MediaType;

pub(crate) use allowance::Pace;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use allowance::{Counted, most_steps};
pub(crate) use mixer::Channels;
pub(crate) use sound::AudioLimits;

use super::{guard, job_file::JobFile, undecodable::Undecodable};
use allowance::{Allowance, Unpaced};
use mixer::Mixer;
use recordings::Recordings;
use resample::Resampler;
use sound::{Chunk, RATE, Sound, seconds};
use source::{Recording, Source};
use timeline::Timeline;

/// The number of samples in one piece: one second.
const PIECE: usize = RATE as usize;

/// The type of a recording that no api has checked, by its first bytes. MP3 has no certain ones, so it is `None` as well as
/// what is no recording.
pub(crate) fn certain_type(bytes: &[u8]) -> Option<MediaType> {
    MediaType::of_container(bytes).or_else(|| kind::is_wav(bytes).then_some(MediaType::Wav))
}

/// Sound of another rate at 16 kHz.
pub(crate) fn resampled(rate: u32, samples: &[f32]) -> Result<Vec<f32>, Undecodable> {
    let mut resampler = Resampler::new(rate)?;
    let mut ready = Vec::new();
    resampler.push(samples, &mut ready)?;
    resampler.finish(&mut ready)?;
    Ok(ready)
}

/// An opened audio file, which gives its sound at 16 kHz in pieces of one second. It is decoded once for all tracks.
pub(crate) struct Audio {
    /// The recordings that are still to be decoded.
    further: VecDeque<Recording>,
    /// The recording that is decoded.
    source: Source,
    /// The rate of the recording, Hz.
    rate: u32,
    /// Which of its frames are sound.
    timeline: Timeline,
    /// Frames of silence that are still to be inserted before its next packet.
    n_silent: u64,
    /// The sound of the last step through it, and its frames that are done.
    mixer: Mixer,
    n_done: usize,
    tracks: Vec<Track>,
    n_channels: u16,
    length_s: f64,
    allowance: Allowance,
    n_given: u64,
    /// The most samples that are given.
    max_given: u64,
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
    /// The sound of packets that are missing from the file, seconds.
    missing_s: f64,
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
        let read = guard::decoded("header", || Recordings::read(file, limits, &allowance));
        allowance.check()?;
        let recordings = read?;
        let length_s = recordings.seconds();
        pace.lasts(length_s);
        let Recordings { all, warnings } = recordings;
        let n_channels = all.iter().map(|recording| recording.sound.n_channels).max().unwrap_or(1);
        let mut further = VecDeque::from(all);
        let first =
            further.pop_front().ok_or_else(|| Undecodable::new("undecodable", "the file is empty"))?;
        let source = guard::decoded("header", || first.open(&allowance))?;
        let Sound { rate, gain, timeline, .. } = first.sound;
        let mut mixer = Mixer::new(channels, n_channels.into());
        mixer.begin(rate, gain);
        let track = |_| Ok(Track { resampler: Resampler::new(rate)?, ready: Vec::new() });
        let tracks = mixer.tracks().map(track).collect::<Result<_, _>>()?;
        Ok(Self {
            further,
            source,
            rate,
            timeline,
            n_silent: 0,
            mixer,
            n_done: 0,
            tracks,
            n_channels,
            length_s,
            allowance,
            n_given: 0,
            // The times of packets need not be exact, so the sound may be a little longer than they say.
            max_given: u64::from(limits.max_seconds) * u64::from(RATE),
            is_over: false,
            resampling: Duration::ZERO,
            losses: Losses::default(),
            warnings,
        })
    }

    /// The next second of sound at 16 kHz, of each track: of each channel if each is asked for, or else of one. The last
    /// piece may be shorter; after it comes `None`.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Vec<f32>>>, Undecodable> {
        while !self.is_over && self.n_ready() < PIECE {
            guard::decoded("sound", || self.advance())?;
            self.allowance.check()?;
        }
        let n_left = usize::try_from(self.max_given - self.n_given).unwrap_or(usize::MAX);
        let n = self.n_ready().min(PIECE).min(n_left);
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
        self.length_s
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
        if self.n_given + self.n_ready() as u64 >= self.max_given {
            self.further.clear();
            return self.end_recording();
        }
        let n_silent = self.timeline.silence(PIECE as u64);
        if n_silent > 0 {
            self.allowance.look();
            let silence = vec![0.0; usize::try_from(n_silent).unwrap_or(PIECE)];
            let mut tracks = self.tracks.iter_mut();
            return tracks.try_for_each(|track| track.resampler.push(&silence, &mut track.ready));
        }
        if self.n_done == self.mixer.n_frames() {
            return self.step();
        }
        let n_left = (self.mixer.n_frames() - self.n_done) as u64;
        let skipped = self.timeline.skip(n_left);
        let kept = if skipped == 0 { self.timeline.keep(n_left) } else { 0 };
        let start = self.n_done;
        self.n_done += usize::try_from(skipped + kept).unwrap_or(usize::MAX);
        if kept > 0 { self.give(start..self.n_done) } else { Ok(()) }
    }

    /// Decodes the next sound of the recording.
    fn step(&mut self) -> Result<(), Undecodable> {
        self.mixer.clear();
        self.n_done = 0;
        self.n_silent -= self.timeline.skip(self.n_silent);
        if self.n_silent > 0 {
            self.allowance.look();
            let n = usize::try_from(self.n_silent).unwrap_or(PIECE).min(PIECE);
            self.n_silent -= n as u64;
            self.mixer.resize(n);
            return Ok(());
        }
        self.allowance.step();
        match self.source.next(&mut self.mixer)? {
            Chunk::Sound { is_whole } => {
                self.losses.n_packets += 1;
                self.losses.n_broken += u64::from(!is_whole);
            }
            Chunk::Lost { n_frames } => {
                self.n_silent = n_frames;
                self.losses.missing_s += seconds(n_frames, self.rate);
            }
            Chunk::Silent { n_frames } => self.n_silent = n_frames,
            Chunk::End => return self.end_recording(),
        }
        Ok(())
    }

    /// Appends a part of the mixed sound to the tracks.
    fn give(&mut self, frames: Range<usize>) -> Result<(), Undecodable> {
        let started = Instant::now();
        for (track, samples) in self.tracks.iter_mut().zip(self.mixer.tracks()) {
            track.resampler.push(samples.get(frames.clone()).unwrap_or_default(), &mut track.ready)?;
        }
        self.resampling += started.elapsed();
        Ok(())
    }

    /// Ends a recording, and opens the next one.
    fn end_recording(&mut self) -> Result<(), Undecodable> {
        self.tracks.iter_mut().try_for_each(|track| track.resampler.finish(&mut track.ready))?;
        let length_s = seconds(self.n_given + self.n_ready() as u64, RATE);
        self.warnings.extend(self.source.warning(length_s));
        let Some(next) = self.further.pop_front() else { return self.end() };
        self.source = next.open(&self.allowance)?;
        let Sound { rate, gain, timeline, .. } = next.sound;
        self.mixer.begin(rate, gain);
        self.n_done = 0;
        (self.rate, self.timeline, self.n_silent) = (rate, timeline, 0);
        for track in &mut self.tracks {
            track.resampler = Resampler::new(rate)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Undecodable> {
        self.is_over = true;
        let Losses { n_packets, n_broken, missing_s } = self.losses;
        if n_broken > 0 {
            let warning =
                format!("{n_broken} of {n_packets} frames could not be decoded and were replaced by silence");
            self.warnings.push(warning);
        }
        if missing_s > 0.0 {
            let warning = format!(
                "about {missing_s:.3} s of sound are missing in the file and were replaced by silence"
            );
            self.warnings.push(warning);
        }
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
        Ok(())
    }
}
