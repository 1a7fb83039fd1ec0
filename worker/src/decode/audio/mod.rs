//! An mp3 or wav file comes in; 16 kHz mono comes out, piece by piece, at true times.
//!
//! Containers are walked here, over the bytes of the upload: that is what lets a broken frame become
//! silence of its own length and a wrong length in a header do no harm. Codecs are symphonia's.

#[cfg(test)]
mod any_bytes;
mod decoder;
mod mp3;
mod resample;
mod riff;
mod sound;
#[cfg(test)]
mod tests;
mod wav;

use std::time::{Duration, Instant};

use akhar_jobs::{MediaType, Upload};
use bytes::Bytes;

pub(crate) use sound::AudioLimits;

use super::undecodable::Undecodable;
use decoder::PacketDecoder;
use resample::Resampler;
use sound::{RATE, Sound, Step, seconds};

/// Samples of one piece: a second.
const PIECE: usize = RATE as usize;

/// The packets of a file in their order.
#[derive(Debug, Clone)]
enum Packets {
    Mp3(mp3::Packets),
    Wav(wav::Packets),
}

impl Packets {
    fn next(&mut self, bytes: &[u8]) -> Option<Step> {
        match self {
            Self::Mp3(packets) => packets.next(bytes),
            Self::Wav(packets) => packets.next(bytes),
        }
    }
}

/// An audio file, opened: its sound as 16 kHz mono, piece by piece.
pub(crate) struct Audio {
    bytes: Bytes,
    packets: Packets,
    decoder: PacketDecoder,
    resampler: Resampler,
    rate: u32,
    /// Frames yet to leave out.
    n_lead: u64,
    /// Frames yet to give.
    n_left: u64,
    /// Frames of silence due before the next packet.
    n_silent: u64,
    /// Decoded and mixed, at the rate of the file.
    mono: Vec<f32>,
    /// At 16 kHz, not yet given.
    ready: Vec<f32>,
    n_given: u64,
    is_over: bool,
    resampling: Duration,
    losses: Losses,
    warnings: Vec<String>,
}

#[derive(Debug, Default)]
struct Losses {
    n_packets: u64,
    n_broken: u64,
    /// Frames of packets that are not there at all.
    missing: u64,
}

impl Audio {
    /// Proves from headers and a first packet that the upload is audio within the limits.
    pub(crate) fn open(upload: Upload, limits: &AudioLimits) -> Result<Self, Undecodable> {
        let bytes = upload.bytes;
        let (sound, packets) = match upload.media_type {
            MediaType::Mp3 => {
                let (sound, packets) = mp3::read(&bytes)?;
                (sound, Packets::Mp3(packets))
            }
            MediaType::Wav => {
                let (sound, packets) = wav::read(&bytes)?;
                (sound, Packets::Wav(packets))
            }
            other => {
                let detail = format!("expected audio: it is {}", other.name());
                return Err(Undecodable::new("undecodable", detail));
            }
        };
        sound.admit(limits)?;
        prove(&sound, packets.clone(), &bytes)?;
        Ok(Self {
            decoder: PacketDecoder::new(&sound)?,
            resampler: Resampler::new(sound.rate)?,
            bytes,
            packets,
            rate: sound.rate,
            n_lead: sound.n_lead,
            n_left: sound.n_frames,
            n_silent: 0,
            mono: Vec::new(),
            ready: Vec::new(),
            n_given: 0,
            is_over: false,
            resampling: Duration::ZERO,
            losses: Losses::default(),
            warnings: sound.warnings,
        })
    }

    /// The next second at 16 kHz, less at the end; none after it.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<f32>>, Undecodable> {
        while !self.is_over && self.ready.len() < PIECE {
            self.advance()?;
        }
        let n = self.ready.len().min(PIECE);
        self.n_given += n as u64;
        Ok((n > 0).then(|| self.ready.drain(..n).collect()))
    }

    /// What the caller should know of the file; whole once [`Self::next`] gave none.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Seconds given so far.
    pub(crate) fn seconds(&self) -> f64 {
        seconds(self.n_given, RATE)
    }

    /// Time spent on changing the sampling rate so far.
    pub(crate) fn resampling(&self) -> Duration {
        self.resampling
    }

    /// One step through the file: into `ready` goes what it gives.
    fn advance(&mut self) -> Result<(), Undecodable> {
        self.mono.clear();
        if self.n_silent > 0 {
            let n = usize::try_from(self.n_silent).unwrap_or(PIECE).min(PIECE);
            self.n_silent -= n as u64;
            self.mono.resize(n, 0.0);
        } else {
            match self.packets.next(&self.bytes) {
                Some(Step::Packet { bytes, n_frames, n_channels }) => {
                    let packet = self.bytes.get(bytes).unwrap_or_default();
                    let is_whole = self.decoder.decode(packet, n_frames, n_channels, &mut self.mono)?;
                    self.losses.n_packets += 1;
                    self.losses.n_broken += u64::from(!is_whole);
                }
                Some(Step::Lost { n_frames }) => {
                    self.decoder.reset();
                    self.n_silent = n_frames;
                    self.losses.missing += n_frames;
                    return Ok(());
                }
                None => return self.end(),
            }
        }
        let n = self.mono.len() as u64;
        let start = self.n_lead.min(n);
        self.n_lead -= start;
        let end = n.min(start.saturating_add(self.n_left));
        self.n_left -= end - start;
        let kept = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        let started = Instant::now();
        self.resampler.push(self.mono.get(kept).unwrap_or_default(), &mut self.ready)?;
        self.resampling += started.elapsed();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Undecodable> {
        self.is_over = true;
        let Losses { n_packets, n_broken, missing } = self.losses;
        if n_broken > 0 {
            let warning = format!("{n_broken} of {n_packets} frames could not be decoded and became silence");
            self.warnings.push(warning);
        }
        if missing > 0 {
            let length = seconds(missing, self.rate);
            self.warnings.push(format!("about {length:.3} s are missing inside the file and became silence"));
        }
        let n_bad = self.decoder.n_not_numbers();
        if n_bad > 0 {
            self.warnings.push(format!("{n_bad} samples are no usable numbers and became silence"));
        }
        self.resampler.finish(&mut self.ready)
    }
}

/// That there is a packet which decodes.
fn prove(sound: &Sound, mut packets: Packets, bytes: &[u8]) -> Result<(), Undecodable> {
    let mut decoder = PacketDecoder::new(sound)?;
    let mut mono = Vec::new();
    while let Some(step) = packets.next(bytes) {
        if let Step::Packet { bytes: packet, n_frames, n_channels } = step {
            mono.clear();
            let packet = bytes.get(packet).unwrap_or_default();
            if decoder.decode(packet, n_frames, n_channels, &mut mono)? {
                return Ok(());
            }
        }
    }
    Err(Undecodable::new("undecodable", "expected sound: not one frame of the file can be decoded"))
}
