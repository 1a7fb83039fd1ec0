//! `speech-recognition`: the text of a recording.

pub(crate) mod body;
mod form;
pub(crate) mod route;
