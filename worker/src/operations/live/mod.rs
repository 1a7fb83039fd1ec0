//! Live transcription: the sound of a session comes in while it runs, and its text goes out.
//!
//! The sound is cut into utterances at pauses. While one is open, hypotheses show what it may become, and words that will probably
//! stay are said. Its final text is that of a recording of all sound so far: it is recognised with the sound before it, in the window
//! that the recording would have there. An attempt goes on from the end of the last utterance that is written, and from what was said
//! of the one behind it.

mod context;
mod cutter;
mod idleness;
mod inputs;
mod item;
mod outcome;
mod recogniser;
mod session;
mod sound;
mod stable;
mod utterance;

pub(super) use recogniser::LiveJob;
pub(super) use session::transcribe;
