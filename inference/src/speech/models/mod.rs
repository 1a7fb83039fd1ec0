//! Models of all layouts: features of windows come in; their transcripts go out.
//!
//! A layout has a file or a folder here, which implements [`SpeechModel`], and a line in [`load`].

mod aligner;
mod ctc;
mod loading;
mod model;
mod moonshine;
mod nemo;
mod nemo_ctc;
mod omnilingual;
mod transducer;
mod whisper;
mod whisper_ctc;

pub use loading::load;
pub use model::{SpeechModel, WindowInput, WindowOutput};
