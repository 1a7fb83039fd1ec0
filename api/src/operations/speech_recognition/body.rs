//! Turns the outcome of a speech recognition into the body of its response.

use akhar_client::{JobResultBody, SegmentBody, TranscriptionBody};
use akhar_jobs::{Outcome, Parameters, Segment, SpeechParameters};

use crate::{http::representation::Representation, problems::Problem};

/// The representations that the response can have. The first is the default.
pub(crate) const fn representations(parameters: &Parameters) -> &'static [Representation] {
    match parameters {
        Parameters::SpeechRecognition(SpeechParameters { with_timestamps: true, .. }) => {
            Representation::SEGMENTS
        }
        _ => Representation::TRANSCRIPTION,
    }
}

/// The body of the response.
pub(crate) fn body(outcome: Outcome) -> Result<JobResultBody, Problem> {
    let Outcome::Transcription { transcription, translation, timestamps, .. } = outcome else {
        return Err(Problem::internal("the outcome of a speech job is the outcome of another operation"));
    };
    let timestamps = timestamps.map(|segments| segments.into_iter().map(segment).collect());
    Ok(JobResultBody::Transcription(TranscriptionBody { transcription, translation, timestamps }))
}

/// A segment in the response, and in the events of a job.
pub(crate) fn segment(segment: Segment) -> SegmentBody {
    let Segment { start, end, transcription, translation } = segment;
    SegmentBody { start, end, transcription, translation }
}
