//! apalis's `Persistence` on the `jobs` table: tasks are pushed as submissions, and fetched as claims.

use std::{collections::HashMap, sync::Arc};

use apalis_core::{
    backend::persistence::{Persistence, TaskEvent},
    task::{Task, builder::TaskBuilder, task_id::TaskId},
    worker::context::WorkerContext,
};
use sqlx::PgPool;

use crate::{
    JobId, NewJob, Queue,
    backend::{
        admission::Admission,
        claims::{Claim, Claims},
        connection::OwnConnection,
        endings::Endings,
        group::GroupError,
        held::HeldClaims,
    },
    store::{self, Ending, Submitted},
};

/// What a task of this backend carries.
#[derive(Debug)]
pub enum JobTask {
    /// Pushed: a job to be submitted.
    New(Arc<NewJob>),
    /// Fetched: a job that this process has claimed.
    Claimed(Claim),
}

impl JobTask {
    /// A task that pushes a job.
    pub fn push(job: Arc<NewJob>) -> Task<Self> {
        let id = TaskId::from_uuid(job.id.0);
        TaskBuilder::new(Self::New(job)).task_id(id).build()
    }

    fn fetched(claim: Claim) -> Task<Self> {
        let fence = claim.fence();
        let task = TaskBuilder::new(Self::Claimed(claim)).task_id(TaskId::from_uuid(fence.job.0));
        task.attempt(usize::try_from(fence.attempt).unwrap_or(0)).build()
    }
}

/// Why a pushed job was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// As many jobs wait in the queue as its bound allows.
    QueueFull(Queue),
    /// A job with this id exists; it was not changed.
    Exists,
}

/// Why the backend could not do what apalis asked of it.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The database, or this process is stopping.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// Some of the pushed jobs; all others were accepted.
    #[error("{} of the pushed jobs were not accepted", .0.len())]
    NotAccepted(HashMap<JobId, Refusal>),
}

impl From<sqlx::Error> for QueueError {
    fn from(error: sqlx::Error) -> Self {
        Self::Group(error.into())
    }
}

/// The store that apalis drives. One that only submits has no consumer and fetches nothing.
#[derive(Debug, Clone)]
pub struct JobStore {
    db: PgPool,
    /// For submissions.
    connection: OwnConnection,
    admission: Admission,
    consumer: Option<Consumer>,
}

/// One queue's consumer in a worker process.
#[derive(Debug, Clone)]
struct Consumer {
    queue: Queue,
    claims: Claims,
    endings: Endings,
}

impl JobStore {
    /// A store to submit through. `db`'s connections have `synchronous_commit` off.
    pub fn to_submit(db: PgPool, admission: Admission) -> Self {
        Self { connection: OwnConnection::like(&db), db, admission, consumer: None }
    }

    /// A store to claim a queue's jobs through, at most as many at a time as `claims` has places for.
    pub fn to_consume(
        db: PgPool,
        admission: Admission,
        queue: Queue,
        claims: Claims,
        endings: Endings,
    ) -> Self {
        let consumer = Some(Consumer { queue, claims, endings });
        Self { consumer, ..Self::to_submit(db, admission) }
    }

    /// The queue it consumes.
    pub(super) fn queue(&self) -> Option<Queue> {
        self.consumer.as_ref().map(|consumer| consumer.queue)
    }

    /// What it holds, if it consumes.
    pub(super) fn held(&self) -> Option<&HeldClaims> {
        self.consumer.as_ref().map(|consumer| consumer.claims.held(consumer.queue))
    }

    /// Where its jobs lie.
    pub(super) const fn db(&self) -> &PgPool {
        &self.db
    }

    /// Which of the jobs their queues take, and the others.
    async fn admit(
        &self,
        jobs: Vec<Arc<NewJob>>,
    ) -> Result<(Vec<Arc<NewJob>>, HashMap<JobId, Refusal>), sqlx::Error> {
        let (mut admitted, mut refused) = (Vec::with_capacity(jobs.len()), HashMap::new());
        for queue in Queue::ALL {
            let of_queue = |job: &&Arc<NewJob>| job.parameters.operation().queue() == queue;
            let n_new = jobs.iter().filter(of_queue).count();
            if n_new == 0 {
                continue;
            }
            let n_admitted = self.admission.admit(&self.db, queue, n_new).await?;
            let mut of_queue = jobs.iter().filter(of_queue);
            admitted.extend(of_queue.by_ref().take(n_admitted).cloned());
            refused.extend(of_queue.map(|job| (job.id, Refusal::QueueFull(queue))));
        }
        Ok((admitted, refused))
    }
}

impl Persistence for JobStore {
    type Compact = JobTask;
    type Response = Ending;
    type Error = QueueError;

    async fn register(&mut self, worker: &WorkerContext) -> Result<(), QueueError> {
        self.heartbeat(worker).await
    }

    async fn heartbeat(&mut self, _: &WorkerContext) -> Result<(), QueueError> {
        match &self.consumer {
            Some(consumer) => Ok(store::beat(&self.db, consumer.claims.worker()).await?),
            None => Ok(()),
        }
    }

    async fn fetch_next(&mut self, _: &WorkerContext) -> Result<Vec<Task<JobTask>>, QueueError> {
        let Some(consumer) = &self.consumer else { return Ok(Vec::new()) };
        match consumer.claims.held(consumer.queue).n_free() {
            0 => Ok(Vec::new()),
            n_free => {
                let claims = consumer.claims.claim(consumer.queue, n_free).await?;
                Ok(claims.into_iter().map(JobTask::fetched).collect())
            }
        }
    }

    /// The tasks that apalis fetched and did not start. Dropped, each claim goes to the worker's list of
    /// claims to attempt (see [`Claim`]).
    async fn reenqueue_abandoned(
        &mut self,
        tasks: Vec<Task<JobTask>>,
        _: &WorkerContext,
    ) -> Result<u64, QueueError> {
        Ok(tasks.len() as u64)
    }

    async fn handle_events(
        &mut self,
        events: Vec<TaskEvent<Ending>>,
        _: &WorkerContext,
    ) -> Result<(), QueueError> {
        let Some(consumer) = &self.consumer else { return Ok(()) };
        for event in events {
            if let TaskEvent::Complete(completed) = event
                && let Ok(ending) = completed.take()
            {
                consumer.endings.end(ending).await?;
            }
        }
        Ok(())
    }

    async fn push_tasks(&mut self, tasks: Vec<Task<JobTask>>) -> Result<(), QueueError> {
        let new = tasks.into_iter().filter_map(|task| match task.args {
            JobTask::New(job) => Some(job),
            JobTask::Claimed(_) => None, // dropped, and so attempted
        });
        let (admitted, mut refused) = self.admit(new.collect()).await?;
        if !admitted.is_empty() {
            let jobs: Vec<&NewJob> = admitted.iter().map(|job| &**job).collect();
            let mut db = self.connection.acquire().await?;
            let submitted = store::submit(&mut *db, &jobs).await;
            let submitted = db.settle(submitted)?;
            let existing = jobs.iter().zip(submitted).filter(|(_, s)| *s == Submitted::Exists);
            refused.extend(existing.map(|(job, _)| (job.id, Refusal::Exists)));
        }
        if refused.is_empty() { Ok(()) } else { Err(QueueError::NotAccepted(refused)) }
    }
}
