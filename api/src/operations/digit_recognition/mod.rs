//! Which digit an image shows.

pub(crate) mod route;
