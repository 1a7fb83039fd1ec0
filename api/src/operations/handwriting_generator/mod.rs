//! The operation `handwriting-generator`: writes text by hand, as the strokes of a pen or as a picture of them.

pub(crate) mod form;
pub(crate) mod route;
