//! What callers get: a job comes in, the contract's own response or the job's document goes out.

use std::time::Duration;

use akhar_jobs::{Job, JobState, Outcome, Timing};
use axum::{
    Json,
    http::{HeaderName, HeaderValue},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::operations::{
    handwriting_generator::body::{Handwriting, HandwritingBody},
    recognition::body::PredictionsBody,
    speech_recognition::body::TranscriptionBody,
};
use crate::{
    http::context::Terms,
    http::representation::Representation,
    problems::{Problem, ProblemType, Violation},
};

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What a job came to.
pub(crate) enum Answer {
    Predictions(PredictionsBody),
    Handwriting(Handwriting),
    Transcription(TranscriptionBody),
}

/// The operation's own response, as a document.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobResult)]
#[serde(untagged)]
pub(crate) enum ResultBody {
    /// Of a recognition.
    Predictions(PredictionsBody),
    /// Of the handwriting generator.
    Handwriting(HandwritingBody),
    /// Of a speech recognition.
    Transcription(TranscriptionBody),
}

impl Answer {
    /// The answer, or the problem the job ended in or is not past yet.
    pub(crate) fn of(state: JobState, outcome: Option<Outcome>) -> Result<Self, Problem> {
        match outcome {
            Some(Outcome::Predictions { predictions }) => Ok(Self::Predictions(predictions.into())),
            Some(Outcome::Handwriting { points, image }) => {
                Handwriting::of(points, image).map(Self::Handwriting)
            }
            Some(Outcome::Transcription { transcription, translation, timestamps, .. }) => {
                Ok(Self::Transcription(TranscriptionBody::new(transcription, translation, timestamps)))
            }
            Some(Outcome::Rejected { field, code, detail }) => {
                Err(Problem::violations(vec![Violation { field, code, detail }]))
            }
            Some(Outcome::Failed) => Err(Problem::of(ProblemType::JobFailed)),
            None if state == JobState::Cancelled => Err(Problem::of(ProblemType::JobCancelled)),
            None => Err(Problem::of(ProblemType::JobNotFinished)),
        }
    }

    const fn offers(&self) -> &'static [Representation] {
        match self {
            Self::Predictions(_) | Self::Transcription(_) => Representation::JSON,
            Self::Handwriting(handwriting) => handwriting.offers(),
        }
    }

    pub(crate) fn into_body(self) -> ResultBody {
        match self {
            Self::Predictions(body) => ResultBody::Predictions(body),
            Self::Transcription(body) => ResultBody::Transcription(body),
            Self::Handwriting(handwriting) => ResultBody::Handwriting(handwriting.into_body()),
        }
    }

    fn into_response(self, representation: Representation) -> Response {
        match self {
            Self::Predictions(body) => Json(body).into_response(),
            Self::Transcription(body) => Json(body).into_response(),
            Self::Handwriting(handwriting) => handwriting.into_response(representation),
        }
    }
}

/// The operation's own response on the caller's terms; `total` is the time it took as a whole.
pub(crate) fn result(job: Job, total: Duration, terms: &Terms) -> Result<Response, Problem> {
    let answer = Answer::of(job.state, job.outcome)?;
    let representation = terms.choose(answer.offers())?;
    let mut response = answer.into_response(representation);
    if let Some(timing) = server_timing(job.timing, total) {
        response.headers_mut().insert(SERVER_TIMING, timing);
    }
    Ok(response)
}

/// The time from acceptance to end.
pub(crate) fn lifetime(job: &Job) -> Duration {
    job.ended_at.and_then(|end| (end - job.created_at).to_std().ok()).unwrap_or_default()
}

fn server_timing(timing: Option<Timing>, total: Duration) -> Option<HeaderValue> {
    let timing = timing?;
    let ms = |us: i32| f64::from(us) / 1e3;
    let (decode, infer) = (ms(timing.decode_us), ms(timing.infer_us));
    let queue = (total.as_secs_f64() * 1e3 - decode - infer).max(0.0);
    HeaderValue::try_from(format!("queue;dur={queue:.3}, decode;dur={decode:.3}, infer;dur={infer:.3}")).ok()
}
