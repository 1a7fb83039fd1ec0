//! Splits a multipart body (RFC 2046, 5.1) into its parts while it arrives.
//!
//! However the body is cut into pieces, the work is linear in its bytes: they are looked at four times on average at most, which
//! [`Work`] checks. Nothing is kept of the body but one piece and the head of one part.

use bytes::{Buf as _, Bytes};
use httparse::{EMPTY_HEADER, Status, parse_headers};
use memchr::memchr;

use super::{
    body::{ArrivingBody, malformed},
    memory::{BodyMemory, Reserved},
};
use crate::problems::Problem;

/// The most bytes that the head of a part may have, and the most before the first part.
pub(super) const MAX_HEAD_BYTES: usize = 8 * 1024;
/// The most headers that a part may have.
const MAX_HEADERS: usize = 32;
/// The most bytes of a boundary (RFC 2046, 5.1.1).
const MAX_BOUNDARY_BYTES: usize = 70;

/// The parts of a body, one after another.
#[derive(Debug)]
pub(super) struct Parts {
    body: ArrivingBody,
    /// What has arrived and is not read yet.
    piece: Bytes,
    delimiter: Delimiter,
    /// The head of the present part, from the delimiter on.
    head: Vec<u8>,
    work: Work,
    _memory: Reserved,
}

impl Parts {
    /// The parts of a body with this boundary. Skips what is before the first part.
    pub(super) async fn begin(
        body: ArrivingBody,
        boundary: &str,
        memory: &BodyMemory,
    ) -> Result<Self, Problem> {
        if !(1..=MAX_BOUNDARY_BYTES).contains(&boundary.len()) {
            let detail = format!("The boundary has not 1 to {MAX_BOUNDARY_BYTES} characters.");
            return Err(malformed(detail));
        }
        let delimiter = Delimiter::new(boundary);
        let memory = memory.reserve(MAX_HEAD_BYTES)?;
        let mut parts = Self {
            body,
            piece: Bytes::new(),
            delimiter,
            head: Vec::new(),
            work: Work::default(),
            _memory: memory,
        };
        let mut n_before = 0;
        parts
            .data(|bytes| {
                n_before += bytes.len();
                if n_before <= MAX_HEAD_BYTES {
                    return Ok(());
                }
                let detail =
                    format!("The body has more than {MAX_HEAD_BYTES} bytes before its first boundary.");
                Err(malformed(detail))
            })
            .await?;
        Ok(parts)
    }

    /// Reads the head of the next part and returns the part's name. `None` after the last part. Call it when the data of
    /// the former part is read.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Problem> {
        self.head.clear();
        loop {
            let head = &mut self.head;
            let ends = |byte: &u8| {
                head.push(*byte);
                head == b"--" || head == b"\n" || head.ends_with(b"\r\n\r\n") || head.len() > MAX_HEAD_BYTES
            };
            let last = self.piece.iter().position(ends);
            let n_read = last.map_or(self.piece.len(), |last| last + 1);
            self.work.add(n_read, 2 * n_read);
            self.piece.advance(n_read); // the head has it
            if last.is_some() {
                break;
            }
            self.piece = self.more().await?;
        }
        self.work.add(0, self.head.len());
        match &*self.head {
            b"--" => Ok(None),
            b"\n" => {
                Err(malformed("A line of the body ends with LF alone, expected CRLF (RFC 2046, 4.1.1)."))
            }
            head if head.len() > MAX_HEAD_BYTES => {
                Err(malformed(format!("The head of a part has more than {MAX_HEAD_BYTES} bytes.")))
            }
            head => name(head).map(Some),
        }
    }

    /// Reads the data of the part to its end, into `sink`.
    pub(super) async fn data(
        &mut self,
        mut sink: impl FnMut(&[u8]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        loop {
            let Found { n_before, n_data, n_read, n_looks, is_whole } = self.delimiter.find(&self.piece);
            self.work.add(n_read, n_looks);
            sink(&self.delimiter.bytes[..n_before])?;
            sink(&self.piece[..n_data])?;
            self.piece.advance(n_read);
            if is_whole {
                return Ok(());
            }
            self.piece = self.more().await?;
        }
    }

    async fn more(&mut self) -> Result<Bytes, Problem> {
        let more = self.body.next().await?;
        more.ok_or_else(|| malformed("The body ends before its closing boundary."))
    }
}

/// The most times that a byte of a body is looked at, on average.
const MAX_LOOKS: usize = 4;

/// Counts the work on a body, in tests and fuzz targets only, and panics if it is more than linear.
#[derive(Debug, Default)]
struct Work {
    /// How many bytes were read.
    n_read: usize,
    /// How many times one of them was compared, searched, copied into a head or parsed in it.
    n_looks: usize,
}

