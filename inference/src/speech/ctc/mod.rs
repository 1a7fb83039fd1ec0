//! Connectionist temporal classification (CTC): a model's log-probabilities of units in each frame become tokens with
//! their frames.

mod align;
mod beam;
mod decoder;
mod emissions;
#[cfg(test)]
mod golden_tests;
mod greedy;
mod ngram;
mod numbers;
mod rescoring;
mod spelling;
mod spot;
mod stream;
mod units;

pub use decoder::CtcDecoder;
pub use emissions::Emissions;
pub(crate) use greedy::{confidence, greedy};
pub(crate) use spelling::Spelling;
pub use stream::stream;
pub use units::Units;
pub(crate) use units::{INDIC_PANJABI, N_INDIC};
