//! Finds the scale of samples that are not on the scale of their format: floats between -1 and 1, or integers that use all of their
//! bits. Some software writes floats with the values of integers, or 32-bit integers with the values of 16 bits.

use symphonia::core::codecs::audio::{
    AudioCodecId,
    well_known::{CODEC_ID_PCM_F32LE, CODEC_ID_PCM_F64LE, CODEC_ID_PCM_S32LE},
};

use super::{reader::Reader, riff::DataChunks};

/// How many bytes are read at a time.
const N_READ: usize = 32 * 1024;
/// Of so many samples one may be larger than the others, as clicks and errors are.
const OUTLIER: u64 = 1000;
/// The bits of the largest number that is no error: that of a 32-bit integer.
const MAX_BITS: usize = 32;
/// The bits of the amplitude of float samples that are only too loud: 4 is 12 dB above full scale.
const LOUD_BITS: usize = 2;
/// The bits of integers on whose scale floats are, without their sign.
const SCALES: [u8; 3] = [15, 23, 31];

/// A scale that is not that of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    /// The bits of full scale, without a sign.
    bits: u8,
    is_float: bool,
}

impl Scale {
    /// The scale of the samples in these chunks. `None` if it is that of the format.
    pub(super) fn of(codec: AudioCodecId, chunks: DataChunks, file: &mut Reader) -> Option<Self> {
        let mut seen = Seen::default();
        match codec {
            CODEC_ID_PCM_F32LE => seen.read(chunks, file, |bytes| f32::from_le_bytes(bytes).into()),
            CODEC_ID_PCM_F64LE => seen.read(chunks, file, f64::from_le_bytes),
            CODEC_ID_PCM_S32LE => seen.read(chunks, file, |bytes| i32::from_le_bytes(bytes).into()),
            _ => return None,
        }
        let n_bits = seen.n_bits();
        if codec == CODEC_ID_PCM_S32LE {
            // Integers of fewer bits that are shifted to full scale, however quiet they are, are not on another scale.
            return (seen.has_low_bits && n_bits <= 16).then_some(Self { bits: 15, is_float: false });
        }
        let is_integer = seen.are_integers && n_bits > 1;
        // The least integer has a bit more than the greatest.
        let bits = SCALES.into_iter().find(|bits| n_bits <= usize::from(*bits) + 1)?;
        (is_integer || n_bits > LOUD_BITS).then_some(Self { bits, is_float: true })
    }

    /// What brings the decoded samples to full scale 1.
    pub(super) fn gain(self) -> f32 {
        let full = 2_f32.powi(self.bits.into());
        if self.is_float { full.recip() } else { 2_f32.powi(31) / full }
    }

    /// What is said about it.
    pub(super) fn warning(self) -> String {
        let Self { bits, is_float } = self;
        let (samples, gain_db) = if is_float { ("float", -20.0) } else { ("32-bit", 20.0) };
        let gain_db = gain_db * f64::from(if is_float { bits } else { 31 - bits }) * 2_f64.log10();
        let n_bits = bits + 1;
        format!(
            "the {samples} samples have the values of {n_bits}-bit integers: their level was changed by {gain_db:+.0} dB"
        )
    }
}

/// What samples were seen.
struct Seen {
    /// How many samples have a magnitude of so many bits before the point.
    n_of_bits: [u64; MAX_BITS + 1],
    are_integers: bool,
    /// Whether a sample is no multiple of 256.
    has_low_bits: bool,
}

impl Default for Seen {
    fn default() -> Self {
        Self { n_of_bits: [0; MAX_BITS + 1], are_integers: true, has_low_bits: false }
    }
}

impl Seen {
    fn read<const N: usize>(
        &mut self,
        mut chunks: DataChunks,
        file: &mut Reader,
        value: impl Fn([u8; N]) -> f64,
    ) {
        while let Some(data) = chunks.next(file) {
            for start in data.bytes.clone().step_by(N_READ) {
                let (samples, _) = file.get(start..data.bytes.end.min(start + N_READ)).as_chunks::<N>();
                for bytes in samples {
                    self.add(value(*bytes));
                }
            }
        }
    }

    fn add(&mut self, value: f64) {
        // The exponent of a float, whose bias is 1023.
        let exponent = (value.to_bits() >> 52 & 0x7ff) as usize;
        let n_bits = (exponent + 1).saturating_sub(1023);
        if let Some(n) = self.n_of_bits.get_mut(n_bits) {
            *n += 1;
            self.are_integers &= value.fract() == 0.0;
            self.has_low_bits |= value % 256.0 != 0.0;
        }
    }

    /// The bits of the largest magnitude, but for outliers.
    fn n_bits(&self) -> usize {
        let mut n_outliers = self.n_of_bits.iter().sum::<u64>() / OUTLIER;
        for (n_bits, n) in self.n_of_bits.iter().enumerate().rev() {
            if *n > n_outliers {
                return n_bits;
            }
            n_outliers -= n;
        }
        0
    }
}
