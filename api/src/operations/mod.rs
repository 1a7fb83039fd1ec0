//! The model operations: a folder for each operation, and what they share.
//!
//! A folder has the modules `route` (the handler and its OpenAPI description) and `form` (the request). An operation's
//! folder is listed in `with_operations` and nowhere else.

pub(crate) mod alphabet_recognition;
pub(crate) mod audio_quota;
pub(crate) mod digit_recognition;
pub(crate) mod disconnect;
pub(crate) mod documentation;
pub(crate) mod form;
pub(crate) mod handwriting_generator;
mod identity;
pub(crate) mod intake;
pub(crate) mod recognition;
mod reserved;
mod retention;
pub(crate) mod run;
pub(crate) mod speech_recognition;
mod stored_quota;
pub(crate) mod submission;
pub(crate) mod translation;

/// Calls a macro with each operation and its folder. Each of these macros generates an exhaustive match, so the crate
/// does not compile if an operation is missing here.
macro_rules! with_operations {
    ($macro:ident) => {
        $macro! {
            AlphabetRecognition: alphabet_recognition,
            DigitRecognition: digit_recognition,
            HandwritingGenerator: handwriting_generator,
            SpeechRecognition: speech_recognition,
            Translation: translation,
        }
    };
}
pub(crate) use with_operations;
