//! Disk space of a pull: the bytes that are already downloaded, and the bytes that are free.

use std::{fs, path::Path};

use akhar_inference::catalogue::Entry;

use super::error::PullError;
use crate::free_space::free_bytes;

/// The number of bytes of the entry's files that an earlier pull has downloaded.
pub(super) fn bytes_present(partial: &Path, entry: &Entry) -> u64 {
    entry.files.iter().filter_map(|part| fs::metadata(partial.join(&part.path)).ok()).map(|m| m.len()).sum()
}

/// Fails if the disk has fewer than `needed` free bytes. Succeeds if the file system does not report its free space.
pub(super) fn ensure_space(path: &Path, needed: u64) -> Result<(), PullError> {
    let Ok(free) = free_bytes(path) else { return Ok(()) };
    if needed <= free {
        return Ok(());
    }
    Err(PullError::Full { path: path.to_owned(), needed, free })
}
