//! `GET /v1/jobs/{id}`: responds with the document about a job. With `?wait=N` the response waits for the job's end.

use std::time::Duration;

use akhar_client::JobBody;
use akhar_jobs::{JobId, store};
use akhar_platform::database::retry_transient;
use akhar_requests::{Bounded, Job, WITH_ARTIFACTS};
use axum::{
    extract::{FromRequestParts, Path, State},
    http::{Uri, request::Parts},
    response::Response,
};
use tokio::time::Instant;
use tracing::Span;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    http::representation::Representation,
    input::{
        field::field,
        fields::{Fields as _, fields},
        names::quoted,
        query,
    },
    outcomes::document,
    problems::responses::problems,
    problems::{Problem, ProblemType},
};

problems! {
    /// The problems of getting a job.
    JobProblems at PATH, WaitQuery::violation() => Unauthorized, OutOfScope, NotFound, NotAcceptable, JobDeleted, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// A path of these routes.
pub(super) const PATH: &str = "/v1/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";

fields! {
    /// The parameter of getting a job or a group.
    WaitQuery {
        /// Wait until the job, or every job of the group, has ended, but at most this many seconds.
        wait: Bounded<u8, 0, 60> = field("wait").wrong("61"),
    }
}

/// The id of a job in a request's path. Any other text is a 404.
#[derive(Debug, Clone, Copy, IntoParams)]
#[into_params(names("id"), parameter_in = Path)]
pub(crate) struct JobPath(
    /// The job's id.
    #[param(value_type = Uuid)]
    pub(crate) JobId,
);

impl<S: Send + Sync> FromRequestParts<S> for JobPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        const NOT_FOUND: Problem = Problem::of(ProblemType::NotFound);
        let Path(id) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| NOT_FOUND)?;
        let uuid = Uuid::try_parse(&id).ok().filter(|uuid| uuid.to_string() == id);
        let id = JobId(uuid.ok_or_else(|| {
            let detail = format!(
                "There is no job {}: the id of a job is a UUID in lower case, as in the header Akhar-Job.",
                quoted(&id)
            );
            NOT_FOUND.with_detail(detail)
        })?);
        Span::current().record("job", tracing::field::display(id));
        Ok(Self(id))
    }
}

/// Reads a job of the caller's account. If there is none, the problem says whether it was deleted.
pub(crate) async fn find(app: &App, caller: &Caller, id: JobId) -> Result<Job, Problem> {
    let found =
        retry_transient(|_| store::find(&app.database.pool, id, caller.account_id, WITH_ARTIFACTS)).await?;
    match found {
        Some(stored) => Ok(akhar_requests::job(stored)?),
        None => Err(gone(app, caller.account_id, id).await?),
    }
}

/// The problem of a job that does not exist: it was deleted, or there never was one of this account.
async fn gone(app: &App, account_id: Uuid, id: JobId) -> Result<Problem, Problem> {
    let db = &app.database.pool;
    let is_deleted = retry_transient(|_| store::is_deleted(db, id, Some(account_id))).await?;
    Ok(Problem::of(if is_deleted { ProblemType::JobDeleted } else { ProblemType::NotFound }))
}

/// Responds with a job, at once or when it has ended.
#[utoipa::path(
    get,
    path = "/v1/jobs/{id}",
    operation_id = "get-job",
    tag = "jobs",
    summary = "Get a job, at once or when it has ended",
    params(JobPath, WaitQuery),
    responses(
        (status = 200, description = "The job.", body = JobBody,
            headers(("Retry-After" = u32, description = "Seconds to wait before the next request for \
                the job. Present only if it has not ended.")),
            example = json!({"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
                "state": "succeeded", "attempt": 1, "created_at": "2026-11-21T09:00:00Z",
                "started_at": "2026-11-21T09:00:00.002Z", "ended_at": "2026-11-21T09:00:00.006Z",
                "result": {"predictions": [{"label": "੫", "score": 0.98}]}})),
        JobProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    JobPath(id): JobPath,
    uri: Uri,
) -> Result<Response, Problem> {
    context.negotiate(Representation::JSON)?;
    let wait = wait(&uri)?;
    let mut waiter = app.waiters.subscribe(id);
    let mut job = find(&app, &caller, id).await?;
    if !wait.is_zero() && !job.state.is_final() {
        let found = tokio::select! {
            found = waiter.until_ended(&app.lookups, Instant::now() + wait) => found?,
            () = caller.key.revoked() => return Err(Problem::of(ProblemType::Unauthorized)),
        };
        job = match found {
            Some(stored) => akhar_requests::job(stored)?,
            None => return Err(gone(&app, caller.account_id, id).await?),
        };
    }
    app.deliveries.respond(job, |job| Ok(document::current(job, &context.request)))
}

/// How long the request waits for the job's end.
pub(crate) fn wait(uri: &Uri) -> Result<Duration, Problem> {
    let query: WaitQuery = query::parse(uri)?;
    Ok(Duration::from_secs(query.wait.map_or(0, |seconds| seconds.get().into())))
}

#[cfg(test)]
mod tests {
    #[test]
    fn wait_is_parsed_and_other_parameters_are_refused() {
        let wait = |query: &str| {
            super::wait(&format!("/v1/jobs/x{query}").parse().unwrap()).ok().map(|wait| wait.as_secs())
        };
        assert_eq!(wait(""), Some(0));
        assert_eq!(wait("?"), Some(0));
        assert_eq!(wait("?wait=0"), Some(0));
        assert_eq!(wait("?wait=60"), Some(60));
        for no in [
            "?wait=61",
            "?wait=-1",
            "?wait=",
            "?wait",
            "?wait=abc",
            "?wait=1&wait=1",
            "?Wait=1",
            "?wait=1&x=1",
            "?%FF=1",
        ] {
            assert_eq!(wait(no), None, "{no}");
        }
    }
}
