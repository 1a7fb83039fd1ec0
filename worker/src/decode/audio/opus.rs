//! Decodes the packets of Opus (RFC 6716), which symphonia's demuxers find but symphonia does not decode.

use ropus::{Channels, DecodeMode, Decoder};
use symphonia::core::codecs::audio::AudioCodecParameters;

use crate::decode::undecodable::Undecodable;

/// The sampling rate of the decoded sound, Hz. Opus can have any rate of a few; this one keeps its whole band.
pub(super) const RATE: u32 = 48_000;

/// A decoder of one stream.
pub(super) struct Opus {
    decoder: Decoder,
    n_channels: usize,
    interleaved: Vec<f32>,
}

impl Opus {
    /// A decoder for mono or stereo.
    pub(super) fn new(parameters: &AudioCodecParameters) -> Result<Self, Undecodable> {
        let n_channels = parameters.channels.as_ref().map_or(1, symphonia::core::audio::Channels::count);
        let channels = match n_channels {
            1 => Channels::Mono,
            2 => Channels::Stereo,
            _ => {
                let detail = format!("the file is Opus with {n_channels} channels: expected 1 or 2");
                return Err(Undecodable::new("unsupported_codec", detail));
            }
        };
        let decoder = Decoder::new(RATE, channels).map_err(|e| {
            Undecodable::new("unsupported_codec", format!("the file's Opus cannot be decoded: {e}"))
        })?;
        Ok(Self { decoder, n_channels, interleaved: Vec::new() })
    }

    /// Decodes a packet into the samples of each channel, and returns whether that was possible.
    pub(super) fn decode(&mut self, packet: &[u8], channels: &mut Vec<Vec<f32>>) -> bool {
        let interleaved = &mut self.interleaved;
        interleaved.resize(self.decoder.max_frame_samples_per_channel() * self.n_channels, 0.0);
        // The decoder takes an empty packet for a lost one, and would continue the sound.
        let n_frames = if packet.is_empty() {
            None
        } else {
            self.decoder.decode_float(packet, interleaved, DecodeMode::Normal).ok()
        };
        channels.resize_with(self.n_channels, Vec::new);
        for (nth, channel) in channels.iter_mut().enumerate() {
            let frames = interleaved.chunks_exact(self.n_channels).take(n_frames.unwrap_or(0));
            channel.clear();
            channel.extend(frames.filter_map(|frame| frame.get(nth)));
        }
        n_frames.is_some()
    }
}
