//! A file that a recording is written to while it arrives, and read from while it is transcribed.

use std::{
    env,
    io::{self, ErrorKind},
};

use rustix::fs::fstatvfs;
use tokio::{fs::File, io::AsyncWriteExt as _};

use crate::decode::job_file::Content;

/// What is left free on the disk, bytes: others may need it, such as a database.
const RESERVE: u64 = 64 * 1024 * 1024;
/// How much is written until the free space is looked at again.
const CHECK_EVERY: usize = 16 * 1024 * 1024;

/// A file without a name in the folder for temporary files. It is gone when it is closed, also if the process is killed.
#[derive(Debug)]
pub(super) struct TemporaryFile {
    file: File,
    n_bytes: usize,
    /// The bytes that may be written until the free space is looked at again.
    n_checked: usize,
}

impl TemporaryFile {
    /// Creates a file for so many bytes, as far as is known, if the disk has space for them.
    pub(super) async fn create(n_expected: Option<usize>) -> io::Result<Self> {
        let created = tokio::task::spawn_blocking(tempfile::tempfile).await?;
        let mut file = Self { file: File::from_std(created?), n_bytes: 0, n_checked: 0 };
        file.check_space(n_expected.unwrap_or(0))?;
        Ok(file)
    }

    /// How many bytes were written.
    pub(super) fn len(&self) -> usize {
        self.n_bytes
    }

    /// Appends bytes.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() > self.n_checked {
            self.check_space(bytes.len())?;
        }
        self.n_checked -= bytes.len();
        self.file.write_all(bytes).await?;
        self.n_bytes += bytes.len();
        Ok(())
    }

    /// What was written.
    pub(super) async fn finish(mut self) -> io::Result<Content> {
        self.file.flush().await?;
        Ok(Content::on_disk(self.file.into_std().await, self.n_bytes))
    }

    /// Fails if the disk has no space for `n` bytes. Otherwise so many and some more may be written.
    fn check_space(&mut self, n: usize) -> io::Result<()> {
        let disk = fstatvfs(&self.file)?;
        let n_free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let n_needed = (n as u64).saturating_add(RESERVE);
        if n_free < n_needed {
            let detail = format!("its disk has {n_free} bytes left, and {n_needed} are needed");
            return Err(io::Error::new(ErrorKind::StorageFull, detail));
        }
        self.n_checked = n.max(CHECK_EVERY);
        Ok(())
    }
}

/// Says that a recording cannot be written to disk, for operators.
pub(super) fn not_written(error: &io::Error) -> String {
    format!("cannot write a recording to the folder {}: {error}", env::temp_dir().display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_has_what_was_written() {
        let mut file = TemporaryFile::create(Some(5)).await.unwrap();
        for part in ["one", "", "two"] {
            file.write(part.as_bytes()).await.unwrap();
        }
        assert_eq!(file.len(), 6);
        let content = file.finish().await.unwrap();
        assert_eq!((content.len(), content.start(4)), (6, b"onet".to_vec()));
    }

    #[tokio::test]
    async fn a_full_disk_is_an_error() {
        let too_large = TemporaryFile::create(Some(usize::MAX)).await.unwrap_err();
        assert_eq!(too_large.kind(), ErrorKind::StorageFull, "{too_large}");
        let full = File::options().write(true).open("/dev/full").await.unwrap();
        let mut file = TemporaryFile { file: full, n_bytes: 0, n_checked: 100 };
        file.write(b"more").await.unwrap();
        assert_eq!(file.finish().await.unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
