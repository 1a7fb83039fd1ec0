//! Builds wav files in memory, valid ones and broken ones.

use super::{CHIRP_SECONDS, chirp};

/// The format of a wav file: tag, number of channels, rate (Hz), bits of a sample.
pub(super) type Format = (u16, u16, u32, u16);

/// A chunk whose header declares `n_declared` bytes, whatever the length of `body`.
pub(super) fn chunk_declaring(id: &[u8], n_declared: u32, body: &[u8]) -> Vec<u8> {
    let padding: &[u8] = if body.len() % 2 == 1 { &[0] } else { &[] };
    [id, &n_declared.to_le_bytes(), body, padding].concat()
}

/// A chunk with the right length in its header.
pub(super) fn chunk(id: &[u8], body: &[u8]) -> Vec<u8> {
    chunk_declaring(id, u32::try_from(body.len()).unwrap(), body)
}

/// A wav file with these chunks.
pub(super) fn riff(chunks: &[Vec<u8>]) -> Vec<u8> {
    let body = [b"WAVE".to_vec(), chunks.concat()].concat();
    chunk(b"RIFF", &body)
}

/// The format chunk.
pub(super) fn format((tag, n_channels, rate, bits): Format) -> Vec<u8> {
    let block = n_channels * bits / 8;
    let mut body = [tag.to_le_bytes(), n_channels.to_le_bytes()].concat();
    body.extend([rate, rate * u32::from(block)].map(u32::to_le_bytes).concat());
    body.extend([block, bits].map(u16::to_le_bytes).concat());
    chunk(b"fmt ", &body)
}

/// The chirp's samples in this format.
pub(super) fn samples((tag, n_channels, rate, bits): Format) -> Vec<u8> {
    let mut data = Vec::new();
    for x in chirp(CHIRP_SECONDS, f64::from(rate)) {
        let x = f64::from(x);
        for channel in 0..n_channels {
            // The channels differ, but the mean of each pair of channels is the chirp.
            let x = if channel + 1 == n_channels && channel % 2 == 0 {
                x
            } else {
                x * if channel % 2 == 0 { 1.5 } else { 0.5 }
            };
            match (tag, bits) {
                (1, 8) => data.push((x * 127.0 + 128.0) as u8),
                (1, _) => {
                    let full = (x * 2_147_483_647.0) as i32;
                    data.extend(&full.to_le_bytes()[4 - usize::from(bits) / 8..]);
                }
                (3, 32) => data.extend((x as f32).to_le_bytes()),
                _ => data.extend(x.to_le_bytes()),
            }
        }
    }
    data
}

/// A whole wav file with the chirp in this format.
pub(super) fn wav(kind: Format) -> Vec<u8> {
    riff(&[format(kind), chunk(b"data", &samples(kind))])
}
