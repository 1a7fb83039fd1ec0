//! Reads the four-byte frame header of MPEG audio layer III.

/// The bytes of a header.
pub(super) const HEADER: usize = 4;

/// A frame header (ISO/IEC 11172-3, 2.4.2.3; ISO/IEC 13818-3; "MPEG 2.5" is Fraunhofer's extension).
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    /// Sampling rate, Hz. It is different for MPEG 1, 2 and 2.5.
    pub(super) rate: u32,
    pub(super) n_channels: u16,
    /// Samples of each channel in the frame.
    pub(super) n_samples: usize,
    /// Bytes of the whole frame, with its header.
    pub(super) n_bytes: usize,
    /// The position in the frame at which an encoder can put a tag instead of sound.
    pub(super) tag_at: usize,
}

const MPEG_1_KBPS: [u32; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG_2_KBPS: [u32; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

impl Header {
    /// Reads the header at the beginning of `bytes`; `None` if there is no header of layer III. Frames with a
    /// "free" bit rate are not supported.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let &[sync, kind, rates, mode] = bytes.first_chunk()?;
        let is_layer_3 = kind & 0b0000_0110 == 0b0000_0010;
        if sync != 0xff || kind & 0b1110_0000 != 0b1110_0000 || !is_layer_3 {
            return None;
        }
        // The sampling rates of MPEG 2 are half of those of MPEG 1, and those of MPEG 2.5 a quarter.
        let halvings = match (kind >> 3) & 0b11 {
            0b11 => 0,
            0b10 => 1,
            0b00 => 2,
            _ => return None,
        };
        let rate = [44_100, 48_000, 32_000].get(usize::from(rates >> 2) & 0b11)? >> halvings;
        let kbps = if halvings == 0 { MPEG_1_KBPS } else { MPEG_2_KBPS };
        let kbps = kbps.get(usize::from(rates >> 4).checked_sub(1)?)?;
        let n_samples = if halvings == 0 { 1152 } else { 576 };
        let is_padded = usize::from(rates & 0b10 != 0);
        let is_mono = mode >> 6 == 0b11;
        let n_side = match (halvings, is_mono) {
            (0, true) => 17,
            (0, false) => 32,
            (_, true) => 9,
            (_, false) => 17,
        };
        let n_bytes = kbps * 1000 / 8 * n_samples / rate;
        Some(Self {
            rate,
            n_channels: if is_mono { 1 } else { 2 },
            n_samples: n_samples as usize,
            n_bytes: n_bytes as usize + is_padded,
            tag_at: 4 + n_side,
        })
    }

    /// Whether frames with these two headers can belong to the same stream.
    pub(super) fn is_same_stream(&self, other: &Self) -> bool {
        self.rate == other.rate
    }
}

/// Whether these are the first bytes of a frame of layer III whose header leaves its bit rate open.
pub(super) fn is_free(bytes: &[u8]) -> bool {
    let Some(&[sync, kind, rates, mode]) = bytes.first_chunk() else { return false };
    rates >> 4 == 0 && Header::read(&[sync, kind, rates | 0x10, mode]).is_some()
}
