//! The sound of one recording in chunks, at its rate: read frame by frame (mp3, wav), or by a demuxer.

use super::{
    allowance::Allowance,
    container::Container,
    decoder::PacketDecoder,
    kind::Kind,
    mixer::{Channels, Mixer},
    mp3,
    reader::Reader,
    sound::{AudioLimits, Chunk, Sound, Step},
    tags, wav,
};
use crate::decode::{job_file::Content, undecodable::Undecodable};

/// An iterator over the packets of an mp3 or wav file.
#[derive(Debug, Clone)]
pub(super) enum Packets {
    Mp3(mp3::Packets),
    Wav(wav::Packets),
}

/// The sound of a file.
pub(super) enum Source {
    /// A file that this program reads itself, so that a broken frame becomes silence of the same length.
    Frames { file: Reader, packets: Packets, decoder: PacketDecoder },
    /// A file that symphonia reads.
    Container(Container),
}

impl Packets {
    fn next(&mut self, file: &mut Reader) -> Option<Step> {
        match self {
            Self::Mp3(packets) => packets.next(file),
            Self::Wav(packets) => packets.next(file),
        }
    }
}

/// A recording that has been read through once.
pub(super) struct Recording {
    kind: Kind,
    content: Content,
    pub(super) sound: Sound,
    /// The packets of an mp3 or wav file, from the first one on.
    packets: Option<Packets>,
}

impl Recording {
    /// Reads the recording at the beginning of `content` through. Checks its headers against the limits, and checks that at least
    /// one packet can be decoded. Also returns where it ends, if another one may follow.
    pub(super) fn read(
        kind: Kind,
        content: &Content,
        limits: &AudioLimits,
        allowance: &Allowance,
    ) -> Result<(Self, usize), Undecodable> {
        let mut file = Reader::new(content.clone(), allowance.clone());
        let (sound, packets, end) = match kind {
            Kind::Mp3 => {
                let content_end = content.len();
                let content = content.part(0..tags::before(&mut file, content_end));
                file = Reader::new(content, allowance.clone());
                let (sound, packets, end) = mp3::read(&mut file)?;
                let end = if end == file.len() { content_end } else { end };
                (sound, Packets::Mp3(packets), end)
            }
            Kind::Wav => {
                let (sound, packets, end) = wav::read(&mut file)?;
                (sound, Packets::Wav(packets), end)
            }
            Kind::Flac | Kind::Ogg | Kind::Mp4 | Kind::WebM | Kind::Adts => {
                let end = kind.end(&mut file);
                let content = content.part(0..tags::before(&mut file, end));
                let sound = Container::scan(kind, &content, limits, allowance)?;
                return Ok((Self { kind, content, sound, packets: None }, end));
            }
        };
        sound.check(limits)?;
        check_decodable(&sound, packets.clone(), &mut file, allowance)?;
        let content = file.content().clone();
        Ok((Self { kind, content, sound, packets: Some(packets) }, end))
    }

    /// Opens it.
    pub(super) fn open(&self, allowance: &Allowance) -> Result<Source, Undecodable> {
        let Self { kind, content, sound, packets } = self;
        let Some(packets) = packets.clone() else {
            return Ok(Source::Container(Container::open(*kind, content, sound, allowance)?));
        };
        let file = Reader::new(content.clone(), allowance.clone());
        Ok(Source::Frames { file, packets, decoder: PacketDecoder::new(sound)? })
    }
}

impl Source {
    /// Takes one step through the file. `mixer` takes the sound that it gives.
    pub(super) fn next(&mut self, mixer: &mut Mixer) -> Result<Chunk, Undecodable> {
        let Self::Frames { file, packets, decoder } = self else {
            let Self::Container(container) = self else { return Ok(Chunk::End) };
            return Ok(container.next(mixer));
        };
        Ok(match packets.next(file) {
            Some(Step::Packet { bytes: packet, n_frames, n_channels }) => {
                let is_whole = decoder.decode(file.get(packet), n_frames, n_channels, mixer)?;
                Chunk::Sound { is_whole }
            }
            Some(Step::Lost { n_frames }) => {
                decoder.reset();
                Chunk::Lost { n_frames }
            }
            None => Chunk::End,
        })
    }

    /// The warning about a recording that ended before its end, `length_s` seconds after the beginning of the file.
    pub(super) fn warning(&self, length_s: f64) -> Option<String> {
        match self {
            Self::Frames { .. } => None,
            Self::Container(container) => container.warning(length_s),
        }
    }
}

/// Checks that at least one packet of the file can be decoded.
fn check_decodable(
    sound: &Sound,
    mut packets: Packets,
    file: &mut Reader,
    allowance: &Allowance,
) -> Result<(), Undecodable> {
    let mut decoder = PacketDecoder::new(sound)?;
    let mut mixer = Mixer::new(Channels::Mixed, 1);
    while allowance.step()
        && let Some(step) = packets.next(file)
    {
        if let Step::Packet { bytes: packet, n_frames, n_channels } = step {
            mixer.clear();
            if decoder.decode(file.get(packet), n_frames, n_channels, &mut mixer)? {
                return Ok(());
            }
        }
    }
    Err(Undecodable::new("undecodable", "no frame of the file can be decoded: the sound data is damaged"))
}
