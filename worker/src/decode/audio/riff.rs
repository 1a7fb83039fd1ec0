//! Reads the chunks of a RIFF WAVE file: its format, and the position of its samples. Wrong lengths in the
//! headers are tolerated.

use std::ops::Range;

use super::{
    kind::is_wav,
    reader::{Position, Reader},
    tags,
};
use crate::decode::undecodable::Undecodable;

/// The contents of the chunks of a wav file.
#[derive(Debug)]
pub(super) struct Wave {
    pub(super) format: Format,
    /// The samples.
    pub(super) data: DataChunks,
    /// The number of frames, from the `fact` chunk of compressed sound.
    pub(super) n_frames: Option<u32>,
    /// Where the file ends, and another one may begin.
    pub(super) end: usize,
}

/// The format chunk (Microsoft, WAVEFORMATEX).
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    /// The codec: 1 for PCM, 3 for float, … For the extensible format, this is the tag inside its GUID.
    pub(super) tag: u16,
    pub(super) n_channels: u16,
    pub(super) rate: u32,
    /// Bytes of one frame (one sample of every channel), or of one compressed block.
    pub(super) block_bytes: u16,
    /// Bits of one sample.
    pub(super) bits: u16,
}

/// The id of a chunk of samples.
const DATA: &[u8; 4] = b"data";

/// The most bytes of the fields in a chunk that is not sound.
const MAX_FIELDS: usize = 64;

/// Streaming software writes lengths of at least this value when it does not know the length yet.
const OPEN: u32 = 0x7fff_0000;

/// The tag of the extensible format. It contains a GUID: the real tag, followed by one of [`GUIDS`].
const EXTENSIBLE: u16 = 0xfffe;
const GUIDS: [[u8; 14]; 2] = [
    [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71],
    [0, 0, 0x21, 0x07, 0xd3, 0x11, 0x86, 0x44, 0xc8, 0xc1, 0xca, 0, 0, 0], // ambisonic
];

/// Finds the format and the samples of a wav file.
pub(super) fn read(file: &mut Reader) -> Result<Wave, Undecodable> {
    let broken = |what: &str| {
        Undecodable::new("undecodable", format!("the file is not a complete, valid audio/wav: {what}"))
    };
    let head = file.head(0, 12);
    if !is_wav(head) {
        return Err(broken("it does not begin with a RIFF WAVE header"));
    }
    let mut format = None;
    let mut n_frames = None;
    let mut n_large = None;
    let mut data = None;
    let mut chunks = Chunks { at: Position::at(12) };
    while let Some(chunk) = chunks.next(file, n_large) {
        let body = file.get(chunk.body..chunk.end.min(chunk.body + MAX_FIELDS));
        match &chunk.id {
            b"fmt " if format.is_none() => format = Some(Format::read(body)?),
            b"fact" => n_frames = u32_at(body, 0),
            b"ds64" => n_large = u64_at(body, 8),
            DATA if data.is_none() => data = Some(chunk.start),
            _ => {}
        }
    }
    let format = format.ok_or_else(|| broken("it has no format chunk (\"fmt \")"))?;
    let at = Position::at(data.ok_or_else(|| broken("it has no data chunk"))?);
    let data = DataChunks { chunks: Chunks { at }, n_large };
    let end = chunks.at.get().min(file.len());
    Ok(Wave { format, data, n_frames: n_frames.filter(|&n| n > 0 && n < OPEN), end })
}

/// The chunks of a file, from one place on.
#[derive(Debug, Clone)]
struct Chunks {
    at: Position,
}

impl Chunks {
    /// The next chunk of this file. `n_large` is the length of the samples in a 64-bit header (the `ds64` chunk).
    fn next(&mut self, file: &mut Reader, n_large: Option<u64>) -> Option<Chunk> {
        if is_wav(file.head(self.at.get(), 12)) {
            return None;
        }
        let chunk = Chunk::at(file, self.at.get())?;
        let next = match &chunk.id {
            DATA => Data::find(file, &chunk, n_large).next,
            _ => chunk.next(file),
        };
        self.at.pass_to(next);
        Some(chunk)
    }
}

/// The chunks with samples, which are one sound together.
#[derive(Debug, Clone)]
pub(super) struct DataChunks {
    chunks: Chunks,
    n_large: Option<u64>,
}

impl DataChunks {
    /// The samples of the next chunk.
    pub(super) fn next(&mut self, file: &mut Reader) -> Option<Data> {
        loop {
            let chunk = self.chunks.next(file, self.n_large)?;
            if &chunk.id == DATA {
                return Some(Data::find(file, &chunk, self.n_large));
            }
        }
    }
}

