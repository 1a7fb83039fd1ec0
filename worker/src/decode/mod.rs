//! Uploads come in as bytes; what a model can look at comes out, or why it cannot.

pub(crate) mod audio;
pub(crate) mod image;
pub(crate) mod undecodable;
