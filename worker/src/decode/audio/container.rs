//! Reads FLAC, Ogg, MPEG-4 and WebM files with symphonia's demuxers, and decodes their first audio track.
//!
//! The times of the packets decide where their sound is. A packet that cannot be decoded becomes silence.

use std::{io::ErrorKind, sync::LazyLock};

use symphonia::{
    core::{
        codecs::{
            CodecParameters,
            audio::{
                AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
                well_known::{CODEC_ID_AAC, CODEC_ID_FLAC, CODEC_ID_OPUS, CODEC_ID_VORBIS},
            },
        },
        errors::Error,
        formats::{
            FormatOptions, FormatReader, TrackType,
            probe::{Hint, Probe},
        },
        io::{MediaSource, MediaSourceStream, MediaSourceStreamOptions, ReadOnlySource},
        meta::MetadataOptions,
        packet::Packet,
        units::TimeBase,
    },
    default::{
        codecs::{AacDecoder, FlacDecoder, VorbisDecoder},
        formats::{FlacReader, IsoMp4Reader, MkvReader, OggReader},
    },
};

use super::{
    allowance::Allowance,
    decoder::unsupported,
    mixer::Mixer,
    opus::{self, Opus},
    reader::{ContentSource, Part},
    sound::{AudioLimits, Chunk, Sound, seconds},
};
use crate::decode::{guard::guarded, job_file::Content, undecodable::Undecodable};

/// Packets that are further apart than this have a gap between them, ms. The times in a WebM file are rounded to
/// milliseconds, and some recorders let them jump by a packet.
const MIN_GAP_MS: u64 = 100;
/// The most packets in a second of sound. The shortest packets of Opus have 2.5 ms.
const MAX_PACKETS_PER_S: u64 = 400;

/// The first bytes of WebM and Matroska.
const EBML: &[u8] = b"\x1a\x45\xdf\xa3";

static FORMATS: LazyLock<Probe> = LazyLock::new(|| {
    let mut probe = Probe::default();
    probe.register_format::<FlacReader<'_>>();
    probe.register_format::<IsoMp4Reader<'_>>();
    probe.register_format::<MkvReader<'_>>();
    probe.register_format::<OggReader<'_>>();
    probe
});

/// A file whose audio track is decoded packet by packet.
pub(super) struct Container {
    packets: TrackPackets,
    codec: Codec,
    /// The rate of the decoded sound, Hz.
    rate: u32,
    /// The packet after a gap.
    pending: Option<Packet>,
    /// The time of the first packet, in ticks.
    origin: Option<i64>,
    /// The frames so far, with those of gaps.
    n_frames: u64,
    /// The samples of each channel of the last packet.
    channels: Vec<Vec<f32>>,
}

/// The packets of the file's audio track.
struct TrackPackets {
    reader: Box<dyn FormatReader>,
    /// Each packet is a part of the file.
    part: Part,
    allowance: Allowance,
    track: u32,
    time_base: TimeBase,
    parameters: AudioCodecParameters,
    /// The frames that the encoder put before the sound, where the file tells it.
    delay: u32,
    /// Whether whole files can lack an end.
    may_just_end: bool,
    /// Why the file was not read to its end.
    error: Option<Error>,
}

enum Codec {
    Symphonia(Box<dyn AudioDecoder>),
    Opus(Box<Opus>),
    /// A decoder that has panicked.
    Broken,
}

impl Container {
    /// Opens a file. Checks that a packet can be decoded, and that the whole file is within the limits.
    pub(super) fn open(
        content: &Content,
        limits: &AudioLimits,
        allowance: &Allowance,
    ) -> Result<(Sound, Self), Undecodable> {
        let Scan { rate, n_channels, n_frames } = Scan::of(TrackPackets::open(content, allowance)?, limits)?;
        let packets = TrackPackets::open(content, allowance)?;
        let codec = packets.codec()?;
        let sound = Sound {
            codec: packets.parameters.codec,
            rate,
            n_channels: u16::try_from(n_channels).unwrap_or(u16::MAX),
            blocks: None,
            // The decoders of symphonia leave out themselves what the encoder put before the sound.
            n_lead: if matches!(codec, Codec::Opus(_)) { packets.pre_skip() } else { 0 },
            n_frames,
            warnings: Vec::new(),
        };
        sound.check(limits)?;
        let container =
            Self { packets, codec, rate, pending: None, origin: None, n_frames: 0, channels: Vec::new() };
        Ok((sound, container))
    }

