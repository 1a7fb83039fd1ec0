//! The folder in which a model is put together: one command at a time may use it.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
};

/// Makes a folder and locks it until the file is dropped. `None` if another command has locked it.
pub(super) fn lock(folder: &Path) -> io::Result<Option<File>> {
    fs::create_dir_all(folder)?;
    let file = File::open(folder)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
