//! What is said when: a window's tokens become words, and words become segments, with their times and the evidence for
//! them.

mod clock;
mod evidence;
mod interleaving;
mod likeliest;
mod segments;
mod spread;
mod transcript;
mod unlikely;
mod utterance;
mod word;
mod written;

pub use clock::Clock;
pub(crate) use clock::seconds;
pub use evidence::Evidence;
pub use interleaving::Interleaving;
pub use likeliest::{ENOUGH_SAMPLES, is_certain, is_unsure, likeliest};
pub use segments::{Segmenter, divided, segments, timed};
pub(crate) use spread::spread;
pub use transcript::Transcript;
pub(crate) use transcript::{Token, WORD};
pub use unlikely::unlikely_parts;
pub use utterance::{Recognised, Utterance, utterances};
pub use word::{TimedText, text};
pub(crate) use word::{take_words, words};
pub use written::{AROUND, Digits, WrittenForm};