    /// Decodes the next packet. `mixer` takes its sound.
    pub(super) fn next(&mut self, mixer: &mut Mixer) -> Chunk {
        let is_after_gap = self.pending.is_some();
        let Some(packet) = self.pending.take().or_else(|| self.packets.next()) else { return Chunk::End };
        let rate = self.rate;
        let frames = |ticks: u64| self.packets.frames(ticks, rate);
        let origin = *self.origin.get_or_insert(packet.pts.get());
        let expected = frames(u64::try_from(packet.pts.get().saturating_sub(origin)).unwrap_or(0));
        let gap = expected.saturating_sub(self.n_frames);
        if gap > u64::from(rate) * MIN_GAP_MS / 1000 && !is_after_gap {
            self.n_frames += gap;
            self.pending = Some(packet);
            return Chunk::Lost { n_frames: gap };
        }
        // Symphonia's decoders trim their sound themselves.
        let trimmed = if matches!(self.codec, Codec::Opus(_)) { frames(packet.trim_end.get()) } else { 0 };
        let length = frames(packet.dur.get());
        let decoded = self.codec.decode(&packet, &mut self.channels).filter(|decoded| *decoded == rate);
        if decoded.is_some() {
            let n_frames = self.channels.first().map_or(0, Vec::len);
            let trimmed = usize::try_from(trimmed).unwrap_or(usize::MAX);
            mixer.mix(&mut self.channels, n_frames.saturating_sub(trimmed));
        } else {
            mixer.resize(usize::try_from(length.min(u64::from(rate))).unwrap_or(0));
        }
        self.n_frames += mixer.n_frames() as u64;
        Chunk::Sound { is_whole: decoded.is_some() }
    }

    /// The warning about a file that could not be read to its end.
    pub(super) fn warning(&self) -> Option<String> {
        let error = self.packets.error.as_ref()?;
        let length = seconds(self.n_frames, self.rate);
        Some(format!("the file is cut off or damaged after {length:.3} s of sound: {error}"))
    }
}

impl TrackPackets {
    fn open(content: &Content, allowance: &Allowance) -> Result<Self, Undecodable> {
        let part = Part::default();
        let file = ContentSource::new(content.clone(), part.clone(), allowance.clone());
        let start = content.start(4);
        // If the reader of Ogg can seek, it looks for the last page first, and fails if the file is cut off.
        let source: Box<dyn MediaSource> =
            if start == b"OggS" { Box::new(ReadOnlySource::new(file)) } else { Box::new(file) };
        let source = MediaSourceStream::new(source, MediaSourceStreamOptions::default());
        let reader = FORMATS
            .probe(&Hint::new(), source, FormatOptions::default(), MetadataOptions::default())
            .map_err(|e| Undecodable::new("undecodable", format!("the file cannot be read: {e}")))?;
        let track = reader.default_track(TrackType::Audio).map(|track| {
            let CodecParameters::Audio(parameters) = track.codec_params.clone()? else { return None };
            Some((track.id, track.time_base?, parameters, track.delay.unwrap_or(0)))
        });
        let Some((track, time_base, parameters, delay)) = track.flatten() else {
            return Err(Undecodable::new("undecodable", "the file has no audio track of a known codec"));
        };
        Ok(Self {
            reader,
            track,
            time_base,
            parameters,
            delay,
            part,
            allowance: allowance.clone(),
            may_just_end: start == EBML,
            error: None,
        })
    }

    /// The next packet of the track. `None` at the end, and where the file cannot be read further.
    fn next(&mut self) -> Option<Packet> {
        while self.error.is_none() && self.allowance.step() {
            self.part.next();
            let packet = guarded("packets", || self.reader.next_packet());
            match packet.unwrap_or(Err(Error::DecodeError("the file is damaged"))) {
                Ok(Some(packet)) if packet.track_id == self.track => return Some(packet),
                Ok(Some(_)) => (),
                Ok(None) => return None,
                // A recorder that writes as it records does not know the length of its file.
                Err(Error::IoError(e)) if self.may_just_end && e.kind() == ErrorKind::UnexpectedEof => {
                    return None;
                }
                Err(error) => self.error = Some(error),
            }
        }
        None
    }

