//! The model operations: a folder for each, and what they share.
//!
//! A folder has `route` (the handler, and its own part of the OpenAPI document), `form` (the request), `schema` where
//! the form's schema is long, and `body` (the response). It is listed below and nowhere else.

pub(crate) mod alphabet_recognition;
pub(crate) mod digit_recognition;
pub(crate) mod documentation;
pub(crate) mod handwriting_generator;
pub(crate) mod recognition;
pub(crate) mod response;
pub(crate) mod run;
pub(crate) mod speech_recognition;

/// Calls a macro with every operation and the folder that serves it. Each macro makes an exhaustive match of the list,
/// so that an operation that is missing here does not compile.
macro_rules! with_operations {
    ($macro:ident) => {
        $macro! {
            AlphabetRecognition: alphabet_recognition,
            DigitRecognition: digit_recognition,
            HandwritingGenerator: handwriting_generator,
            SpeechRecognition: speech_recognition,
        }
    };
}
pub(crate) use with_operations;
