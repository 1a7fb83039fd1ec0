//! Four bytes come in; what an MPEG audio layer III frame header says comes out.

/// A frame header (ISO/IEC 11172-3, 2.4.2.3; ISO/IEC 13818-3; "MPEG 2.5" is Fraunhofer's extension).
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    /// Samples a second; tells MPEG 1, 2 and 2.5 apart.
    pub(super) rate: u32,
    pub(super) n_channels: u16,
    /// Samples of one channel.
    pub(super) n_samples: usize,
    /// The whole frame, header included.
    pub(super) n_bytes: usize,
    /// Where a tag in place of sound lies in it.
    pub(super) tag_at: usize,
}

const MPEG_1_KBPS: [u32; 14] = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG_2_KBPS: [u32; 14] = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

impl Header {
    /// The header at the beginning of `bytes`. Frames of "free" bit rate are not known here.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let &[sync, kind, rates, mode] = bytes.first_chunk()?;
        let is_layer_3 = kind & 0b0000_0110 == 0b0000_0010;
        if sync != 0xff || kind & 0b1110_0000 != 0b1110_0000 || !is_layer_3 {
            return None;
        }
        // Rates are halved in MPEG 2 and again in 2.5.
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

    /// Whether both can be of one stream.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        self.rate == other.rate
    }
}
