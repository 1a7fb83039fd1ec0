//! Turns the outcome of a job into the body of its operation's response.

use std::iter;

use akhar_client::{
    HandwritingBody, JobResultBody, Png, PointsBody, PredictionBody, PredictionsBody, SegmentBody,
    TranscriptionBody, TranslationBody, WordBody,
};
use akhar_jobs::JobState;
use akhar_requests::{Operation, Outcome, Prediction, Segment, Word};
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
        (_, Outcome::Rejected { field, code, detail }) => Err(Violation { field, code, detail }.into()),
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
            Operation::SpeechRecognition | Operation::LiveTranscription,
            Outcome::Transcription {
                transcription,
                translation,
                timestamps,
                words,
                segments,
                confidence,
                language,
                ..
            },
        ) => {
            let is_shown = timestamps.iter().flatten().chain(&segments).any(|s| s.confidence.is_some());
            Ok(JobResultBody::Transcription(TranscriptionBody {
                transcription,
                translation,
                timestamps: timestamps.map(|segments| with_words(segments, words)),
                confidence: confidence.filter(|_| is_shown),
                language: language.map(|language| language.code().to_owned()),
            }))
        }
        (Operation::Translation, Outcome::Translation { translation, language, confidence, .. }) => {
            let language = language.code().to_owned();
            Ok(JobResultBody::Translation(TranslationBody { translation, language, confidence }))
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

/// Segments with their words, if those were requested. A word belongs to the first segment that does not end before it.
pub(crate) fn with_words(segments: Vec<Segment>, words: Option<Vec<Word>>) -> Vec<SegmentBody> {
    let is_asked = words.is_some();
    let mut words = words.unwrap_or_default().into_iter().peekable();
    let segments = segments.into_iter().map(|found| {
        let own =
            iter::from_fn(|| words.next_if(|word| word.channel == found.channel && word.end <= found.end))
                .map(word)
                .collect();
        SegmentBody { words: is_asked.then_some(own), ..segment(found) }
    });
    segments.collect()
}

fn word(Word { start, end, text, confidence, channel: _ }: Word) -> WordBody {
    WordBody { word: text, start, end, confidence }
}

/// A segment in the response without its words, and in the events of a job.
pub(crate) fn segment(segment: Segment) -> SegmentBody {
    let Segment { start, end, transcription, translation, confidence, channel } = segment;
    SegmentBody { start, end, transcription, translation, confidence, channel, words: None }
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
    fn each_word_is_in_the_segment_that_it_was_said_in() {
        let segment = |start: f64, end: f64| Segment {
            start,
            end,
            transcription: String::new(),
            translation: None,
            confidence: None,
            channel: None,
        };
        let word = |text: &str, start, end| Word {
            start,
            end,
            text: text.to_owned(),
            confidence: Some(0.5),
            channel: None,
        };
        let words = vec![word("a", 0.1, 0.4), word("b", 0.4, 1.0), word("c", 1.0, 1.5), word("d", 3.0, 3.1)];
        let segments = vec![segment(0.1, 1.0), segment(1.0, 1.5), segment(3.0, 3.1)];
        let texts = |segments: Vec<SegmentBody>| -> Vec<String> {
            let text = |s: SegmentBody| s.words.unwrap_or_default().into_iter().map(|w| w.word).collect();
            segments.into_iter().map(text).collect()
        };
        assert_eq!(texts(with_words(segments.clone(), Some(words))), ["ab", "c", "d"]);
        assert!(with_words(segments, None).iter().all(|segment| segment.words.is_none()));
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
