//! Reads FLAC, Ogg, MPEG-4, WebM and ADTS files with symphonia's demuxers, and decodes their first audio track.
//!
//! The times of the packets decide where their sound is. A packet that cannot be decoded becomes silence.

use symphonia::{
    core::{
        audio::Channels,
        codecs::audio::{
            AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
            well_known::{CODEC_ID_AAC, CODEC_ID_FLAC, CODEC_ID_OPUS, CODEC_ID_VORBIS},
        },
        packet::Packet,
    },
    default::codecs::{AacDecoder, FlacDecoder, VorbisDecoder},
};

use super::{
    allowance::Allowance,
    decoder::unsupported,
    kind::Kind,
    mixer::Mixer,
    opus::{self, Opus},
    packets::TrackPackets,
    sound::{AudioLimits, Chunk, Sound},
    timeline::{Edit, Timeline},
};
use crate::decode::{guard::guarded, job_file::Content, undecodable::Undecodable};

/// Packets that are further apart than this have a gap between them, ms. The times in a WebM file are rounded to
/// milliseconds, and some recorders let them jump by a packet.
const MIN_GAP_MS: u64 = 100;
/// The most packets in a second of sound. The shortest packets of Opus have 2.5 ms.
const MAX_PACKETS_PER_S: u64 = 400;

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

enum Codec {
    Symphonia(Box<dyn AudioDecoder>),
    Opus(Box<Opus>),
    /// A decoder that has panicked.
    Broken,
}

impl Container {
    /// Reads a recording through. Checks that a packet can be decoded, and that the whole sound is within the limits.
    pub(super) fn scan(
        kind: Kind,
        content: &Content,
        limits: &AudioLimits,
        allowance: &Allowance,
    ) -> Result<Sound, Undecodable> {
        let mut packets = TrackPackets::open(kind, content, allowance)?;
        let Scan { rate, n_channels, n_frames, delay_s } = Scan::of(&mut packets, limits)?;
        let timeline = timeline(&packets, rate, delay_s);
        let sound = Sound {
            codec: packets.parameters().codec,
            rate,
            n_channels: u16::try_from(n_channels).unwrap_or(u16::MAX),
            blocks: None,
            gain: 1.0,
            n_frames: timeline.n_frames(n_frames).max(1),
            timeline,
            warnings: Vec::new(),
        };
        sound.check(limits)?;
        Ok(sound)
    }

    /// Opens a recording of this sound.
    pub(super) fn open(
        kind: Kind,
        content: &Content,
        sound: &Sound,
        allowance: &Allowance,
    ) -> Result<Self, Undecodable> {
        let packets = TrackPackets::open(kind, content, allowance)?;
        let codec = Codec::new(packets.parameters())?;
        let rate = sound.rate;
        Ok(Self { packets, codec, rate, pending: None, origin: None, n_frames: 0, channels: Vec::new() })
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
            return if self.packets.can_lose() {
                Chunk::Lost { n_frames: gap }
            } else {
                Chunk::Silent { n_frames: gap }
            };
        }
        // Symphonia's decoders trim their sound themselves.
        let trimmed = if matches!(self.codec, Codec::Opus(_)) { frames(packet.trim_end.get()) } else { 0 };
        let trimmed = trimmed.max(self.packets.discarded(rate));
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

    /// The warning about a file that could not be read to its end, `length_s` seconds after its beginning.
    pub(super) fn warning(&self, length_s: f64) -> Option<String> {
        let error = self.packets.error()?;
        Some(format!("the file is cut off or damaged after {length_s:.3} s of sound: {error}"))
    }
}