impl Work {
    const IS_COUNTED: bool = cfg!(any(test, feature = "fuzzing"));

    fn add(&mut self, n_read: usize, n_looks: usize) {
        if Self::IS_COUNTED {
            self.n_read += n_read;
            self.n_looks += n_looks;
            assert!(self.n_looks <= MAX_LOOKS * self.n_read, "{self:?}");
        }
    }
}

/// The end of a line, `--` and the boundary. Finds itself in bytes that arrive in pieces. Its only CR is its first byte, so
/// after a match that fails, the next one can only begin at a later CR.
#[derive(Debug)]
struct Delimiter {
    bytes: Vec<u8>,
    /// How many of its bytes the last bytes that have arrived are.
    n_matched: usize,
}

/// What [`Delimiter::find`] finds in a piece.
#[derive(Debug)]
struct Found {
    /// How many bytes of the delimiter, which came before the piece, are data.
    n_before: usize,
    /// How many of the piece's first bytes are data.
    n_data: usize,
    /// How many of its bytes are read: if the delimiter is whole, those to its end, otherwise all.
    n_read: usize,
    /// How many times one of its bytes was looked at.
    n_looks: usize,
    /// Whether the delimiter is whole. If not, the last bytes that are read may belong to it.
    is_whole: bool,
}

impl Delimiter {
    /// The delimiter of parts with this boundary, in a body of which nothing has arrived. At the start of a body, the
    /// boundary may stand without the end of a line.
    fn new(boundary: &str) -> Self {
        let bytes = format!("\r\n--{boundary}").into_bytes();
        Self { bytes, n_matched: 2 }
    }

    fn find(&mut self, piece: &[u8]) -> Found {
        let n_held = self.n_matched;
        let mut n_read = 0;
        let mut n_looks = 0;
        let mut has_failed = false;
        loop {
            let pairs = self.bytes[self.n_matched..].iter().zip(&piece[n_read..]);
            let n_equal = pairs.take_while(|(wanted, byte)| wanted == byte).count();
            self.n_matched += n_equal;
            n_read += n_equal;
            n_looks += n_equal;
            let is_whole = self.n_matched == self.bytes.len();
            if is_whole || n_read == piece.len() {
                let (n_before, n_data) = if has_failed { (n_held, n_read - self.n_matched) } else { (0, 0) };
                self.n_matched = if is_whole { 0 } else { self.n_matched };
                return Found { n_before, n_data, n_read, n_looks, is_whole };
            }
            has_failed = true;
            self.n_matched = 0;
            let rest = &piece[n_read..];
            let n_other = memchr(b'\r', rest).unwrap_or(rest.len());
            n_looks += 1 + rest.len().min(n_other + 1);
            n_read += n_other;
        }
    }
}

/// The name of a part with this head, which begins after the boundary and ends with an empty line.
fn name(head: &[u8]) -> Result<String, Problem> {
    let unreadable = || malformed("A part of the body cannot be parsed.");
    let padding = head.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let lines = head[padding..].strip_prefix(b"\r\n").ok_or_else(unreadable)?;
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let Ok(Status::Complete((_, headers))) = parse_headers(lines, &mut headers) else {
        return Err(unreadable());
    };
    let disposition = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-disposition"));
    // Another parameter, such as the name of a file, can have bytes of another encoding.
    let name = disposition.and_then(|header| parameter("name", &String::from_utf8_lossy(header.value)));
    name.ok_or_else(|| malformed("A part of the body has no name in its Content-Disposition header."))
}

/// The value of a parameter of a header such as `form-data; name="file"; filename="a.png"` (RFC 7578, 4.2).
pub(super) fn parameter(name: &str, header: &str) -> Option<String> {
    let (_, mut rest) = header.split_once(';')?;
    loop {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let (value, after) = if let Some(quoted) = after.strip_prefix('"') {
            until_quote(quoted)?
        } else {
            let end = after.find(';').unwrap_or(after.len());
            (after[..end].trim_end().to_owned(), &after[end..])
        };
        if key.trim().eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = after.trim_start().strip_prefix(';')?;
    }
}

/// The text before a quotation mark, and what follows it. `\"` is a quotation mark of the text.
fn until_quote(quoted: &str) -> Option<(String, &str)> {
    let mut from = 0;
    loop {
        let end = from + quoted[from..].find('"')?;
        if !quoted[..end].ends_with('\\') {
            return Some((quoted[..end].replace("\\\"", "\""), &quoted[end + 1..]));
        }
        from = end + 1;
    }
}

#[cfg(test)]
#[path = "parts_tests.rs"]
mod tests;
