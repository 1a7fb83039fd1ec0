//! Decodes the packets of one codec. Every packet gives its full number of frames, also
//! when it is broken.

use symphonia::{
    core::{
        audio::Channels,
        codecs::audio::{
            AudioCodecParameters, AudioDecoder, AudioDecoderOptions,
            well_known::{CODEC_ID_ADPCM_IMA_WAV, CODEC_ID_ADPCM_MS, CODEC_ID_MP3},
        },
        errors::Error,
        packet::PacketRef,
        units::{Duration, Timestamp},
    },
    default::codecs::{AdpcmDecoder, MpaDecoder, PcmDecoder},
};

use super::{
    mixer::Mixer,
    sound::{Blocks, Sound},
};
use crate::decode::undecodable::Undecodable;

/// Decodes packets and mixes their channels.
pub(super) struct PacketDecoder {
    codec: Box<dyn AudioDecoder>,
    parameters: AudioCodecParameters,
    blocks: Option<Blocks>,
    n_channels: u16,
    /// The packet that is being decoded, padded with zeros to a whole number of blocks.
    padded: Vec<u8>,
    /// The samples of each channel of the last packet.
    channels: Vec<Vec<f32>>,
}

impl PacketDecoder {
    pub(super) fn new(sound: &Sound) -> Result<Self, Undecodable> {
        let mut parameters = AudioCodecParameters::new();
        parameters.for_codec(sound.codec).with_sample_rate(sound.rate);
        parameters.with_channels(Channels::Discrete(sound.n_channels));
        if let Some(blocks) = sound.blocks {
            let n_frames = blocks.n_frames as u64;
            parameters.with_frames_per_block(n_frames);
            parameters.with_max_frames_per_packet(n_frames * blocks.per_packet() as u64);
        }
        Ok(Self {
            codec: codec(&parameters)?,
            parameters,
            blocks: sound.blocks,
            n_channels: sound.n_channels,
            padded: Vec::new(),
            channels: Vec::new(),
        })
    }

    /// Decodes a packet into the `n_frames` frames of a step.
    ///
    /// Returns whether the packet could be decoded. If it could not, there is silence in its place.
    pub(super) fn decode(
        &mut self,
        packet: &[u8],
        n_frames: usize,
        n_channels: u16,
        mixer: &mut Mixer,
    ) -> Result<bool, Undecodable> {
        if n_channels != self.n_channels {
            self.n_channels = n_channels;
            self.codec = codec(&self.parameters)?;
        }
        let is_whole = self.decode_channels(packet, n_frames);
        if is_whole {
            mixer.mix(&mut self.channels, n_frames);
        }
        mixer.resize(n_frames);
        Ok(is_whole)
    }

    /// Clears the decoder's state after a gap: the next packet does not continue the last one.
    pub(super) fn reset(&mut self) {
        self.codec.reset();
    }

    fn decode_channels(&mut self, packet: &[u8], n_frames: usize) -> bool {
        let (data, duration) = match self.blocks {
            Some(blocks) => {
                let n_blocks = packet.len().div_ceil(blocks.n_bytes);
                self.padded.clear();
                self.padded.extend_from_slice(packet);
                self.padded.resize(n_blocks * blocks.n_bytes, 0);
                (self.padded.as_slice(), n_blocks * blocks.n_frames)
            }
            None => (packet, n_frames),
        };
        let packet = PacketRef::new(0, Timestamp::ZERO, Duration::from(duration as u64), data);
        match self.codec.decode_ref(&packet) {
            Ok(decoded) => decoded.copy_to_vecs_planar(&mut self.channels),
            Err(_) => return false,
        }
        true
    }
}

/// The error of a codec in a form that its decoder does not know.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
pub(super) fn unsupported(error: Error) -> Undecodable {
    Undecodable::new("unsupported_codec", format!("the file's codec is not supported in this form: {error}"))
}

fn codec(parameters: &AudioCodecParameters) -> Result<Box<dyn AudioDecoder>, Undecodable> {
    let options = AudioDecoderOptions::default();
    Ok(match parameters.codec {
        CODEC_ID_MP3 => Box::new(MpaDecoder::try_new(parameters, &options).map_err(unsupported)?),
        CODEC_ID_ADPCM_MS | CODEC_ID_ADPCM_IMA_WAV => {
            Box::new(AdpcmDecoder::try_new(parameters, &options).map_err(unsupported)?)
        }
        _ => Box::new(PcmDecoder::try_new(parameters, &options).map_err(unsupported)?),
    })
}
