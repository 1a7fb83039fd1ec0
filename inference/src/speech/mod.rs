//! Speech recognition: from samples to words with their times.
//!
//! 1. [`Chunker`] cuts a stream of 16 kHz samples into windows, at pauses, or with an overlap where there is
//!    no pause.
//! 2. [`features`] computes the log-mel features of a window.
//! 3. A [`Recogniser`] runs the model and gives the window's [`Transcript`]; for a CTC model this includes
//!    beam search, see [`CtcDecoder`].
//! 4. [`Joiner`] joins the windows' tokens into words, and [`segments`] groups the words. [`Segmenter`] does that while
//!    further windows are recognised.

mod acoustic;
mod align;
mod aligner;
mod beam;
mod config;
mod ctc;
mod decoder;
mod emissions;
mod evidence;
pub mod features;
#[cfg(test)]
mod golden_tests;
mod join;
mod moonshine;
mod ngram;
mod recogniser;
mod runs;
mod spread;
mod transcript;
mod transducer;
mod units;
mod warning;
mod whisper;
mod whisper_ctc;
mod windows;
mod words;

pub use decoder::CtcDecoder;
pub use emissions::Emissions;
pub use evidence::Evidence;
pub use features::{FrontEnd, SAMPLE_RATE};
pub use join::Joiner;
pub use recogniser::{Recogniser, WindowOutput};
pub use transcript::Transcript;
pub use units::Units;
pub use warning::warning;
pub use windows::{Chunker, Window};
pub use words::{Clock, Segment, Segmenter, Word, segments, text, timed};

/// Converts a number of samples into seconds.
pub(crate) fn seconds(samples: usize) -> f64 {
    f64::from(u32::try_from(samples).unwrap_or(u32::MAX)) / 16_000.0
}
