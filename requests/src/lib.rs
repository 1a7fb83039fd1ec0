//! What may be asked of the service, and what can come of it: the operations with their checked parameters, files and
//! outcomes, which the api and the worker share. To the queue ([`akhar_jobs`]) all of them are bytes.

mod bounded;
mod digits;
pub mod key_term;
mod language;
pub mod live;
mod operation;
mod outcome;
pub mod panjabi_text;
mod parameters;
mod queue;
mod script;
pub mod sniff;
pub mod source_text;
mod speech;
mod stored;
mod strokes;
mod upload;

pub use bounded::Bounded;
pub use digits::Digits;
pub use key_term::KeyTerm;
pub use language::Language;
pub use operation::Operation;
pub use outcome::{Outcome, Prediction, ProbablyWrong, Segment, TextKind, Word};
pub use panjabi_text::PanjabiText;
pub use parameters::{
    CharSpace, HandwritingParameters, LineSpace, PageLength, PageWidth, Parameters, Picture, StrokeColor,
    StrokeWidth, TopK, TranslationParameters, WordSpace,
};
pub use queue::{LIVE, QUEUES, QUICK, SPEECH, queue_named};
pub use script::Script;
pub use source_text::SourceText;
pub use speech::{Channels, MaxLineLength, MaxLines, SpeechParameters, SubtitleSize};
pub use stored::{Job, Unreadable, WITH_ARTIFACTS, claimed, job};
pub use upload::{MAX_FETCHED_S, MAX_RECORDING_S, MediaType, Upload};
