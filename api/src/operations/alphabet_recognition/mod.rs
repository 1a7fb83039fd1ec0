//! The operation `alphabet-recognition`: says which of the 41 letters an image shows.

pub(crate) mod route;
