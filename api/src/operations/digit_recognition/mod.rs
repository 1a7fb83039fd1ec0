//! The operation `digit-recognition`: says which of the ten digits an image shows.

pub(crate) mod route;
