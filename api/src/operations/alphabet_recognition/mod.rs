//! Which letter an image shows.

pub(crate) mod route;
