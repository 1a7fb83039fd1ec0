//! Submits new jobs, many of them with one statement. Each caller gets the result of its own job.
//!
//! Each queue has batches of its own. Otherwise a picture would wait until the recordings before it are written, which
//! are hundreds of times larger.

use std::sync::Arc;

use akhar_platform::database::{Pool, Transient};
use apalis_core::{
    backend::persistence::{Persistence, TaskEvent},
    task::Task,
    worker::context::WorkerContext,
};
use sqlx::PgConnection;

use crate::{
    JobId, NewJob, Queue,
    backend::{
        admission::{Admission, QueueFull},
        batch::{Batch, BatchError, Statement},
    },
    queue::ByQueue,
    store::{self, Submitted},
};

/// Why a job was not accepted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// Too many jobs wait in the queue, and the job is not one of them.
    #[error("the {} queue is full", .0.queue.name())]
    QueueFull(QueueFull),
    /// A statement failed, or this process is stopping. The job may or may not exist.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

impl From<sqlx::Error> for SubmitError {
    fn from(error: sqlx::Error) -> Self {
        Self::Batch(error.into())
    }
}

impl Transient for SubmitError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Batch(error) => error.is_transient(),
            Self::QueueFull(_) => false,
        }
    }
}

/// The result of submitting one job.
pub type SubmitResult = Result<Submitted, SubmitError>;

/// These of the pushed jobs were not accepted. All others were accepted.
#[derive(Debug, thiserror::Error)]
#[error("{} of the pushed jobs were not accepted", .0.len())]
pub struct NotAccepted(pub Vec<(JobId, SubmitResult)>);

/// The side of the queue that submits jobs, as apalis's [`Persistence`]: pushing a task submits its job. It is a handle
/// on the tasks that submit, one for each queue.
#[derive(Debug, Clone)]
pub struct Submissions(ByQueue<Batch<Submit>>);

/// Submits jobs of one queue.
struct Submit {
    queue: Queue,
    admission: Admission,
    /// Where the admission counts jobs.
    db: Pool,
}

impl Statement for Submit {
    type Item = Arc<NewJob>;
    type Reply = Result<Submitted, QueueFull>;
    const NAME: &'static str = "submit";
    const MAX_ITEMS: usize = 128;

    fn n_bytes(job: &Arc<NewJob>) -> usize {
        job.n_row_bytes()
    }

    async fn execute(
        &self,
        db: &mut PgConnection,
        jobs: &[Arc<NewJob>],
    ) -> Result<Vec<Self::Reply>, sqlx::Error> {
        let decisions = self.admission.admit(&self.db, self.queue, jobs).await?;
        let (accepted, refused): (Vec<_>, Vec<_>) =
            jobs.iter().zip(&decisions).partition(|(_, decision)| decision.is_ok());
        let accepted: Vec<&NewJob> = accepted.into_iter().map(|(job, _)| &**job).collect();
        let mut submitted = store::submit(db, &accepted).await?.into_iter();
        let refused: Vec<&NewJob> = refused.into_iter().map(|(job, _)| &**job).collect();
        // A full queue refuses no job that is in it already: its statement succeeded, and the answer was lost.
        let existing = store::submitted(db, &refused).await?;
        let reply = |(job, decision): (&Arc<NewJob>, Result<(), QueueFull>)| match decision {
            Ok(()) => Ok(submitted.next().unwrap_or(Submitted::Exists)),
            Err(_) if existing.contains(&job.id) => Ok(Submitted::Exists),
            Err(full) => Err(full),
        };
        Ok(jobs.iter().zip(decisions).map(reply).collect())
    }
}

impl Submissions {
    /// Starts the tasks that submit the jobs that `admission` accepts. Each uses its own connection with the options of
    /// `db`.
    pub fn start(db: &Pool, admission: &Admission) -> Self {
        let submit = |queue| Submit { queue, admission: admission.clone(), db: db.clone() };
        Self(ByQueue::new(admission.queues(), |queue| Batch::start(db.of_task(), submit(queue))))
    }

    /// Pushes one job. It is on disk when this returns if [`NewJob::is_flushed`]. Otherwise it can be lost if Postgres
    /// crashes shortly afterwards, so the caller that waits for it must keep it and submit it again. Submitting a job
    /// twice is harmless.
    pub async fn submit(&self, job: Arc<NewJob>) -> SubmitResult {
        match self.clone().push_tasks(vec![Task::from(job)]).await {
            Ok(()) => Ok(Submitted::Accepted),
            Err(NotAccepted(mut refused)) => {
                refused.pop().map_or(Err(BatchError::Stopped.into()), |(_, result)| result)
            }
        }
    }
}

impl Persistence for Submissions {
    type Compact = Arc<NewJob>;
    type Response = ();
    type Error = NotAccepted;

    async fn push_tasks(&mut self, tasks: Vec<Task<Arc<NewJob>>>) -> Result<(), NotAccepted> {
        let jobs: Vec<_> = tasks.into_iter().map(|task| task.args).collect();
        let mut refused = Vec::new();
        for (queue, batch) in self.0.iter() {
            let of_queue: Vec<_> = jobs.iter().filter(|job| job.queue() == queue).cloned().collect();
            if of_queue.is_empty() {
                continue;
            }
            let results = batch.execute_all(of_queue.clone()).await;
            let results = results.into_iter().map(|result| result?.map_err(SubmitError::QueueFull));
            let results = of_queue.iter().map(|job| job.id).zip(results);
            refused.extend(results.filter(|(_, result)| !matches!(result, Ok(Submitted::Accepted))));
        }
        if refused.is_empty() { Ok(()) } else { Err(NotAccepted(refused)) }
    }

    // A submitter is not a worker: it fetches nothing and has no events.

    async fn register(&mut self, _: &WorkerContext) -> Result<(), NotAccepted> {
        Ok(())
    }

    async fn heartbeat(&mut self, _: &WorkerContext) -> Result<(), NotAccepted> {
        Ok(())
    }

    async fn fetch_next(&mut self, _: &WorkerContext) -> Result<Vec<Task<Arc<NewJob>>>, NotAccepted> {
        Ok(Vec::new())
    }

    async fn reenqueue_abandoned(
        &mut self,
        _: Vec<Task<Arc<NewJob>>>,
        _: &WorkerContext,
    ) -> Result<u64, NotAccepted> {
        Ok(0)
    }

    async fn handle_events(&mut self, _: Vec<TaskEvent<()>>, _: &WorkerContext) -> Result<(), NotAccepted> {
        Ok(())
    }
}
