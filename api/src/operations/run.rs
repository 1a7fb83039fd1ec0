//! Runs an operation: submits the checked input as a job, waits for its end, and responds with the result or a 202.

use std::{sync::Arc, time::Duration};

use akhar_accounts::webhooks::signing_secrets;
use akhar_jobs::{
    Job, JobId, JobState, NewJob, Operation, Parameters, Upload,
    backend::{GroupError, SubmitError},
    store::{self, Guard, Submitted},
};
use akhar_platform::{database::may_recover, metrics, telemetry::traces};
use axum::{http::HeaderName, response::Response};
use chrono::{DateTime, Utc};
use tokio::{sync::oneshot, time::Instant};
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, webhook},
    operations::{
        audio_quota,
        identity::{self, Identity},
    },
    outcomes::{
        cancelled::{self, By},
        document, response,
    },
    problems::{Code, Problem, Violation},
    retry::retry_transient,
    waiting::waiters::{LookupResult, Waiter},
};

/// The pause before another try to cancel a job while the database cannot be reached or has no space.
const CANCEL_PAUSE: Duration = Duration::from_millis(500);

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Runs an operation and responds as the operation does, in the representation that the caller prefers.
pub(crate) async fn run(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: Parameters,
    upload: Option<Upload>,
) -> Result<Response, Problem> {
    // This is checked before the job is submitted, so that no job runs whose result could not be sent.
    context.negotiate(response::representations(&parameters))?;
    let render = |job, total| response::result(job, total, context);
    run_and_render(app, caller, context, parameters, upload, render).await
}

/// Submits a job, waits for its end within the caller's and the operation's limits, and builds the response. `render`
/// gets the job that has ended, and the time since the request arrived.
pub(crate) async fn run_and_render(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: Parameters,
    upload: Option<Upload>,
    render: impl FnOnce(Job, Duration) -> Result<Response, Problem>,
) -> Result<Response, Problem> {
    let wait = context.preferences.wait_within(app.wait_limit(parameters.operation()));
    let Submission { job, has_key, mut waiter, cancel_on_disconnect } =
        new_submission(app, caller, context, parameters, upload, wait.is_zero()).await?;
    let deadline = Instant::now() + wait;
    let found = if wait.is_zero() {
        if has_key {
            // The job may be that of an earlier request that waited, and not be on disk.
            retry_transient(|_| acknowledge(app, &job)).await?;
        }
        look_up(app, &job).await
    } else if let Some(ended) = ended_before(app, &job, has_key).await {
        LookupResult::Job(Box::new(ended))
    } else {
        wait_for(app, &job, &mut waiter, deadline).await?
    };
    cancel_on_disconnect.disarm();
    respond(found, &job, context, render)
}

/// Submits a job whose caller follows it, and flushes it to disk.
pub(crate) async fn submit_followed(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: Parameters,
    upload: Option<Upload>,
) -> Result<FollowedJob, Problem> {
    let Submission { job, waiter, cancel_on_disconnect, .. } =
        new_submission(app, caller, context, parameters, upload, false).await?;
    retry_transient(|_| acknowledge(app, &job)).await?;
    Ok(FollowedJob { id: job.id, waiter, _cancel_on_disconnect: cancel_on_disconnect })
}

/// A job that its caller follows. If it is dropped before the job has started, the job is cancelled.
pub(crate) struct FollowedJob {
    pub(crate) id: JobId,
    pub(crate) waiter: Waiter,
    _cancel_on_disconnect: CancelOnDisconnect,
}

/// A job that was submitted for a request.
struct Submission {
    job: SubmittedJob,
    /// Whether the request has an idempotency key.
    has_key: bool,
    waiter: Waiter,
    cancel_on_disconnect: CancelOnDisconnect,
}

