//! The JSON bodies, one file for each.

pub(crate) mod event;
pub(crate) mod group;
pub(crate) mod handwriting;
pub(crate) mod job;
pub(crate) mod openai;
pub(crate) mod predictions;
pub(crate) mod problem;
pub(crate) mod token;
pub(crate) mod transcription;
pub(crate) mod translation;
pub(crate) mod upload;
pub(crate) mod warnings;
pub(crate) mod webhook;
