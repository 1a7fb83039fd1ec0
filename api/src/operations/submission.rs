//! Submits the job of a request and waits for its end: a job that may be submitted comes in, and the job as it is when
//! the request is answered goes out.

use std::{collections::BTreeMap, fmt::Display, sync::Arc, time::Duration};

use akhar_jobs::{
    JobId, JobState, JobUpload, NewJob,
    backend::{BatchError, SubmitError},
    store::{self, Submitted},
};
use akhar_platform::{
    database::{Transient as _, retry_transient},
    metrics,
    telemetry::traces::{self, Messaging},
};
use akhar_requests::{Job, Operation, Upload};
use chrono::{DateTime, Utc};
use tokio::{sync::oneshot, time::Instant};
use tracing::{Instrument as _, Span};

use super::{disconnect::CancelOnDisconnect, intake::Admitted};
use crate::{
    app::App,
    problems::{Problem, ProblemType},
    waiting::waiters::Waiter,
};

/// The problem of a request whose job was deleted while the request waited for it.
const DELETED: Problem = Problem::of(ProblemType::JobDeleted);

/// A job that was submitted for a request. If it is dropped before the request is answered and before the job has
/// started, the job is cancelled.
pub(crate) struct Submission {
    app: App,
    pub(crate) id: JobId,
    operation: Operation,
    has_key: bool,
    /// The whole job, if a crash of Postgres can lose it. A job that is on disk is not kept, because its upload is large
    /// and the caller may wait for minutes.
    unflushed: Option<Arc<NewJob>>,
    pub(crate) waiter: Waiter,
    pub(crate) cancel_on_disconnect: CancelOnDisconnect,
}

impl Submission {
    /// Writes the upload to where it is kept, and submits the job.
    ///
    /// A task of its own does that, so a client that disconnects cannot interrupt it. The guard is made when the
    /// statement has ended. If the client is gone by then, nobody takes the guard, and dropping it cancels the job,
    /// unless the job outlives its client.
    pub(super) async fn submit(app: &App, admitted: Admitted) -> Result<Self, Problem> {
        let Admitted { operation, mut job, upload, has_key, is_submitted } = admitted;
        let id = job.id;
        let queue = job.work.queue;
        let mode = if job.asynchronous { "async" } else { "sync" };
        let waiter = app.waiters.subscribe(id);
        let outlives_client = has_key || job.webhook_url.is_some();
        let (sender, submitted) = oneshot::channel();
        let span = tracing::info_span!(target: traces::TARGET, "send");
        traces::describe_message(&span, Messaging::Send, queue.name(), id);
        job.traceparent = traces::context(&span).or(job.traceparent);
        let task = {
            let app = app.clone();
            async move {
                let submitted = if is_submitted {
                    let guard = CancelOnDisconnect::new(&app, &job, outlives_client);
                    Ok((Arc::new(job), guard))
                } else {
                    place_and_submit(&app, job, upload, outlives_client).await
                };
                if let Err(problem) = &submitted {
                    traces::fail(&Span::current(), problem.problem_type().facts().slug);
                }
                // The receiver is gone if the client has disconnected.
                let _ = sender.send(submitted);
            }
        };
        // Without a collector, the span of the message is none.
        app.tasks.spawn(task.instrument(span).instrument(Span::current()));
        let submitted = submitted.await;
        let (job, cancel_on_disconnect) =
            submitted.map_err(|_| Problem::internal("the task that submits the job panicked"))??;
        metrics::JOBS_SUBMITTED.add_one([operation.name(), mode]);
        let unflushed = (!is_submitted && !job.is_flushed()).then_some(job);
        Ok(Self { app: app.clone(), id, operation, has_key, unflushed, waiter, cancel_on_disconnect })
    }

    /// The job when it has ended, or after `wait`. If it has not ended, the caller is about to get a 202, so the job is
    /// on disk then. The job then goes on without its client.
    pub(super) async fn job_within(mut self, wait: Duration) -> Result<Job, Problem> {
        let job = if wait.is_zero() {
            self.accepted().await?
        } else {
            self.ended_by(Instant::now() + wait).await?
        };
        self.cancel_on_disconnect.disarm();
        Ok(job)
    }

    /// The job of a caller that does not wait. It was flushed to disk when it was submitted, unless it is that of an
    /// earlier request that waited.
    async fn accepted(&mut self) -> Result<Job, Problem> {
        if self.has_key {
            self.acknowledge().await?;
        }
        self.look_up().await
    }

