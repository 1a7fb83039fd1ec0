//! Fills the disk that Postgres writes to. That is done only to a small file system, such as the one of
//! `scripts/chaos.sh`.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

/// The largest file system that may be filled, bytes.
const LARGEST: u64 = 2 * 1024 * 1024 * 1024;

/// Why the disk of this folder may not be filled. `None` if it may be.
pub(super) fn why_not(folder: &Path) -> Option<String> {
    let stat = match rustix::fs::statvfs(folder) {
        Ok(stat) => stat,
        Err(error) => return Some(format!("its size is unknown: {error}")),
    };
    let size = stat.f_blocks.saturating_mul(stat.f_frsize);
    let mib = size / (1024 * 1024);
    (size > LARGEST).then(|| {
        format!("the temporary folder is on a disk of {mib} MiB, which is too large to fill (see scripts/chaos.sh)")
    })
}

/// A file that takes all space that is left. The space is free again when it is dropped.
#[derive(Debug)]
pub(super) struct Filling(PathBuf);

impl Filling {
    /// Fills the disk of this folder.
    pub(super) fn of(folder: &Path) -> Self {
        let filling = Self(folder.join("filling"));
        let mut file = File::create(&filling.0).expect("a file");
        let zeros = vec![0; 64 * 1024];
        loop {
            match file.write_all(&zeros) {
                Ok(()) => (),
                Err(error) if error.kind() == ErrorKind::StorageFull => return filling,
                Err(error) => panic!("the disk cannot be filled: {error}"),
            }
        }
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        fs::remove_file(&self.0).expect("the file is removed");
    }
}
