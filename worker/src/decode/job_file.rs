//! The file of a job: in memory, or on disk, from which it is read part by part.

use std::{
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt as _,
    sync::{Arc, OnceLock},
};

use akhar_requests::{MediaType, Upload};
use bytes::Bytes;

/// The file of a job.
#[derive(Debug, Clone)]
pub(crate) struct JobFile {
    /// The type that its first bytes show.
    pub(crate) media_type: MediaType,
    pub(crate) content: Content,
}

/// The bytes of a file, or of a part of it.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Memory(Bytes),
    /// The part of a file on disk.
    Disk(Arc<FileOnDisk>, Range<usize>),
}

/// A file on disk that does not change.
#[derive(Debug)]
pub(crate) struct FileOnDisk {
    file: File,
    /// Why it could not be read. What was read since has no meaning.
    error: OnceLock<io::Error>,
}

impl From<Upload> for JobFile {
    fn from(Upload { media_type, bytes }: Upload) -> Self {
        Self { media_type, content: Content::Memory(bytes) }
    }
}

impl JobFile {
    /// The upload, if it is in memory.
    pub(crate) fn into_upload(self) -> Option<Upload> {
        match self.content {
            Content::Memory(bytes) => Some(Upload { media_type: self.media_type, bytes }),
            Content::Disk(..) => None,
        }
    }

    /// Whether it is on disk.
    pub(crate) fn is_on_disk(&self) -> bool {
        matches!(self.content, Content::Disk(..))
    }

    /// Why it could not be read, if it could not. Then nothing that was decoded has a meaning.
    pub(crate) fn read_error(&self) -> Option<&io::Error> {
        match &self.content {
            Content::Memory(_) => None,
            Content::Disk(file, _) => file.error.get(),
        }
    }
}

impl Content {
    /// Takes a file that has `n_bytes` bytes.
    pub(crate) fn on_disk(file: File, n_bytes: usize) -> Self {
        Self::Disk(Arc::new(FileOnDisk { file, error: OnceLock::new() }), 0..n_bytes)
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Disk(_, part) => part.len(),
        }
    }

    /// Reads the bytes from `at` on into `buffer`, and returns how many there are: fewer than it has place for only at the end
    /// of the file, or if the file cannot be read.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: usize) -> usize {
        match self {
            Self::Memory(bytes) => {
                let rest = bytes.get(at..).unwrap_or_default();
                let n = rest.len().min(buffer.len());
                buffer[..n].copy_from_slice(&rest[..n]);
                n
            }
            Self::Disk(file, part) => {
                let start = part.start.saturating_add(at).min(part.end);
                let n = buffer.len().min(part.end - start);
                file.read_at(&mut buffer[..n], start)
            }
        }
    }

    /// The part of it in this range, as far as it has it.
    pub(crate) fn part(&self, range: Range<usize>) -> Self {
        let end = range.end.min(self.len());
        let start = range.start.min(end);
        match self {
            Self::Memory(bytes) => Self::Memory(bytes.slice(start..end)),
            Self::Disk(file, part) => Self::Disk(file.clone(), part.start + start..part.start + end),
        }
    }

    /// The first bytes, at most `n`.
    pub(crate) fn start(&self, n: usize) -> Vec<u8> {
        let mut start = vec![0; n.min(self.len())];
        let n = self.read_at(&mut start, 0);
        start.truncate(n);
        start
    }
}

impl FileOnDisk {
    fn read_at(&self, buffer: &mut [u8], at: usize) -> usize {
        let mut n = 0;
        while n < buffer.len() {
            match self.file.read_at(&mut buffer[n..], (at + n) as u64) {
                Ok(0) => break,
                Ok(more) => n += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => {
                    let _ = self.error.set(error); // the first error says more than a later one
                    return 0;
                }
            }
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_on_disk_that_cannot_be_read_says_so() {
        let folder = File::open(std::env::temp_dir()).unwrap();
        let file = JobFile { media_type: MediaType::Wav, content: Content::on_disk(folder, 100) };
        assert!(file.read_error().is_none());
        assert!(file.content.start(10).is_empty());
        assert_eq!(file.read_error().map(io::Error::kind), Some(io::ErrorKind::IsADirectory));
    }
}
