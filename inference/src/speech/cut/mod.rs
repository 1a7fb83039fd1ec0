//! Recordings of any length: samples become windows, and the windows' transcripts become the words of the recording.

mod join;
mod loudness;
mod runs;
mod windows;

pub use join::Joiner;
pub use windows::{Chunker, Window, WindowStart};
