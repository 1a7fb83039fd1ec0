//! Turns the outcome of a job into the body of its operation's response.

use akhar_client::{
    HandwritingBody, JobResultBody, Png, PointsBody, PredictionBody, PredictionsBody, SegmentBody,
    TranscriptionBody,
};
use akhar_jobs::{JobState, Operation, Outcome, Prediction, Segment};
use serde_json::value::RawValue;

use crate::problems::{Problem, ProblemType, Violation};

/// The body of the response, or the problem that the job ended with. A job that has not ended is also a problem, and the
/// outcome of another operation is an internal error.
pub(crate) fn body(
    operation: Operation,
    state: JobState,
    outcome: Option<Outcome>,
) -> Result<JobResultBody, Problem> {
    let Some(outcome) = outcome else {
        let is_cancelled = state == JobState::Cancelled;
        return Err(Problem::of(if is_cancelled {
            ProblemType::JobCancelled
        } else {
            ProblemType::JobNotFinished
        }));
    };
    match (operation, outcome) {
        (_, Outcome::Rejected { field, code, detail }) => {
            Err(Problem::violations(vec![Violation { field, code, detail }]))
        }
        (_, Outcome::Failed) => Err(Problem::of(ProblemType::JobFailed)),
        (
            Operation::AlphabetRecognition | Operation::DigitRecognition,
            Outcome::Predictions { predictions },
        ) => {
            let predictions = predictions.into_iter();
            let predictions = predictions.map(|Prediction { label, score }| PredictionBody { label, score });
            Ok(JobResultBody::Predictions(PredictionsBody { predictions: predictions.collect() }))
        }
        (Operation::HandwritingGenerator, Outcome::Handwriting { points, image, .. }) => {
            handwriting(points, image).map(JobResultBody::Handwriting)
        }
        (
            Operation::SpeechRecognition,
            Outcome::Transcription { transcription, translation, timestamps, .. },
        ) => {
            let timestamps = timestamps.map(|segments| segments.into_iter().map(segment).collect());
            Ok(JobResultBody::Transcription(TranscriptionBody { transcription, translation, timestamps }))
        }
        (operation, _) => Err(Problem::internal(format_args!(
            "the outcome of a {} job is the outcome of another operation",
            operation.name()
        ))),
    }
}

/// The JSON text of the strokes is checked to be one value, and is sent unchanged.
fn handwriting(points: Vec<u8>, image: Option<Vec<u8>>) -> Result<HandwritingBody, Problem> {
    let points = String::from_utf8(points).map_err(Problem::internal)?;
    let points = PointsBody::Json(RawValue::from_string(points).map_err(Problem::internal)?);
    Ok(HandwritingBody { points, image: image.map(Png) })
}

/// A segment in the response, and in the events of a job.
pub(crate) fn segment(segment: Segment) -> SegmentBody {
    let Segment { start, end, transcription, translation, confidence: _ } = segment;
    SegmentBody { start, end, transcription, translation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strokes_are_sent_unchanged() {
        let points = br#"{"x":[[1.00,2.5]],"y":[[3,4]]}"#;
        let document = |image| serde_json::to_string(&handwriting(points.to_vec(), image).unwrap()).unwrap();
        assert_eq!(document(None), r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]}}"#);
        assert_eq!(
            document(Some(b"\x89PNG".to_vec())),
            r#"{"points":{"x":[[1.00,2.5]],"y":[[3,4]]},"image":"iVBORw=="}"#
        );
    }

    #[test]
    fn points_that_are_not_json_are_an_error() {
        for bytes in [&b""[..], b"{", b"{} {}", b"\xff"] {
            assert!(handwriting(bytes.to_vec(), None).is_err());
        }
    }

    #[test]
    fn the_outcome_of_another_operation_is_an_internal_error() {
        let predictions = || Some(Outcome::Predictions { predictions: Vec::new() });
        for operation in Operation::ALL {
            let is_recognition =
                matches!(operation, Operation::AlphabetRecognition | Operation::DigitRecognition);
            assert_eq!(
                body(operation, JobState::Succeeded, predictions()).is_ok(),
                is_recognition,
                "{operation:?}"
            );
        }
    }
}