async fn new_submission(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
    parameters: Parameters,
    upload: Option<Upload>,
    asynchronous: bool,
) -> Result<Submission, Problem> {
    let webhook_url = webhook_url(app, caller, context).await?;
    audio_quota::check(app, caller, context, parameters.operation()).await?;
    let Identity { id, has_key } =
        identity::identify(app, caller, context, &parameters, upload.as_ref()).await?;
    let new = NewJob {
        id,
        account_id: caller.account_id,
        parameters,
        upload: None,
        request_id: context.request.id.to_string(),
        traceparent: traces::context(&Span::current()).or_else(|| context.traceparent.clone()),
        asynchronous,
        webhook_url,
        max_queued: caller.quotas.max_queued.map(i64::from),
    };
    Span::current().record("job", tracing::field::display(new.id));
    let waiter = app.waiters.subscribe(new.id);
    let outlives_client = has_key || new.webhook_url.is_some();
    let (job, cancel_on_disconnect) = submit(app, new, upload, outlives_client).await?;
    metrics::JOBS_SUBMITTED.add_one([job.operation.name(), if asynchronous { "async" } else { "sync" }]);
    // Nothing has set it before, because a request has one job.
    let _is_first = context.request.job.set(job.id);
    Ok(Submission { job, has_key, waiter, cancel_on_disconnect })
}

/// Where the end of the job is announced: at the URL of the request, or else that of the account.
async fn webhook_url(
    app: &App,
    caller: &Caller,
    context: &RequestContext,
) -> Result<Option<Arc<str>>, Problem> {
    let Some(url) = &context.webhook else { return Ok(caller.webhook.url.as_deref().map(Into::into)) };
    // The secret may be newer than what is cached of the account.
    let read = || signing_secrets(&app.database.durable, caller.account_id);
    if caller.webhook.has_secret || !retry_transient(|_| read()).await?.is_empty() {
        return Ok(Some(url.as_str().into()));
    }
    let detail = format!(
        "{} is given, but your account has no secret that signs webhooks; the operator makes one",
        webhook::NAME
    );
    Err(Problem::violations(vec![Violation::new(webhook::NAME, Code::NoSecret, detail)]))
}

/// What a request remembers of its job after the submission.
struct SubmittedJob {
    id: JobId,
    operation: Operation,
    asynchronous: bool,
    /// The whole job, if a crash of Postgres can lose it. A job that is on disk is not kept, because its upload is large
    /// and the caller may wait for minutes.
    unflushed: Option<Arc<NewJob>>,
}

impl SubmittedJob {
    fn of(job: &Arc<NewJob>) -> Self {
        Self {
            id: job.id,
            operation: job.parameters.operation(),
            asynchronous: job.asynchronous,
            unflushed: (!job.is_flushed()).then(|| job.clone()),
        }
    }
}

/// Writes the upload to where it is kept, and submits the job.
///
/// A task of its own does that, so a client that disconnects cannot interrupt it. The guard is made when the statement
/// has ended. If the client is gone by then, nobody takes the guard, and dropping it cancels the job, unless the job
/// outlives its client.
async fn submit(
    app: &App,
    job: NewJob,
    upload: Option<Upload>,
    outlives_client: bool,
) -> Result<(SubmittedJob, CancelOnDisconnect), Problem> {
    let (sender, submitted) = oneshot::channel();
    let task = {
        let app = app.clone();
        async move {
            let result = place_and_submit(&app, job, upload, outlives_client).await;
            drop(sender.send(result));
        }
    };
    app.tasks.spawn(task.instrument(Span::current()));
    submitted.await.map_err(|_| Problem::internal("the task that submits the job panicked"))?
}

/// The object of an upload outside the database exists before its job does, so a job never starts without its upload.
async fn place_and_submit(
    app: &App,
    job: NewJob,
    upload: Option<Upload>,
    outlives_client: bool,
) -> Result<(SubmittedJob, CancelOnDisconnect), Problem> {
    let upload = match upload {
        Some(upload) => Some(app.uploads.place(job.id, upload).await?),
        None => None,
    };
    let job = Arc::new(NewJob { upload, ..job });
    match retry_transient(|_| app.submissions.submit(job.clone())).await {
        Ok(submitted) => {
            if submitted == Submitted::Exists {
                release(app, &job).await; // the job may have the upload of an earlier request
            }
            Ok((SubmittedJob::of(&job), CancelOnDisconnect::new(app, &job, outlives_client)))
        }
        Err(error @ SubmitError::QueueFull(_)) => {
            release(app, &job).await; // the job certainly does not exist
            Err(error.into())
        }
        Err(error) => {
            drop(CancelOnDisconnect::new(app, &job, outlives_client)); // the job may exist
            Err(error.into())
        }
    }
}

