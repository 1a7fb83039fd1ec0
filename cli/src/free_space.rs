//! The space that is left on a disk.

use std::{io, path::Path};

use rustix::fs::statvfs;

/// Bytes that this user may still write to the disk that has the path.
pub(crate) fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
