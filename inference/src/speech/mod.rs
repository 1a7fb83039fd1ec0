//! Speech: samples come in; words with their times come out.
//!
//! [`Listener`] cuts a stream of 16 kHz samples into windows, at pauses where there are any and overlapping
//! where there are none. [`features`] makes log-mel features of a window, a [`Recogniser`] hears them, its
//! [`Decoder`] reads tokens out of each frame's probabilities, and [`Joiner`] joins the windows' tokens into
//! words, which [`segments`] puts together.

mod acoustic;
mod align;
mod beam;
mod config;
mod ctc;
mod decoder;
pub mod features;
#[cfg(test)]
mod golden_tests;
mod join;
mod ngram;
mod normalise;
mod recogniser;
mod runs;
mod transducer;
mod units;
mod whisper;
mod windows;
mod words;

pub use acoustic::Emissions;
pub use decoder::{Decoder, Reading};
pub use join::Joiner;
pub use recogniser::{FrontEnd, Heard, Recogniser};
pub use units::Units;
pub use windows::{Listener, Window};
pub use words::{Clock, Segment, Word, segments, text};

/// What everything here hears, samples a second.
pub const SAMPLE_RATE: usize = 16_000;

/// Samples as time.
pub(crate) fn seconds(samples: usize) -> f64 {
    f64::from(u32::try_from(samples).unwrap_or(u32::MAX)) / 16_000.0
}