/// Deletes the upload that was written for a job, unless the job has it. If that cannot be found out, the sweep of the
/// workers decides it later.
async fn release(app: &App, job: &NewJob) {
    if let Err(error) = app.uploads.release(&app.database.durable, job.id, job.upload.as_ref()).await {
        tracing::warn!(%error, "an upload whose job was not accepted is deleted later");
    }
}

/// The job, if it is that of an earlier request and has ended. Nothing will announce its end.
async fn ended_before(app: &App, job: &SubmittedJob, has_key: bool) -> Option<Job> {
    if !has_key {
        return None;
    }
    let LookupResult::Job(found) = look_up(app, job).await else { return None };
    found.state.is_final().then_some(*found)
}

/// Waits until the job has ended, the deadline has passed or the process has no more time. If a crash of Postgres lost
/// the job, submits it again. If the job has not ended, the caller is about to get a 202, so the job is flushed to disk first.
async fn wait_for(
    app: &App,
    job: &SubmittedJob,
    waiter: &mut Waiter,
    deadline: Instant,
) -> Result<LookupResult, Problem> {
    loop {
        match (waiter.until_ended(&app.lookups, deadline).await?, &job.unflushed) {
            (LookupResult::Job(ended), _) if ended.state.is_final() => return Ok(LookupResult::Job(ended)),
            (LookupResult::NotFound, Some(lost)) if Instant::now() < deadline => {
                tracing::warn!("the database has lost the job: submitting it again");
                retry_transient(|_| app.submissions.submit(lost.clone())).await?;
            }
            _ => {
                retry_transient(|_| acknowledge(app, job)).await?;
                return Ok(look_up(app, job).await);
            }
        }
    }
}

/// Flushes the job to disk. Submits it again if the database has lost it.
async fn acknowledge(app: &App, job: &SubmittedJob) -> Result<(), SubmitError> {
    let is_known = store::acknowledge(&app.database.volatile, job.id).await.map_err(GroupError::from)?;
    if let (false, Some(lost)) = (is_known, &job.unflushed) {
        let job = NewJob { asynchronous: true, ..NewJob::clone(lost) };
        app.submissions.submit(Arc::new(job)).await?;
    }
    Ok(())
}

async fn look_up(app: &App, job: &SubmittedJob) -> LookupResult {
    match app.lookups.find(job.id).await {
        Ok(found) => found.map_or(LookupResult::NotFound, |job| LookupResult::Job(Box::new(job))),
        Err(error) => {
            tracing::warn!(%error, "the job was accepted, but cannot be read");
            LookupResult::Unavailable
        }
    }
}

fn respond(
    found: LookupResult,
    job: &SubmittedJob,
    context: &RequestContext,
    render: impl FnOnce(Job, Duration) -> Result<Response, Problem>,
) -> Result<Response, Problem> {
    let mut response = match found {
        // An asynchronous caller always gets a 202, even if the job has ended already.
        LookupResult::Job(found) if found.state.is_final() && !job.asynchronous => {
            render(*found, context.request.received_at.elapsed())?
        }
        LookupResult::Job(found) => document::accepted(*found, &context.request),
        LookupResult::Unavailable => {
            document::accepted(assumed_queued(job.id, job.operation), &context.request)
        }
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
    /// The guard is armed unless the job outlives its client.
    fn new(app: &App, job: &NewJob, outlives_client: bool) -> Self {
        Self { armed: (!outlives_client).then(|| (app.clone(), job.id, job.account_id)) }
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
                match store::cancel(&app.database.volatile, Guard::Queued { job, account_id }).await {
                    Ok(ends) if ends.any() => {
                        app.uploads.delete(ends.objects);
                        return cancelled::report(&app.database.volatile, job, By::Disconnect).await;
                    }
                    Ok(_) => {
                        tracing::debug!("the client disconnected, and its job has started or ended");
                        return;
                    }
                    Err(error) if may_recover(&error) && !app.is_draining() => {
                        tracing::debug!(%error, "cannot cancel a job now: trying again");
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