    /// The frames of Opus that the encoder put before the sound, as its header tells (RFC 7845, 5.1). The delay that
    /// WebM has beside the header is wrong in some files of ffmpeg.
    fn pre_skip(&self) -> u64 {
        match self.parameters.extra_data.as_deref() {
            Some([b'O', b'p', b'u', b's', b'H', b'e', b'a', b'd', _, _, low, high, ..]) => {
                u16::from_le_bytes([*low, *high]).into()
            }
            _ => self.delay.into(),
        }
    }

    /// The number of frames in a time. Saturates.
    fn frames(&self, ticks: u64, rate: u32) -> u64 {
        let TimeBase { numer, denom } = self.time_base;
        let n = u128::from(ticks) * u128::from(numer.get()) * u128::from(rate) / u128::from(denom.get());
        u64::try_from(n).unwrap_or(u64::MAX)
    }

    fn codec(&self) -> Result<Codec, Undecodable> {
        let parameters = &self.parameters;
        let options = AudioDecoderOptions::default();
        Ok(Codec::Symphonia(match parameters.codec {
            CODEC_ID_OPUS => return Ok(Codec::Opus(Box::new(Opus::new(parameters)?))),
            CODEC_ID_AAC => Box::new(AacDecoder::try_new(parameters, &options).map_err(unsupported)?),
            CODEC_ID_FLAC => Box::new(FlacDecoder::try_new(parameters, &options).map_err(unsupported)?),
            CODEC_ID_VORBIS => Box::new(VorbisDecoder::try_new(parameters, &options).map_err(unsupported)?),
            _ => {
                let detail = "the file's codec is not supported: expected AAC, FLAC, Opus or Vorbis";
                return Err(Undecodable::new("unsupported_codec", detail));
            }
        }))
    }
}

impl Codec {
    /// Decodes a packet into the samples of each channel, and returns their rate, Hz. `None` if it is damaged.
    fn decode(&mut self, packet: &Packet, channels: &mut Vec<Vec<f32>>) -> Option<u32> {
        match self {
            Self::Symphonia(decoder) => {
                let rate = guarded("sound", || {
                    let sound = decoder.decode(packet).ok()?;
                    sound.copy_to_vecs_planar(channels);
                    Some(sound.spec().rate())
                });
                if rate.is_none() {
                    *self = Self::Broken;
                }
                rate.flatten()
            }
            Self::Broken => None,
            Self::Opus(decoder) => decoder.decode(&packet.data, channels).then_some(opus::RATE),
        }
    }
}

/// What reading all packets shows, of which only those before the first sound are decoded.
struct Scan {
    /// The rate of the decoded sound, Hz.
    rate: u32,
    n_channels: usize,
    /// The frames by the times of the packets; at least 1.
    n_frames: u64,
}

impl Scan {
    /// Fails if no packet has sound, or if there are more packets than the longest recording can have. Stops when the
    /// recording is too long.
    fn of(mut packets: TrackPackets, limits: &AudioLimits) -> Result<Self, Undecodable> {
        let max_packets = u64::from(limits.max_seconds) * MAX_PACKETS_PER_S;
        let mut codec = packets.codec()?;
        let mut channels: Vec<Vec<f32>> = Vec::new();
        let mut rate = None;
        let mut origin = None;
        let mut n_packets = 0;
        let mut end = 0;
        while let Some(packet) = packets.next() {
            if rate.is_none() {
                rate = codec
                    .decode(&packet, &mut channels)
                    .filter(|_| channels.first().is_some_and(|channel| !channel.is_empty()));
            }
            let origin = *origin.get_or_insert(packet.pts.get());
            let start = u64::try_from(packet.pts.get().saturating_sub(origin)).unwrap_or(0);
            end = end.max(start.saturating_add(packet.dur.get()));
            n_packets += 1;
            if n_packets > max_packets {
                let max = limits.max_seconds;
                let detail = format!("the recording has more packets than {max} s of sound can have");
                return Err(Undecodable::new("too_long", detail));
            }
            if rate.is_some() && packets.frames(end, 1) > limits.max_seconds.into() {
                break;
            }
        }
        let Some(rate) = rate else {
            let cause = packets.error.map_or(String::new(), |e| format!(": {e}"));
            let detail =
                format!("no packet of the file can be decoded: the sound data is missing or damaged{cause}");
            return Err(Undecodable::new("undecodable", detail));
        };
        Ok(Self { rate, n_channels: channels.len(), n_frames: packets.frames(end, rate).max(1) })
    }
}
