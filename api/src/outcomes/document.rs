//! Builds the document about a job that its caller gets.

use akhar_client::JobBody;
use akhar_jobs::{JobId, JobState};
use akhar_requests::{Job, Outcome};
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

use super::{body, warnings};
use crate::http::context::RequestInfo;

/// The document. `request_id` is the request that asked for it. The result or error is missing if the outcome
/// was not read.
pub(crate) fn job_body(job: Job, request_id: &str) -> JobBody {
    let warnings = warnings::warnings(job.outcome.as_ref());
    // Where nothing is transcribed, a step of the work has written 0.
    let progress_s = job.progress_s.filter(|seconds| *seconds > 0.0);
    let transcribed_s = job.outcome.as_ref().and_then(Outcome::audio_s).or(progress_s);
    let confidence = job.outcome.as_ref().and_then(Outcome::confidence);
    let ended = job.outcome.map(|outcome| body::body(job.operation, job.state, Some(outcome)));
    let (result, error) = match ended {
        None => (None, None),
        Some(Ok(result)) => (Some(result), None),
        Some(Err(problem)) => (None, Some(problem.body(&path(job.id), request_id))),
    };
    JobBody {
        id: job.id.0,
        operation: job.operation.name().into(),
        state: state(job.state),
        group: job.group.map(Into::into),
        labels: job.labels,
        attempt: job.attempt,
        created_at: job.created_at,
        started_at: job.started_at,
        ended_at: job.ended_at,
        transcribed_s,
        warnings: warnings.sentences(),
        probably_wrong: warnings.probably_wrong,
        confidence,
        result,
        result_url: None,
        error,
    }
}

/// The state, as documents name it.
pub(crate) const fn state(state: JobState) -> akhar_client::JobState {
    match state {
        JobState::Queued => akhar_client::JobState::Queued,
        JobState::Running => akhar_client::JobState::Running,
        JobState::Succeeded => akhar_client::JobState::Succeeded,
        JobState::Failed => akhar_client::JobState::Failed,
        JobState::Cancelled => akhar_client::JobState::Cancelled,
    }
}

/// A 200 response with the job's document. If the job has not ended, `Retry-After` says when to ask again.
pub(crate) fn current(job: Job, request: &RequestInfo) -> Response {
    let is_final = job.state.is_final();
    let mut response = Json(job_body(job, &request.id)).into_response();
    if !is_final {
        add_retry_after(response.headers_mut());
    }
    response
}

/// A 202 response with the job's document. `Location` is the job's path.
pub(crate) fn accepted(job: Job, request: &RequestInfo) -> Response {
    let location = HeaderValue::try_from(path(job.id)).ok();
    let mut response = (StatusCode::ACCEPTED, Json(job_body(job, &request.id))).into_response();
    add_retry_after(response.headers_mut());
    if let Some(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

fn add_retry_after(headers: &mut HeaderMap) {
    headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
}

/// The path of a job's result.
pub(crate) fn result_path(id: JobId) -> String {
    format!("{}/result", path(id))
}

fn path(id: JobId) -> String {
    format!("/v1/jobs/{id}")
}