    /// Waits until the job has ended, the deadline has passed or the process has no more time. If a crash of Postgres
    /// lost the job, submits it again.
    async fn ended_by(&mut self, deadline: Instant) -> Result<Job, Problem> {
        // Nothing will announce the end of an earlier request's job that has ended.
        if self.has_key
            && let Ok(Some(ended)) = self.app.lookups.find(self.id).await
            && ended.state.is_final()
        {
            return Ok(akhar_requests::job(ended)?);
        }
        loop {
            match (self.waiter.until_ended(&self.app.lookups, deadline).await, self.unflushed.clone()) {
                (Ok(Some(job)), _) if job.state.is_final() => return Ok(akhar_requests::job(job)?),
                (Ok(None), _) if self.is_deleted().await? => return Err(DELETED),
                (Ok(None), Some(lost)) if Instant::now() < deadline => {
                    tracing::warn!("the database has lost the job: submitting it again");
                    let again = retry_transient(|_| self.app.submissions.submit(lost.clone())).await?;
                    // Its upload is that of another job.
                    if again == Submitted::Exists && self.app.lookups.find(self.id).await?.is_none() {
                        return Err(DELETED);
                    }
                }
                (Err(error), _) if !error.is_transient() => return Err(error.into()),
                _ => {
                    self.acknowledge().await?;
                    return self.look_up().await;
                }
            }
        }
    }

    /// Whether the job was deleted, so that the database has not lost it.
    async fn is_deleted(&self) -> Result<bool, Problem> {
        Ok(retry_transient(|_| store::is_deleted(&self.app.database.pool, self.id, None)).await?)
    }

    /// Flushes the job to disk. Submits it again if the database has lost it.
    pub(super) async fn acknowledge(&mut self) -> Result<(), Problem> {
        retry_transient(|_| flush(&self.app, self.id, self.unflushed.as_deref())).await?;
        self.unflushed = None;
        Ok(())
    }

    /// The job as it is now. An accepted job that cannot be read is assumed to be queued.
    async fn look_up(&self) -> Result<Job, Problem> {
        let assume = |error: &dyn Display| {
            tracing::warn!(%error, "the job was accepted, but cannot be read");
            assumed_queued(self.id, self.operation)
        };
        match self.app.lookups.find(self.id).await {
            Ok(Some(stored)) => Ok(akhar_requests::job(stored).unwrap_or_else(|error| assume(&error))),
            Ok(None) => Err(DELETED),
            Err(error) => Ok(assume(&error)),
        }
    }
}

/// The object of an upload outside the database exists before its job does, so a job never starts without its upload.
async fn place_and_submit(
    app: &App,
    mut job: NewJob,
    upload: Option<Upload>,
    outlives_client: bool,
) -> Result<(Arc<NewJob>, CancelOnDisconnect), Problem> {
    if let Some(upload) = upload {
        let content = app.uploads.place(job.id, upload.bytes).await?;
        job.upload = Some(JobUpload { media_type: upload.media_type.name().to_owned(), content });
    }
    let job = Arc::new(job);
    match retry_transient(|_| app.submissions.submit(job.clone())).await {
        Ok(submitted) => {
            if submitted == Submitted::Exists {
                release(app, &job).await; // the job may have the upload of an earlier request
            }
            let guard = CancelOnDisconnect::new(app, &job, outlives_client);
            Ok((job, guard))
        }
        Err(error @ SubmitError::QueueFull(_)) => {
            release(app, &job).await; // the job does not exist
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
    if let Err(error) = app.uploads.release(&app.database.pool, job.id, job.upload.as_ref()).await {
        tracing::warn!(%error, "an upload whose job was not accepted is deleted later");
    }
}

async fn flush(app: &App, id: JobId, unflushed: Option<&NewJob>) -> Result<(), SubmitError> {
    let is_known = store::acknowledge(&app.database.pool, id).await.map_err(BatchError::from)?;
    if let (false, Some(lost)) = (is_known, unflushed) {
        let job = NewJob { asynchronous: true, ..lost.clone() };
        app.submissions.submit(Arc::new(job)).await?;
    }
    Ok(())
}

/// A job as it is when it was just accepted. Its id contains the time of its creation.
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
        progress_s: None,
        is_kept_until_delivery: false,
        group: None,
        labels: BTreeMap::new(),
    }
}
