//! The sound of an opened file in chunks, at the rate of the file: read frame by frame (mp3, wav), or by a demuxer.

use akhar_jobs::MediaType;

use super::{
    allowance::Allowance,
    container::Container,
    decoder::PacketDecoder,
    mixer::{Channels, Mixer},
    mp3,
    reader::Reader,
    sound::{AudioLimits, Chunk, Sound, Step},
    wav,
};
use crate::decode::{job_file::JobFile, undecodable::Undecodable};

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

impl Source {
    /// Opens a file. Checks the headers against the limits, and checks that at least one packet can be decoded.
    pub(super) fn open(
        JobFile { media_type, content }: JobFile,
        limits: &AudioLimits,
        allowance: &Allowance,
    ) -> Result<(Sound, Self), Undecodable> {
        let mut file = Reader::new(content.clone(), allowance.clone());
        let (sound, packets) = match media_type {
            MediaType::Mp3 => {
                let (sound, packets) = mp3::read(&mut file)?;
                (sound, Packets::Mp3(packets))
            }
            MediaType::Wav => {
                let (sound, packets) = wav::read(&mut file)?;
                (sound, Packets::Wav(packets))
            }
            MediaType::Flac | MediaType::Ogg | MediaType::Mp4 | MediaType::WebM => {
                let (sound, container) = Container::open(&content, limits, allowance)?;
                return Ok((sound, Self::Container(container)));
            }
            other @ (MediaType::Png | MediaType::Jpeg) => {
                let detail = format!("expected a recording, but the file is {}", other.name());
                return Err(Undecodable::new("undecodable", detail));
            }
        };
        sound.check(limits)?;
        check_decodable(&sound, packets.clone(), &mut file, allowance)?;
        let decoder = PacketDecoder::new(&sound)?;
        Ok((sound, Self::Frames { file, packets, decoder }))
    }

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

    /// Whether the file ended before its end.
    pub(super) fn warning(&self) -> Option<String> {
        match self {
            Self::Frames { .. } => None,
            Self::Container(container) => container.warning(),
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
