//! Speech: samples come in; words with their times come out.
//!
//! [`Chunker`] cuts a stream of 16 kHz samples into windows, at pauses where there are any and overlapping
//! where there are none. [`features`] makes log-mel features of a window, a [`Recogniser`] runs the model on
//! them and gives the window's [`Transcript`] (of a CTC model after beam search, see [`CtcDecoder`]), and
//! [`Joiner`] joins the windows' tokens into words, which [`segments`] groups.

mod acoustic;
mod align;
mod aligner;
mod beam;
mod cast;
mod config;
mod ctc;
mod decoder;
mod emissions;
pub mod features;
#[cfg(test)]
mod golden_tests;
mod join;
mod moonshine;
mod ngram;
mod normalise;
mod recogniser;
mod runs;
mod spread;
mod transcript;
mod transducer;
mod units;
mod whisper;
mod windows;
mod words;

pub use decoder::CtcDecoder;
pub use emissions::Emissions;
pub use join::Joiner;
pub use recogniser::{FrontEnd, Recogniser, WindowOutput};
pub use transcript::Transcript;
pub use units::Units;
pub use windows::{Chunker, Window};
pub use words::{Clock, Segment, Word, segments, text};

/// The sampling rate of all models, Hz.
pub const SAMPLE_RATE: usize = 16_000;

/// Samples as time.
pub(crate) fn seconds(samples: usize) -> f64 {
    f64::from(u32::try_from(samples).unwrap_or(u32::MAX)) / 16_000.0
}
