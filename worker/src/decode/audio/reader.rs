//! Reads the bytes of a recording, of which only a small part is in memory if it is on disk.

use std::{
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use memchr::memmem;
use symphonia::core::io::MediaSource;

use super::allowance::Allowance;
use crate::decode::job_file::Content;

/// How much of a file on disk is read at a time.
const WINDOW: usize = 64 * 1024;
/// The part of it that lies before what is asked for: a frame is read again after the one behind it has been looked at.
const BACK: usize = WINDOW / 8;
/// How much of a file is searched at a time.
const SEARCHED: usize = WINDOW - BACK;

/// Gives parts of a file as slices. It is made to be read from its beginning to its end, with small steps back.
#[derive(Clone)]
pub(super) struct Reader {
    content: Content,
    allowance: Allowance,
    /// The part of a file on disk that was read last, and where it begins.
    window: Vec<u8>,
    window_at: usize,
}

impl Reader {
    pub(super) fn new(content: Content, allowance: Allowance) -> Self {
        Self { content, allowance, window: Vec::new(), window_at: 0 }
    }

    /// The file.
    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    /// The number of bytes of the file.
    pub(super) fn len(&self) -> usize {
        self.content.len()
    }

    /// The bytes in this range, as far as the file has them. None, if the file may not be read any more.
    pub(super) fn get(&mut self, range: Range<usize>) -> &[u8] {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        if !self.allowance.read(end - start) {
            return &[];
        }
        if let Content::Memory(bytes) = &self.content {
            return &bytes[start..end];
        }
        if start < self.window_at || end > self.window_at + self.window.len() {
            self.window_at = start.saturating_sub(BACK);
            let n = WINDOW.max(end - self.window_at);
            self.window.resize(n, 0);
            let n = self.content.read_at(&mut self.window, self.window_at);
            self.window.truncate(n);
        }
        let at = |position: usize| (position - self.window_at).min(self.window.len());
        &self.window[at(start)..at(end)]
    }

    /// Where these bytes are from `from` on.
    pub(super) fn find(&mut self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        while at < self.len() {
            let found = memmem::find(self.head(at, SEARCHED), bytes);
            if let Some(found) = found {
                return Some(at + found);
            }
            at += SEARCHED - bytes.len() + 1;
        }
        None
    }

    /// At most `n` bytes from `at` on, as far as the file has them.
    pub(super) fn head(&mut self, at: usize, n: usize) -> &[u8] {
        self.get(at..at.saturating_add(n))
    }
}

/// A place in a file that only moves forward, so a loop over the parts of a file comes to its end.
#[derive(Debug, Clone)]
pub(super) struct Position(usize);

impl Position {
    pub(super) const fn at(at: usize) -> Self {
        Self(at)
    }

    pub(super) const fn get(&self) -> usize {
        self.0
    }

    /// Moves to `next`, the end of the part that begins here, and by at least one byte.
    pub(super) fn pass_to(&mut self, next: usize) {
        self.0 = next.max(self.0.saturating_add(1));
    }
}

/// The most bytes that one part of a file may have, such as its header or a packet: the readers of symphonia take as much
/// memory as a part says that it needs.
const MAX_PART: usize = 16 * 1024 * 1024;

/// A file for the readers of symphonia. They get no more of it at a time than the largest part of a real one has.
pub(super) struct ContentSource {
    content: Content,
    /// The bytes that the file would have if it was not cut off.
    n_bytes: u64,
    at: usize,
    part: Part,
    allowance: Allowance,
}

/// How much of a file was read for one part of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Part(Arc<AtomicUsize>);

impl Part {
    /// What is read from now on is the next part.
    pub(super) fn next(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl ContentSource {
    pub(super) fn new(content: Content, n_bytes: u64, part: Part, allowance: Allowance) -> Self {
        Self { content, n_bytes, at: 0, part, allowance }
    }
}

impl Read for ContentSource {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.content.read_at(buffer, self.at);
        self.at += n;
        if self.part.0.fetch_add(n, Ordering::Relaxed) > MAX_PART {
            let detail = "a part of the file is larger than 16 MiB";
            return Err(io::Error::new(ErrorKind::InvalidData, detail));
        }
        if !self.allowance.read(n) {
            return Err(io::Error::from(ErrorKind::QuotaExceeded));
        }
        Ok(n)
    }
}

impl Seek for ContentSource {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => i128::from(at),
            SeekFrom::End(by) => i128::from(self.n_bytes) + i128::from(by),
            SeekFrom::Current(by) => self.at as i128 + i128::from(by),
        };
        self.at = usize::try_from(at).map_err(|_| io::Error::from(ErrorKind::InvalidInput))?;
        Ok(self.at as u64)
    }
}

impl MediaSource for ContentSource {
    fn is_seekable(&self) -> bool {
        true
    }

    fn byte_len(&self) -> Option<u64> {
        Some(self.n_bytes)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::{super::allowance::tests::unpaced, *};

    /// A file on disk with these bytes.
    pub(in crate::decode::audio) fn on_disk(bytes: &[u8]) -> Content {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        Content::on_disk(file, bytes.len())
    }

    proptest! {
        #[test]
        fn a_file_on_disk_reads_as_one_in_memory(
            n in 0..3 * WINDOW,
            ranges in prop::collection::vec((0..4 * WINDOW, 0..2 * WINDOW), 1..20),
        ) {
            let bytes: Vec<u8> = (0..n).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
            let mut disk = Reader::new(on_disk(&bytes), unpaced(1 << 20));
            let mut memory = Reader::new(Content::Memory(bytes.into()), unpaced(1 << 20));
            prop_assert_eq!(disk.len(), memory.len());
            for (at, n) in ranges {
                prop_assert_eq!(disk.head(at, n), memory.head(at, n));
            }
        }
    }

    #[test]
    fn a_part_of_a_file_that_is_too_large_is_not_read() {
        let content = Content::Memory(vec![0; MAX_PART + 2 * WINDOW].into());
        let part = Part::default();
        let mut source = ContentSource::new(content, MAX_PART as u64, part.clone(), unpaced(MAX_PART));
        assert!(source.read_to_end(&mut Vec::new()).is_err());
        part.next();
        source.seek(SeekFrom::Start(100)).unwrap();
        assert_eq!(source.read(&mut [0; 10]).unwrap(), 10);
    }
}
