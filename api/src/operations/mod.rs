//! The model operations: a folder for each, and what they share.

pub(crate) mod alphabet_recognition;
pub(crate) mod answer;
pub(crate) mod digit_recognition;
pub(crate) mod handwriting_generator;
pub(crate) mod recognition;
pub(crate) mod run;
pub(crate) mod speech_recognition;
