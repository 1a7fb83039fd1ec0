//! Decodes uploads: from bytes to pixels or samples, or to the reason why the upload cannot be decoded.

pub(crate) mod audio;
mod guard;
pub(crate) mod image;
pub(crate) mod job_file;
mod jpeg;
mod png;
pub(crate) mod undecodable;