/// Which frames of a track are its sound: what an encoder put before it is none, and it may begin later than the other tracks, by
/// `delay_s` seconds from their beginning to its first packet.
#[expect(clippy::cast_possible_truncation, reason = "a float becomes the nearest integer")]
fn timeline(packets: &TrackPackets, rate: u32, delay_s: f64) -> Timeline {
    // The decoders of symphonia leave out themselves what the encoder put before the sound.
    let is_opus = packets.parameters().codec == CODEC_ID_OPUS;
    let n_lead = if is_opus { packets.pre_skip() } else { 0 };
    if let Some(shown) = packets.shown() {
        let mut edits: Vec<_> =
            shown.edits.iter().map(|edit| edit.scaled(|ticks| packets.frames(ticks, rate))).collect();
        // The edits count from the first packet, which has nothing but what the encoder put there.
        match &mut edits[..] {
            [Edit::Silence(silence), Edit::Skip(skipped), ..] if *skipped < n_lead => {
                *silence = silence.saturating_add(n_lead - *skipped);
                *skipped = n_lead;
            }
            [Edit::Skip(skipped), ..] => *skipped = n_lead.max(*skipped),
            _ => (),
        }
        return Timeline::new(edits);
    }
    let n_late = (delay_s * f64::from(rate)).round() as i64;
    let n_late = n_late.saturating_add(i64::try_from(n_lead).unwrap_or(i64::MAX));
    let n_late = u64::try_from(n_late).unwrap_or(0);
    let is_late = n_late > u64::from(rate) * MIN_GAP_MS / 1000;
    let silence = if is_late { n_late } else { 0 };
    Timeline::new([Edit::Silence(silence), Edit::Skip(n_lead), Edit::Keep(u64::MAX)])
}

impl Codec {
    fn new(parameters: &AudioCodecParameters) -> Result<Self, Undecodable> {
        let options = AudioDecoderOptions::default();
        Ok(Self::Symphonia(match parameters.codec {
            CODEC_ID_OPUS => return Ok(Self::Opus(Box::new(Opus::new(parameters)?))),
            CODEC_ID_AAC => Box::new(AacDecoder::try_new(parameters, &options).map_err(unsupported)?),
            CODEC_ID_FLAC => Box::new(FlacDecoder::try_new(parameters, &options).map_err(unsupported)?),
            CODEC_ID_VORBIS => {
                // Symphonia decodes more channels wrongly at low bit rates, without an error.
                let n_channels = parameters.channels.as_ref().map_or(1, Channels::count);
                if n_channels > 2 {
                    let detail = format!("the file is Vorbis with {n_channels} channels: expected 1 or 2");
                    return Err(Undecodable::new("unsupported_codec", detail));
                }
                Box::new(VorbisDecoder::try_new(parameters, &options).map_err(unsupported)?)
            }
            _ => {
                let detail = "the file's codec is not supported: expected AAC, FLAC, Opus or Vorbis";
                return Err(Undecodable::new("unsupported_codec", detail));
            }
        }))
    }

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
    /// The frames by the times of the packets.
    n_frames: u64,
    /// How much later than the other tracks the first packet begins, seconds.
    delay_s: f64,
}

impl Scan {
    /// Fails if no packet has sound, or if there are more packets than the longest recording can have. Stops when the
    /// recording is too long.
    fn of(packets: &mut TrackPackets, limits: &AudioLimits) -> Result<Self, Undecodable> {
        let max_packets = u64::from(limits.max_seconds) * MAX_PACKETS_PER_S;
        let mut codec = Codec::new(packets.parameters())?;
        let mut channels: Vec<Vec<f32>> = Vec::new();
        let mut rate = None;
        let mut first = None;
        let mut delay_s = 0.0;
        let mut n_packets = 0;
        let mut end = 0;
        while let Some(packet) = packets.next() {
            if rate.is_none() {
                rate = codec
                    .decode(&packet, &mut channels)
                    .filter(|_| channels.first().is_some_and(|channel| !channel.is_empty()));
            }
            if first.is_none() {
                delay_s = packets.delay_s(&packet);
            }
            let origin = *first.get_or_insert(packet.pts.get());
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
            let cause = packets.error().map_or(String::new(), |e| format!(": {e}"));
            let detail =
                format!("no packet of the file can be decoded: the sound data is missing or damaged{cause}");
            return Err(Undecodable::new("undecodable", detail));
        };
        Ok(Self { rate, n_channels: channels.len(), n_frames: packets.frames(end, rate), delay_s })
    }
}
