//! Runs an operation: submits the checked input as a job, waits for its end, and responds with the result or a 202.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    Job, JobId, JobState, NewJob, Operation, Parameters, Upload,
    backend::{GroupError, SubmitError},
    store,
};
use akhar_platform::database::is_transient;
use axum::{http::HeaderName, response::Response};
use chrono::{DateTime, Utc};
use tokio::{sync::oneshot, time::Instant};
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    jobs::body,
    jobs::waiters::{LookupResult, Waiter},
    operations::response,
    problems::{Problem, ProblemType},
    retry::retry_transient,
};

/// The pause before another try to cancel a job while the database cannot be reached.
const CANCEL_PAUSE: Duration = Duration::from_millis(500);

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Submits a job, waits for its end within the caller's and the operation's limits, and builds the response.
pub(crate) async fn run(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: Parameters,
    upload: Option<Upload>,
) -> Result<Response, Problem> {
    // This is checked before the job is submitted, so that no job runs whose result could not be sent.
    context.negotiate(response::representations(&parameters))?;
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
    let cancel_on_disconnect = submit(app, &job).await?;
    let found = if wait.is_zero() {
        look_up(app, &job).await
    } else {
        wait_for(app, &job, &mut waiter, Instant::now() + wait).await?
    };
    cancel_on_disconnect.disarm();
    respond(found, &job, operation, context)
}

/// Submits the job. Retries while the database restarts.
///
/// A task of its own does that, so a client that disconnects cannot interrupt it. The guard is made when the statement
/// has ended. If the client is gone by then, nobody takes the guard, and dropping it cancels the job.
async fn submit(app: &App, job: &Arc<NewJob>) -> Result<CancelOnDisconnect, Problem> {
    let (sender, submitted) = oneshot::channel();
    let task = {
        let (app, job) = (app.clone(), job.clone());
        async move {
            let result = match retry_transient(|_| app.submissions.submit(job.clone())).await {
                Ok(_) => Ok(CancelOnDisconnect::arm(&app, &job)),
                Err(error @ SubmitError::QueueFull(_)) => Err(error), // the job certainly does not exist
                Err(error) => {
                    drop(CancelOnDisconnect::arm(&app, &job)); // the job may exist
                    Err(error)
                }
            };
            drop(sender.send(result));
        }
    };
    app.tasks.spawn(task.instrument(Span::current()));
    let result = submitted.await.map_err(|_| Problem::internal("the task that submits the job panicked"))?;
    Ok(result?)
}

/// Waits until the job has ended, the deadline has passed or the process has no more time. If a crash of Postgres lost
/// the job, submits it again. If the job has not ended, the caller is about to get a 202, so the job is flushed to disk first.
async fn wait_for(
    app: &App,
    job: &Arc<NewJob>,
    waiter: &mut Waiter,
    deadline: Instant,
) -> Result<LookupResult, Problem> {
    loop {
        match waiter.until_ended(&app.lookups, deadline).await? {
            LookupResult::Job(ended) if ended.state.is_final() => return Ok(LookupResult::Job(ended)),
            LookupResult::NotFound if Instant::now() < deadline => {
                tracing::warn!("the database has lost the job: submitting it again");
                retry_transient(|_| app.submissions.submit(job.clone())).await?;
            }
            _ => {
                retry_transient(|_| acknowledge(app, job)).await?;
                return Ok(look_up(app, job).await);
            }
        }
    }
}

/// Flushes the job to disk. Submits it again if the database has lost it.
async fn acknowledge(app: &App, job: &NewJob) -> Result<(), SubmitError> {
    if !store::acknowledge(&app.database.volatile, job.id).await.map_err(GroupError::from)? {
        let job = NewJob { asynchronous: true, ..job.clone() };
        app.submissions.submit(Arc::new(job)).await?;
    }
    Ok(())
}

async fn look_up(app: &App, job: &NewJob) -> LookupResult {
    match app.lookups.find(job.id).await {
        Ok(found) => found.map_or(LookupResult::NotFound, LookupResult::Job),
        Err(error) => {
            tracing::warn!(%error, "the job was accepted, but cannot be read");
            LookupResult::Unavailable
        }
    }
}

fn respond(
    found: LookupResult,
    job: &NewJob,
    operation: Operation,
    context: &RequestContext,
) -> Result<Response, Problem> {
    let mut response = match found {
        // An asynchronous caller always gets a 202, even if the job has ended already.
        LookupResult::Job(found) if found.state.is_final() && !job.asynchronous => {
            response::result(found, context.request.received_at.elapsed(), context)?
        }
        LookupResult::Job(found) => body::accepted(found, &context.request),
        LookupResult::Unavailable => body::accepted(assumed_queued(job.id, operation), &context.request),
        LookupResult::NotFound => {
            return Err(Problem::internal("the job was deleted while its caller waited"));
        }
    };
    if let Some(applied) = context.preferences.applied() {
        response.headers_mut().insert(PREFERENCE_APPLIED, applied);
    }
    Ok(response)
}

/// An accepted job that could not be read afterwards. It is assumed to be queued, and its id contains its creation
/// time.
fn assumed_queued(id: JobId, operation: Operation) -> Job {
    let created_at =
        id.0.get_timestamp()
            .map(|t| t.to_unix())
            .and_then(|(s, ns)| DateTime::from_timestamp(i64::try_from(s).ok()?, ns));
    Job {
        id,
        operation,
        state: JobState::Queued,
        attempt: 0,
        created_at: created_at.unwrap_or_else(Utc::now),
        started_at: None,
        ended_at: None,
        outcome: None,
        timing: None,
        transcribed_s: None,
    }
}

/// Cancels the job of a client that disconnects: if it is dropped while armed, it cancels the job unless the job has
/// started.
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
        let tasks = app.tasks.clone();
        let cancel = async move {
            loop {
                match store::cancel(&app.database.volatile, job, account_id).await {
                    Ok(cancelled) => {
                        tracing::debug!(cancelled, "tried to cancel the job of a client that disconnected");
                        return;
                    }
                    Err(error) if is_transient(&error) && !app.is_draining() => {
                        tracing::debug!(%error, "cannot reach the database to cancel a job: trying again");
                        tokio::time::sleep(CANCEL_PAUSE).await;
                    }
                    Err(error) => {
                        tracing::error!(%error, "cannot cancel the job of a client that disconnected");
                        return;
                    }
                }
            }
        };
        tasks.spawn_on(cancel.instrument(Span::current()), &runtime);
    }
}

impl From<LookupResult> for Result<Job, Problem> {
    fn from(found: LookupResult) -> Self {
        match found {
            LookupResult::Job(job) => Ok(job),
            LookupResult::NotFound => Err(Problem::of(ProblemType::NotFound)),
            LookupResult::Unavailable => Err(Problem::of(ProblemType::Unavailable)),
        }
    }
}
