//! Live transcription: the sound of a session comes in while it runs, and its text goes out.
//!
//! The sound is cut into utterances at pauses. While one is open, hypotheses show what it may become, and words that some of them
//! agree on are said. Its final text is that of a recording. An attempt goes on from the end of the last utterance that is written, and
//! from what was said of the one behind it.

mod asked;
mod cutter;
mod inputs;
mod item;
mod outcome;
mod recogniser;
mod session;
mod sound;
mod stable;

pub(super) use recogniser::LiveJob;
pub(super) use session::transcribe;
