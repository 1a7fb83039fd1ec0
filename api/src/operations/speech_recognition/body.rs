//! The response of a speech recognition: text and segments come in, the contract's own response goes out.

use akhar_client::{JobResultBody, SegmentBody, TranscriptionBody};
use akhar_jobs::{Outcome, Parameters, Segment};

use crate::{http::representation::Representation, problems::Problem};

/// The representations of the response, the default first.
pub(crate) const fn representations(_: &Parameters) -> &'static [Representation] {
    Representation::JSON
}

/// The response's body.
pub(crate) fn body(outcome: Outcome) -> Result<JobResultBody, Problem> {
    let Outcome::Transcription { transcription, translation, timestamps, .. } = outcome else {
        return Err(Problem::internal("a speech recognition has the outcome of another operation"));
    };
    let segment = |s: Segment| SegmentBody {
        start: s.start,
        end: s.end,
        transcription: s.transcription,
        translation: s.translation,
    };
    let timestamps = timestamps.map(|segments| segments.into_iter().map(segment).collect());
    Ok(JobResultBody::Transcription(TranscriptionBody { transcription, translation, timestamps }))
}
