//! Decoding: uploads come in as bytes; pixels or samples come out, or why there are none.

pub(crate) mod audio;
pub(crate) mod image;
pub(crate) mod undecodable;