/// One chunk of a RIFF file. `body..end` is the byte range of its content as far as the file has it.
struct Chunk {
    id: [u8; 4],
    start: usize,
    /// The length of the content in the chunk's header, bytes.
    n_declared: u32,
    body: usize,
    end: usize,
}

impl Chunk {
    fn at(file: &mut Reader, at: usize) -> Option<Self> {
        let head = file.head(at, 8);
        let id = *head.first_chunk()?;
        let n_declared = u32_at(head, 4)?;
        let body = at + 8;
        let end = body.saturating_add(n_declared as usize).min(file.len());
        Some(Self { id, start: at, n_declared, body, end })
    }

    /// Whether a plausible chunk begins at `at`: its id is printable, and its content lies within the file. Samples may be cut
    /// off.
    fn is_at(file: &mut Reader, at: usize) -> bool {
        Self::at(file, at).is_some_and(|chunk| {
            let is_name = chunk.id.iter().all(|c| (b' '..=b'~').contains(c));
            is_name && (&chunk.id == DATA || chunk.end - chunk.body == chunk.n_declared as usize)
        })
    }

    /// The position of the next chunk. A chunk of odd length should have a padding byte, but some software
    /// leaves it out.
    fn next(&self, file: &mut Reader) -> usize {
        let is_odd = self.n_declared % 2 == 1;
        let is_unpadded = !Self::is_at(file, self.end + 1) && Self::is_at(file, self.end);
        self.end + usize::from(is_odd && !is_unpadded)
    }
}

/// The samples in one chunk.
#[derive(Debug)]
pub(super) struct Data {
    /// The byte range of the samples.
    pub(super) bytes: Range<usize>,
    /// The number of bytes of samples that the header declares; `None` if it leaves the length open.
    pub(super) n_declared: Option<u64>,
    /// The number of bytes after the samples that are not a chunk.
    pub(super) n_garbage: usize,
    /// The position of the next chunk.
    next: usize,
}

impl Data {
    /// Finds where the samples really end. `n_large` is the length in a 64-bit header (the `ds64` chunk).
    fn find(file: &mut Reader, chunk: &Chunk, n_large: Option<u64>) -> Self {
        let n_bytes = file.len();
        let n_declared = if chunk.n_declared == u32::MAX { n_large } else { None };
        let n_declared = n_declared.unwrap_or(u64::from(chunk.n_declared));
        let n_rest = n_bytes - chunk.body;
        let to = |end: usize| Self { bytes: chunk.body..end, n_declared: None, n_garbage: 0, next: end };
        if n_declared > n_rest as u64 {
            let is_open = n_large.is_none() && chunk.n_declared >= OPEN;
            let end = if is_open { next_file(file, chunk.body) } else { n_bytes };
            return Self { n_declared: (!is_open).then_some(n_declared), ..to(end) };
        }
        let next = chunk.next(file);
        let n_after = n_bytes.saturating_sub(next);
        if n_after < 8 || Chunk::is_at(file, next) {
            let bytes = chunk.body..chunk.end;
            return Self { bytes, n_declared: Some(n_declared), n_garbage: 0, next };
        }
        if n_after > chunk.end - chunk.body {
            return to(next_file(file, chunk.body)); // the length was not updated while more samples were written
        }
        let bytes = chunk.body..chunk.end;
        let end = next_file(file, next);
        let n_garbage = tags::before(file, end).saturating_sub(tags::skip(file, next));
        Self { bytes, n_declared: Some(n_declared), n_garbage, next: end }
    }
}

/// Where another WAV file begins, or the end if there is none.
fn next_file(file: &mut Reader, from: usize) -> usize {
    let mut at = from;
    while let Some(found) = file.find(b"WAVEfmt ", at) {
        let start = found.saturating_sub(8);
        if start >= from && is_wav(file.head(start, 12)) {
            return start;
        }
        at = found + 1;
    }
    file.len()
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
        let detail = "the file is not a complete, valid audio/wav: its format chunk is too short, \
                      or declares 0 channels or a sampling rate of 0 Hz";
        let broken = || Undecodable::new("undecodable", detail);
        let format = read().ok_or_else(broken)?;
        if format.tag != EXTENSIBLE {
            return Ok(format);
        }
        let tag = u16_at(body, 24).ok_or_else(broken)?;
        if body.get(26..40).is_some_and(|end| GUIDS.iter().any(|guid| end == guid)) {
            return Ok(Self { tag, ..format });
        }
        let detail = "the wav file uses an extensible format whose GUID is not known: \
                      convert the recording to PCM or send it as mp3";
        Err(Undecodable::new("unsupported_codec", detail))
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
