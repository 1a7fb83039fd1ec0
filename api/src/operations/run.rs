//! One operation from acceptance to answer: checked input comes in, the outcome or a 202 goes out.

use akhar_jobs::{
    Job, JobId, JobState, NewJob, Operation, Parameters, Upload,
    store::{self, SubmitError},
};
use axum::{http::HeaderName, response::Response};
use chrono::{DateTime, Utc};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    jobs::body,
    jobs::waiters::Seen,
    operations::response,
    problems::{Problem, ProblemType},
    retry::retry_transient,
};

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Makes a job of it, waits for its end as long as it may, and answers.
pub(crate) async fn run(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: Parameters,
    upload: Option<Upload>,
) -> Result<Response, Problem> {
    context.negotiate(response::representations(&parameters))?; // what could not be told is not begun
    let operation = parameters.operation();
    let wait = context.preferences.wait_within(app.wait_limit(operation));
    let job = NewJob {
        id: JobId(Uuid::now_v7()),
        caller_id: caller.account_id,
        parameters,
        upload,
        request_id: context.request.id.to_string(),
        traceparent: context.traceparent.clone(),
        asynchronous: wait.is_zero(),
    };
    Span::current().record("job", tracing::field::display(job.id));
    let mut waiter = app.waiters.subscribe(job.id);
    let cancel_on_disconnect = CancelOnDisconnect::arm(app, &job);
    let cancel_on_disconnect = submit(app, &job, cancel_on_disconnect).await?;
    let seen = if wait.is_zero() {
        look(app, &job).await
    } else {
        waiter.until_ended(&app.database.durable, caller.account_id, Instant::now() + wait).await?
    };
    cancel_on_disconnect.disarm();
    answer(seen, &job, operation, context)
}

/// Submits, riding out a database restart. A second attempt that finds the job there has succeeded before.
async fn submit(
    app: &App,
    job: &NewJob,
    cancel_on_disconnect: CancelOnDisconnect,
) -> Result<CancelOnDisconnect, Problem> {
    let attempt = async |n_failed| match store::submit(&app.database.durable, job, app.admission).await {
        Err(error) if n_failed > 0 && is_there_already(&error) => Ok(()),
        other => other,
    };
    match retry_transient(attempt).await {
        Ok(()) => Ok(cancel_on_disconnect),
        Err(error @ SubmitError::QueueFull { .. }) => {
            cancel_on_disconnect.disarm(); // surely not there
            Err(error.into())
        }
        Err(error) => Err(error.into()), // perhaps there: the guard takes it back
    }
}

fn is_there_already(error: &SubmitError) -> bool {
    let constraint = error.database().and_then(sqlx::Error::as_database_error);
    constraint.is_some_and(|e| e.is_unique_violation() && e.constraint() == Some("jobs_pkey"))
}

async fn look(app: &App, job: &NewJob) -> Seen {
    match store::find(&app.database.durable, job.id, job.caller_id).await {
        Ok(found) => found.map_or(Seen::Gone, Seen::Job),
        Err(error) => {
            tracing::warn!(%error, "accepted, but cannot look at it");
            Seen::Nothing
        }
    }
}

fn answer(
    seen: Seen,
    job: &NewJob,
    operation: Operation,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let mut response = match seen {
        // Who would not wait is told where the job is, even when it was quicker than the look at it.
        Seen::Job(found) if found.state.is_final() && !job.asynchronous => {
            response::result(found, context.request.received_at.elapsed(), context)?
        }
        Seen::Job(found) => body::accepted(found, &context.request),
        Seen::Nothing => body::accepted(unseen(job.id, operation), &context.request),
        Seen::Gone => return Err(Problem::internal("a job went away while its caller waited")),
    };
    if let Some(applied) = context.preferences.applied() {
        response.headers_mut().insert(PREFERENCE_APPLIED, applied);
    }
    Ok(response)
}

/// An accepted job that could not be looked at since; its id tells when it was made.
fn unseen(id: JobId, operation: Operation) -> Job {
    let made =
        id.0.get_timestamp()
            .map(|t| t.to_unix())
            .and_then(|(s, ns)| DateTime::from_timestamp(i64::try_from(s).ok()?, ns));
    Job {
        id,
        operation,
        state: JobState::Queued,
        attempt: 0,
        created_at: made.unwrap_or_else(Utc::now),
        started_at: None,
        ended_at: None,
        outcome: None,
        timing: None,
        transcribed_s: None,
    }
}

/// Takes a job back when its caller hangs up: dropped while armed, it cancels what has not started.
struct CancelOnDisconnect {
    armed: Option<(App, JobId, Uuid)>,
}

impl CancelOnDisconnect {
    fn arm(app: &App, job: &NewJob) -> Self {
        Self { armed: Some((app.clone(), job.id, job.caller_id)) }
    }

    fn disarm(mut self) {
        self.armed = None;
    }
}

impl Drop for CancelOnDisconnect {
    fn drop(&mut self) {
        let Some((app, job, caller_id)) = self.armed.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let cancel = async move {
            match retry_transient(|_| store::cancel(&app.database.durable, job, caller_id)).await {
                Ok(cancelled) => tracing::debug!(cancelled, "took back a job nobody waits for"),
                Err(error) => tracing::warn!(%error, "could not take back a job nobody waits for"),
            }
        };
        runtime.spawn(cancel.instrument(Span::current()));
    }
}

impl From<Seen> for Result<Job, Problem> {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Job(job) => Ok(job),
            Seen::Gone => Err(Problem::of(ProblemType::NotFound)),
            Seen::Nothing => Err(Problem::of(ProblemType::Unavailable)),
        }
    }
}
