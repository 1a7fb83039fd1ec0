//! What callers get: a job comes in, the contract's own response or the job's document goes out.

use std::time::Duration;

use akhar_jobs::{Job, JobId, JobState, Outcome, Prediction, Timing};
use axum::{
    Json,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    problem::{Problem, ProblemBody, ProblemType, Violation},
    terms::Arrival,
};

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What an image shows.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Predictions)]
pub(crate) struct PredictionsBody {
    /// Guesses by falling score, as many as `top-k` asked for.
    predictions: Vec<PredictionBody>,
}

/// One guess at what an image shows.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Prediction)]
pub(crate) struct PredictionBody {
    /// The character, in Unicode's NFC.
    #[schema(example = "੫")]
    label: String,
    /// Calibrated probability.
    #[schema(example = 0.98, minimum = 0, maximum = 1)]
    score: f32,
}

/// A job as its caller sees it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct JobBody {
    /// Its identity, a `UUIDv7`.
    id: Uuid,
    /// What it does, as the operation's path names it.
    #[schema(example = "digit-recognition")]
    operation: &'static str,
    /// Where it is.
    #[schema(value_type = JobStateSchema)]
    state: JobState,
    /// How often a worker has started on it.
    #[schema(minimum = 0)]
    attempt: i32,
    /// When it was accepted.
    created_at: DateTime<Utc>,
    /// When a worker last started on it.
    started_at: Option<DateTime<Utc>>,
    /// When it ended.
    ended_at: Option<DateTime<Utc>>,
    /// The operation's own response, once the job has succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<PredictionsBody>,
    /// What was wrong, once the job has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<ProblemBody>,
}

/// Where a job is in its life.
#[derive(ToSchema)]
#[schema(as = JobState, rename_all = "lowercase")]
#[expect(dead_code, reason = "describes akhar_jobs::JobState to the OpenAPI document")]
pub(crate) enum JobStateSchema {
    /// Waiting for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// Ended with a result.
    Succeeded,
    /// Ended with an error.
    Failed,
    /// Ended before it started, by its caller.
    Cancelled,
}

impl From<Vec<Prediction>> for PredictionsBody {
    fn from(predictions: Vec<Prediction>) -> Self {
        let body = |p: Prediction| PredictionBody { label: p.label, score: p.score };
        Self { predictions: predictions.into_iter().map(body).collect() }
    }
}

/// What a job came to: the operation's own response, or the problem it ended in or is not past yet.
fn result_of(state: JobState, outcome: Option<Outcome>) -> Result<PredictionsBody, Problem> {
    match outcome {
        Some(Outcome::Predictions { predictions }) => Ok(predictions.into()),
        Some(Outcome::Rejected { field, code, detail }) => {
            Err(Problem::violations(vec![Violation { field, code, detail }]))
        }
        Some(Outcome::Failed) => Err(Problem::of(ProblemType::JobFailed)),
        None if state == JobState::Cancelled => Err(Problem::of(ProblemType::JobCancelled)),
        None => Err(Problem::of(ProblemType::JobNotFinished)),
    }
}

/// The operation's own response; `total` is the time it took as a whole.
pub(crate) fn result(job: Job, total: Duration) -> Result<Response, Problem> {
    let timing = server_timing(job.timing, total);
    let mut response = Json(result_of(job.state, job.outcome)?).into_response();
    if let Some(timing) = timing {
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

impl JobBody {
    /// The document about a job, for the request that asks.
    pub(crate) fn of(job: Job, arrival: &Arrival) -> Self {
        let (result, error) = match result_of(job.state, job.outcome) {
            _ if !matches!(job.state, JobState::Succeeded | JobState::Failed) => (None, None),
            Ok(result) => (Some(result), None),
            Err(problem) => (None, Some(problem.body(&path(job.id), &arrival.request_id))),
        };
        Self {
            id: job.id.0,
            operation: job.operation.name(),
            state: job.state,
            attempt: job.attempt,
            created_at: job.created_at,
            started_at: job.started_at,
            ended_at: job.ended_at,
            result,
            error,
        }
    }
}

/// The job's document; while it has not ended, with a hint when to ask again.
pub(crate) fn document(job: Job, arrival: &Arrival) -> Response {
    let is_final = job.state.is_final();
    let mut response = Json(JobBody::of(job, arrival)).into_response();
    if !is_final {
        ask_again(response.headers_mut());
    }
    response
}

/// 202: the job goes on, and this is where to find it.
pub(crate) fn accepted(job: Job, arrival: &Arrival) -> Response {
    let location = HeaderValue::try_from(path(job.id)).ok();
    let mut response = (StatusCode::ACCEPTED, Json(JobBody::of(job, arrival))).into_response();
    ask_again(response.headers_mut());
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

fn ask_again(headers: &mut HeaderMap) {
    headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
}

fn path(id: JobId) -> String {
    format!("/v1/jobs/{id}")
}
