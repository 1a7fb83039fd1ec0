//! One operation from acceptance to answer: checked input comes in, the outcome or a 202 goes out.

use std::sync::Arc;

use akhar_jobs::{
    Job, JobId, JobState, NewJob, Operation, Parameters, Upload,
    backend::{GroupError, SubmitError},
    store,
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
    jobs::waiters::{Seen, Waiter},
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
    let job = Arc::new(NewJob {
        id: JobId(Uuid::now_v7()),
        account_id: caller.account_id,
        parameters,
        upload,
        request_id: context.request.id.to_string(),
        traceparent: context.traceparent.clone(),
        asynchronous: wait.is_zero(),
    });
    Span::current().record("job", tracing::field::display(job.id));
    let mut waiter = app.waiters.subscribe(job.id);
    let cancel_on_disconnect = CancelOnDisconnect::arm(app, &job);
    let cancel_on_disconnect = submit(app, &job, cancel_on_disconnect).await?;
    let seen = if wait.is_zero() {
        look(app, &job).await
    } else {
        wait_for(app, &job, &mut waiter, Instant::now() + wait).await?
    };
    cancel_on_disconnect.disarm();
    answer(seen, &job, operation, context)
}

/// Submits, riding out a database restart.
async fn submit(
    app: &App,
    job: &Arc<NewJob>,
    cancel_on_disconnect: CancelOnDisconnect,
) -> Result<CancelOnDisconnect, Problem> {
    match retry_transient(|_| app.submissions.submit(job.clone())).await {
        Ok(_) => Ok(cancel_on_disconnect),
        Err(error @ SubmitError::QueueFull(_)) => {
            cancel_on_disconnect.disarm(); // surely not there
            Err(error.into())
        }
        Err(error) => Err(error.into()), // perhaps there: the guard takes it back
    }
}

/// Waits until the job has ended. If a crash of Postgres lost it, it is submitted again. When the wait is
/// over, the caller is about to be told of the job, which is put on disk first.
async fn wait_for(
    app: &App,
    job: &Arc<NewJob>,
    waiter: &mut Waiter,
    deadline: Instant,
) -> Result<Seen, Problem> {
    loop {
        match waiter.until_ended(&app.lookups, deadline).await? {
            Seen::Job(ended) if ended.state.is_final() => return Ok(Seen::Job(ended)),
            Seen::Gone if Instant::now() < deadline => {
                tracing::warn!("the database has lost the job: submitting it again");
                retry_transient(|_| app.submissions.submit(job.clone())).await?;
            }
            _ => {
                retry_transient(|_| acknowledge(app, job)).await?;
                return Ok(look(app, job).await);
            }
        }
    }
}

/// Puts the job on disk, whether or not the database still has it.
async fn acknowledge(app: &App, job: &NewJob) -> Result<(), SubmitError> {
    if !store::acknowledge(&app.database.volatile, job.id).await.map_err(GroupError::from)? {
        let job = NewJob { asynchronous: true, ..job.clone() };
        app.submissions.submit(Arc::new(job)).await?;
    }
    Ok(())
}

async fn look(app: &App, job: &NewJob) -> Seen {
    match app.lookups.find(job.id).await {
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
        Self { armed: Some((app.clone(), job.id, job.account_id)) }
    }

    fn disarm(mut self) {
        self.armed = None;
    }
}

impl Drop for CancelOnDisconnect {
    fn drop(&mut self) {
        let Some((app, job, account_id)) = self.armed.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let cancel = async move {
            match retry_transient(|_| store::cancel(&app.database.volatile, job, account_id)).await {
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
