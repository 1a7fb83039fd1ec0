//! A RIFF WAVE file comes in; its format and where its samples lie come out, whatever its lengths say.

use std::ops::Range;

use crate::decode::undecodable::Undecodable;

/// What the chunks of a wav file say.
#[derive(Debug)]
pub(super) struct Wave {
    pub(super) format: Format,
    /// Where the samples lie.
    pub(super) data: Range<usize>,
    /// How many bytes of samples the header promises; none if it leaves that open.
    pub(super) n_promised: Option<u64>,
    /// Bytes after the samples that are no chunk.
    pub(super) n_garbage: usize,
    /// Frames, as the fact chunk of compressed sound says.
    pub(super) n_frames: Option<u32>,
}

/// The format chunk (Microsoft, WAVEFORMATEX).
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// 1 PCM, 3 float, …; of the extensible format the one inside.
    pub(super) tag: u16,
    pub(super) n_channels: u16,
    pub(super) rate: u32,
    /// Bytes of one sample of every channel, or of one compressed block.
    pub(super) block_bytes: u16,
    pub(super) bits: u16,
}

/// Lengths from here on are what streaming writers put for "not known yet".
const OPEN: u32 = 0x7fff_0000;

/// The extensible format: the real tag is the beginning of a GUID with one of these ends.
const EXTENSIBLE: u16 = 0xfffe;
const GUIDS: [[u8; 14]; 2] = [
    [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71],
    [0, 0, 0x21, 0x07, 0xd3, 0x11, 0x86, 0x44, 0xc8, 0xc1, 0xca, 0, 0, 0], // ambisonic
];

/// Finds the format and the samples.
pub(super) fn read(bytes: &[u8]) -> Result<Wave, Undecodable> {
    let broken = |what: &str| Undecodable::new("undecodable", format!("expected a whole audio/wav: {what}"));
    let form = (bytes.get(..4), bytes.get(8..12));
    if !matches!(form, (Some(b"RIFF" | b"RF64" | b"BW64"), Some(b"WAVE"))) {
        return Err(broken("it does not begin with RIFF … WAVE"));
    }
    let (mut format, mut data, mut n_frames, mut n_large) = (None, None, None, None);
    let mut at = 12;
    while let Some(chunk) = Chunk::at(bytes, at) {
        let body = &bytes[chunk.body..chunk.end];
        match &chunk.id {
            b"fmt " if format.is_none() => format = Some(Format::read(body)?),
            b"fact" => n_frames = u32_at(body, 0),
            b"ds64" => n_large = u64_at(body, 8),
            b"data" if data.is_none() => data = Some(Data::find(bytes, &chunk, n_large)),
            _ => {}
        }
        at = match (&data, &chunk.id) {
            (Some(data), b"data") => data.next,
            _ => chunk.next(bytes),
        };
    }
    let format = format.ok_or_else(|| broken("there is no format chunk"))?;
    let data = data.ok_or_else(|| broken("there is no data chunk"))?;
    Ok(Wave {
        format,
        data: data.bytes,
        n_promised: data.n_promised,
        n_garbage: data.n_garbage,
        n_frames: n_frames.filter(|&n| n > 0 && n < OPEN),
    })
}

struct Chunk {
    id: [u8; 4],
    n_said: u32,
    body: usize,
    end: usize,
}

impl Chunk {
    fn at(bytes: &[u8], at: usize) -> Option<Self> {
        let id = bytes.get(at..)?.first_chunk()?;
        let n_said = u32_at(bytes, at + 4)?;
        let body = at + 8;
        let end = body.saturating_add(n_said as usize).min(bytes.len());
        Some(Self { id: *id, n_said, body, end })
    }

    /// Whether a chunk that makes sense begins here.
    fn is_at(bytes: &[u8], at: usize) -> bool {
        Self::at(bytes, at).is_some_and(|chunk| {
            let is_name = chunk.id.iter().all(|c| (b' '..=b'~').contains(c));
            is_name && chunk.end - chunk.body == chunk.n_said as usize
        })
    }

    /// Where the next begins: chunks of odd length are filled up, though not by every writer.
    fn next(&self, bytes: &[u8]) -> usize {
        let is_odd = self.n_said % 2 == 1;
        let is_unfilled = !Self::is_at(bytes, self.end + 1) && Self::is_at(bytes, self.end);
        self.end + usize::from(is_odd && !is_unfilled)
    }
}

struct Data {
    bytes: Range<usize>,
    n_promised: Option<u64>,
    n_garbage: usize,
    next: usize,
}

impl Data {
    /// Where the samples really end: `n_large` is the length in a 64-bit header.
    fn find(bytes: &[u8], chunk: &Chunk, n_large: Option<u64>) -> Self {
        let n_said = if chunk.n_said == u32::MAX { n_large } else { None };
        let n_said = n_said.unwrap_or(u64::from(chunk.n_said));
        let n_rest = bytes.len() - chunk.body;
        let to_the_end =
            Self { bytes: chunk.body..bytes.len(), n_promised: None, n_garbage: 0, next: bytes.len() };
        if n_said > n_rest as u64 {
            let is_open = n_large.is_none() && chunk.n_said >= OPEN;
            return Self { n_promised: (!is_open).then_some(n_said), ..to_the_end };
        }
        let next = chunk.next(bytes);
        let n_after = bytes.len().saturating_sub(next);
        if n_after < 8 || Chunk::is_at(bytes, next) {
            return Self { bytes: chunk.body..chunk.end, n_promised: Some(n_said), n_garbage: 0, next };
        }
        if n_after > chunk.end - chunk.body {
            return to_the_end; // never brought up to date while more was written
        }
        let bytes = chunk.body..chunk.end;
        Self { bytes, n_promised: Some(n_said), n_garbage: n_after, next: next + n_after }
    }
}

impl Format {
    fn read(body: &[u8]) -> Result<Self, Undecodable> {
        let read = || {
            let format = Self {
                tag: u16_at(body, 0)?,
                n_channels: u16_at(body, 2)?,
                rate: u32_at(body, 4)?,
                block_bytes: u16_at(body, 12)?,
                bits: u16_at(body, 14)?,
            };
            (format.n_channels > 0 && format.rate > 0).then_some(format)
        };
        let detail = "expected a whole audio/wav: its format chunk is broken";
        let broken = || Undecodable::new("undecodable", detail);
        let format = read().ok_or_else(broken)?;
        if format.tag != EXTENSIBLE {
            return Ok(format);
        }
        let tag = u16_at(body, 24).ok_or_else(broken)?;
        if body.get(26..40).is_some_and(|end| GUIDS.iter().any(|guid| end == guid)) {
            return Ok(Self { tag, ..format });
        }
        Err(Undecodable::new("unsupported_codec", "the wav file holds sound in a format of a private kind"))
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}
