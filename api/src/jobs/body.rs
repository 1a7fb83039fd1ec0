//! A job's document: a job comes in, what its caller may see of it goes out.

use akhar_jobs::{Job, JobId, JobState, Outcome};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    http::context::Arrival,
    operations::answer::{Answer, ResultBody},
    problems::ProblemBody,
};

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
    /// Seconds of its recording that are transcribed so far; for speech alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 0)]
    transcribed_s: Option<f64>,
    /// What was odd about its recording, such as that it ends within a frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
    /// The operation's own response as a document, once the job has succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<ResultBody>,
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

impl JobBody {
    /// The document about a job, for the request that asks.
    pub(crate) fn of(job: Job, arrival: &Arrival) -> Self {
        let (warnings, transcribed_s) = match &job.outcome {
            Some(Outcome::Transcription { warnings, seconds, .. }) => (warnings.clone(), Some(*seconds)),
            _ => (Vec::new(), job.transcribed_s),
        };
        let (result, error) = match Answer::of(job.state, job.outcome) {
            _ if !matches!(job.state, JobState::Succeeded | JobState::Failed) => (None, None),
            Ok(answer) => (Some(answer.into_body()), None),
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
            transcribed_s,
            warnings,
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
