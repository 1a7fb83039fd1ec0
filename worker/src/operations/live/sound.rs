//! The bytes of a session become samples.

use akhar_requests::live::SoundFormat;

/// Reads the bytes of a session, in parts of any length.
#[derive(Debug)]
pub(super) struct SoundReader {
    format: SoundFormat,
    /// The first byte of a sample whose second one has not come yet.
    half: Option<u8>,
}

impl SoundReader {
    pub(super) const fn new(format: SoundFormat) -> Self {
        Self { format, half: None }
    }

    /// The samples of the next bytes, full scale being 1.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<f32> {
        let of = |sample: i16| f32::from(sample) / 32_768.0;
        match self.format {
            SoundFormat::Mulaw8000 => bytes.iter().map(|byte| of(mulaw(*byte))).collect(),
            SoundFormat::Alaw8000 => bytes.iter().map(|byte| of(alaw(*byte))).collect(),
            SoundFormat::Pcm24000 | SoundFormat::Pcm16000 => {
                let whole: Vec<u8> = self.half.take().into_iter().chain(bytes.iter().copied()).collect();
                let (pairs, rest) = whole.as_chunks::<2>();
                self.half = rest.first().copied();
                pairs.iter().map(|pair| of(i16::from_le_bytes(*pair))).collect()
            }
        }
    }
}

/// A sample in µ-law: ITU-T G.711, table 2a.
fn mulaw(byte: u8) -> i16 {
    let byte = !byte;
    let magnitude = (((i16::from(byte & 0x0F) << 3) + 0x84) << (byte >> 4 & 7)) - 0x84;
    if byte & 0x80 == 0 { magnitude } else { -magnitude }
}

/// A sample in A-law: ITU-T G.711, table 1a.
fn alaw(byte: u8) -> i16 {
    let byte = byte ^ 0x55;
    let mantissa = i16::from(byte & 0x0F) << 4;
    let magnitude = match byte >> 4 & 7 {
        0 => mantissa + 8,
        exponent => (mantissa + 0x108) << (exponent - 1),
    };
    if byte & 0x80 == 0 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_values_of_g711_are_those_of_its_tables() {
        assert_eq!([0xFF, 0x7F, 0x80, 0x00, 0xF0].map(mulaw), [0, 0, 32_124, -32_124, 120]);
        assert_eq!([0xD5, 0x55, 0xAA, 0x2A, 0x80].map(alaw), [8, -8, 32_256, -32_256, 5_504]);
    }

    proptest! {
        #[test]
        fn the_parts_of_the_bytes_make_no_difference(bytes: Vec<u8>, cuts in prop::collection::vec(1..9_usize, 1..20)) {
            for format in [SoundFormat::Pcm24000, SoundFormat::Pcm16000, SoundFormat::Mulaw8000, SoundFormat::Alaw8000] {
                let whole = SoundReader::new(format).read(&bytes);
                let mut reader = SoundReader::new(format);
                let mut rest = &bytes[..];
                let mut parts = Vec::new();
                for cut in cuts.iter().cycle() {
                    let (part, further) = rest.split_at((*cut).min(rest.len()));
                    parts.extend(reader.read(part));
                    rest = further;
                    if rest.is_empty() {
                        break;
                    }
                }
                prop_assert_eq!(&parts, &whole);
            }
        }
    }
}
