//! Speech recognition: from samples to words with their times.
//!
//! 1. [`Chunker`] cuts a stream of 16 kHz samples into windows, at pauses, or with an overlap where there is no pause.
//! 2. A model's [`FrontEnd`] computes the features of a window.
//! 3. A [`SpeechModel`], which [`load`] reads, gives the window's [`Transcript`]; for a CTC model this includes beam
//!    search, see [`CtcDecoder`].
//! 4. [`Joiner`] joins the windows' tokens into words, and [`segments`] groups the words. [`Segmenter`] does that while
//!    further windows are recognised. [`WrittenForm`] writes their numbers in figures.
//!
//! [`likeliest`] tells which language is spoken, by the texts of several models.

pub mod ctc;
mod cut;
pub mod features;
mod models;
mod words;

pub use ctc::{CtcDecoder, Emissions, Units};
pub use cut::{Chunker, Joiner, Window, WindowStart};
pub use features::{FrontEnd, SAMPLE_RATE};
pub use models::{SpeechModel, WindowInput, WindowOutput, load};
pub use words::{
    AROUND, Clock, Digits, ENOUGH_SAMPLES, Evidence, Interleaving, Recognised, Segmenter, TimedText,
    Transcript, Utterance, WrittenForm, divided, is_certain, is_unsure, likeliest, segments, text, timed,
    unlikely_parts, utterances,
};
