//! Finds the packets of the first audio track of a FLAC, Ogg, MPEG-4, WebM or ADTS file with symphonia's demuxers.

use std::{io::ErrorKind, sync::LazyLock};

use symphonia::{
    core::{
        codecs::{CodecParameters, audio::AudioCodecParameters},
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
    default::formats::{AdtsReader, FlacReader, IsoMp4Reader, MkvReader, OggReader},
};

use super::{
    allowance::Allowance,
    kind::Kind,
    matroska, mp4, ogg,
    reader::{ContentSource, Part, Reader},
};
use crate::decode::{guard::guarded, job_file::Content, undecodable::Undecodable};

static FORMATS: LazyLock<Probe> = LazyLock::new(|| {
    let mut probe = Probe::default();
    probe.register_format::<FlacReader<'_>>();
    probe.register_format::<IsoMp4Reader<'_>>();
    probe.register_format::<MkvReader<'_>>();
    probe.register_format::<OggReader<'_>>();
    probe
});

/// The packets of a recording's audio track.
pub(super) struct TrackPackets {
    reader: Box<dyn FormatReader>,
    /// Each packet is a part of the file.
    part: Part,
    allowance: Allowance,
    kind: Kind,
    track: u32,
    time_base: TimeBase,
    parameters: AudioCodecParameters,
    /// The frames that the encoder put before the sound, where the file tells it.
    delay: u32,
    /// The part of the track that is shown, where an MPEG-4 file tells it.
    shown: Option<mp4::Shown>,
    /// The part of the last packet that is no sound, nanoseconds.
    discarded_ns: u64,
    /// The packet after the one that was returned last, if the last one must be known.
    ahead: Option<Packet>,
    has_begun: bool,
    /// When the first of the other tracks begins, seconds, if one begins earlier in the file than this one.
    others_s: Option<f64>,
    /// Whether a file that just ends is whole.
    may_just_end: bool,
    /// Why the file was not read to its end.
    error: Option<Error>,
}

impl TrackPackets {
    /// Opens a recording, which has nothing before or behind it.
    pub(super) fn open(kind: Kind, content: &Content, allowance: &Allowance) -> Result<Self, Undecodable> {
        let part = Part::default();
        let mut file = Reader::new(content.clone(), allowance.clone());
        if kind == Kind::Ogg {
            ogg::check_codecs(&mut file)?;
        }
        let movie = (kind == Kind::Mp4).then(|| mp4::Structure::read(&mut file));
        let matroska = (kind == Kind::WebM).then(|| matroska::Structure::read(&mut file));
        if movie.as_ref().is_some_and(|movie| !movie.has_index()) {
            let detail = "the file is cut off or damaged: its index (\"moov\"), without which its sound cannot be found, is missing";
            return Err(Undecodable::new("undecodable", detail));
        }
        let n_bytes = movie.as_ref().map_or(content.len() as u64, |movie| movie.declared_end);
        let source = |is_seekable| -> Box<dyn MediaSource> {
            let file = ContentSource::new(content.clone(), n_bytes, part.clone(), allowance.clone());
            if is_seekable { Box::new(file) } else { Box::new(ReadOnlySource::new(file)) }
        };
        // If the readers of Ogg and WebM can seek, they look at the end of the file first, and fail if it is cut off.
        let mut reader = reader(kind, source(!matches!(kind, Kind::Ogg | Kind::WebM)));
        if reader.is_err() && kind == Kind::WebM {
            reader = self::reader(kind, source(true)).or(reader); // its tracks may be described behind its sound
        }
        let reader = reader?;
        let track = reader.default_track(TrackType::Audio).map(|track| {
            let CodecParameters::Audio(parameters) = track.codec_params.clone()? else { return None };
            Some((track.id, track.time_base?, parameters, track.delay.unwrap_or(0)))
        });
        let Some((track, time_base, parameters, delay)) = track.flatten() else {
            return Err(Undecodable::new("undecodable", "the file has no audio track of a known codec"));
        };
        let shown = movie.and_then(|movie| movie.shown(&mut file, track));
        let discarded_ns = matroska.as_ref().map_or(0, |structure| structure.discarded_ns(&mut file, track));
        Ok(Self {
            reader,
            part,
            allowance: allowance.clone(),
            kind,
            track,
            time_base,
            parameters,
            delay,
            shown,
            discarded_ns,
            ahead: None,
            has_begun: false,
            others_s: None,
            may_just_end: matroska.is_some_and(|structure| !structure.is_cut),
            error: None,
        })
    }

    /// The next packet of the track. `None` at the end, and where the file cannot be read further.
    pub(super) fn next(&mut self) -> Option<Packet> {
        if self.discarded_ns == 0 {
            return self.read();
        }
        let packet = if self.has_begun { self.ahead.take() } else { self.read() };
        self.ahead = self.read();
        packet
    }

    fn read(&mut self) -> Option<Packet> {
        while self.error.is_none() && self.allowance.step() {
            self.part.next();
            let packet = guarded("packets", || self.reader.next_packet());
            match packet.unwrap_or(Err(Error::DecodeError("the file is damaged"))) {
                Ok(Some(packet)) if packet.track_id == self.track => {
                    let end = self.shown.as_ref().and_then(|shown| shown.end);
                    let is_shown =
                        end.is_none_or(|end| u64::try_from(packet.pts.get()).is_ok_and(|at| at < end));
                    self.has_begun = true;
                    return is_shown.then_some(packet);
                }
                Ok(Some(packet)) if !self.has_begun => self.note_other(&packet),
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

    /// Notes when another track begins.
    fn note_other(&mut self, packet: &Packet) {
        let track = self.reader.tracks().iter().find(|track| track.id == packet.track_id);
        if let Some(time_base) = track.and_then(|track| track.time_base) {
            let at = seconds_at(time_base, packet);
            self.others_s = Some(self.others_s.map_or(at, |first| first.min(at)));
        }
    }

    /// How much later than the other tracks `first`, the first packet of this one, begins, seconds. 0 in MPEG-4, where the edit
    /// list says it.
    pub(super) fn delay_s(&self, first: &Packet) -> f64 {
        match self.others_s {
            Some(others) if self.kind == Kind::WebM => seconds_at(self.time_base, first) - others,
            _ => 0.0,
        }
    }

    /// The frames of Opus that the encoder put before the sound, as its header tells (RFC 7845, 5.1; in MPEG-4, its numbers are
    /// big-endian). The delay that WebM has beside the header is wrong in some files of ffmpeg.
    pub(super) fn pre_skip(&self) -> u64 {
        match self.parameters.extra_data.as_deref() {
            Some([b'O', b'p', b'u', b's', b'H', b'e', b'a', b'd', _, _, a, b, ..]) => match self.kind {
                Kind::Mp4 => u16::from_be_bytes([*a, *b]).into(),
                _ => u16::from_le_bytes([*a, *b]).into(),
            },
            _ => self.delay.into(),
        }
    }

    /// Whether packets can be missing in the file. The index of MPEG-4 has all of them, and says how long each of them lasts.
    pub(super) fn can_lose(&self) -> bool {
        self.kind != Kind::Mp4
    }

    /// The part of the track that is shown, where an MPEG-4 file tells it.
    pub(super) fn shown(&self) -> Option<&mp4::Shown> {
        self.shown.as_ref()
    }

    /// The frames at the end of the packet that was returned last that are no sound.
    pub(super) fn discarded(&self, rate: u32) -> u64 {
        let is_last = self.has_begun && self.ahead.is_none();
        let n = u128::from(self.discarded_ns) * u128::from(rate) / 1_000_000_000;
        if is_last { u64::try_from(n).unwrap_or(u64::MAX) } else { 0 }
    }

    /// The number of frames in a time. Saturates.
    pub(super) fn frames(&self, ticks: u64, rate: u32) -> u64 {
        let TimeBase { numer, denom } = self.time_base;
        let n = u128::from(ticks) * u128::from(numer.get()) * u128::from(rate) / u128::from(denom.get());
        u64::try_from(n).unwrap_or(u64::MAX)
    }

    pub(super) fn parameters(&self) -> &AudioCodecParameters {
        &self.parameters
    }

    /// Why the file was not read to its end.
    pub(super) fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }
}

fn reader(kind: Kind, source: Box<dyn MediaSource>) -> Result<Box<dyn FormatReader>, Undecodable> {
    let source = MediaSourceStream::new(source, MediaSourceStreamOptions::default());
    let options = FormatOptions::default();
    let reader: Result<Box<dyn FormatReader>, Error> = match kind {
        Kind::Adts => AdtsReader::try_new(source, options).map(|reader| Box::new(reader) as _),
        _ => FORMATS.probe(&Hint::new(), source, options, MetadataOptions::default()),
    };
    reader.map_err(|e| Undecodable::new("undecodable", format!("the file cannot be read: {e}")))
}

/// When a packet begins, seconds.
#[expect(clippy::cast_precision_loss, reason = "a time in seconds needs no more than the 53 bits of a float")]
fn seconds_at(TimeBase { numer, denom }: TimeBase, packet: &Packet) -> f64 {
    packet.pts.get() as f64 * f64::from(numer.get()) / f64::from(denom.get())
}
