//! The operation `speech-recognition`: transcribes a recording and optionally translates the text.

pub(crate) mod form;
pub(crate) mod route;
