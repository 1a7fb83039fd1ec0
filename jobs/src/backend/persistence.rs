//! Implements apalis's `Persistence` on the `jobs` table: pushing a task submits a job, fetching claims jobs.

use std::{collections::HashMap, sync::Arc};

use apalis_core::{
    backend::persistence::{Persistence, TaskEvent},
    task::{Task, builder::TaskBuilder, task_id::TaskId},
    worker::context::WorkerContext,
};
use sqlx::{Connection as _, PgPool};

use crate::{
    AdmittedJob, JobId, NewJob, Queue,
    backend::{
        admission::{Admission, QueueFull},
        claims::{Claim, Claims},
        connection::DedicatedConnection,
        endings::Endings,
        group::GroupError,
        held::HeldClaims,
    },
    store::{self, Ending, Submitted},
};

/// The most bytes of uploads in a statement after which the connection keeps its buffers. Larger ones are freed, because
/// a connection would keep them for ever.
const MAX_KEPT_BUFFER: usize = 1024 * 1024;

/// The payload of a task of this backend.
#[derive(Debug)]
pub enum JobTask {
    /// A job to be submitted, in a task that is pushed.
    New(Arc<NewJob>),
    /// A job that this process has claimed, in a task that was fetched.
    Claimed(Claim),
}

impl JobTask {
    /// A task that submits `job` when it is pushed.
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
    /// Too many jobs wait in the queue.
    QueueFull(QueueFull),
    /// A job with this id exists already. It was not changed.
    Exists,
}

/// An error of the backend.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A statement failed, or this process is stopping.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// These jobs were not accepted. All other pushed jobs were accepted.
    #[error("{} of the pushed jobs were not accepted", .0.len())]
    NotAccepted(HashMap<JobId, Refusal>),
}

impl From<sqlx::Error> for QueueError {
    fn from(error: sqlx::Error) -> Self {
        Self::Group(error.into())
    }
}

/// The store that apalis uses. A store that only submits has no consumer and fetches nothing.
#[derive(Debug, Clone)]
pub struct JobStore {
    db: PgPool,
    /// The connection for submissions.
    connection: DedicatedConnection,
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
    /// A store that only submits jobs. The connections of `db` must have `synchronous_commit` off.
    pub fn to_submit(db: PgPool, admission: Admission) -> Self {
        Self { connection: DedicatedConnection::like(&db), db, admission, consumer: None }
    }

    /// A store that also claims jobs of `queue`. `claims` limits how many are claimed at a time.
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

    /// The same store with a connection of its own, so that its submissions do not wait for those of this one.
    pub(super) fn with_own_connection(&self) -> Self {
        Self { connection: DedicatedConnection::like(&self.db), ..self.clone() }
    }

    /// The queue that jobs are claimed from. `None` if the store only submits.
    pub(super) fn queue(&self) -> Option<Queue> {
        self.consumer.as_ref().map(|consumer| consumer.queue)
    }

    /// The claims held of that queue. `None` if the store only submits.
    pub(super) fn held(&self) -> Option<&HeldClaims> {
        self.consumer.as_ref().map(|consumer| consumer.claims.held(consumer.queue))
    }

    /// The database that holds the jobs.
    pub(super) const fn db(&self) -> &PgPool {
        &self.db
    }

    /// Splits jobs into those that their queues accept and those that they refuse.
    async fn admit(
        &self,
        jobs: Vec<Arc<NewJob>>,
    ) -> Result<(Vec<AdmittedJob>, HashMap<JobId, Refusal>), sqlx::Error> {
        let (mut admitted, mut refused) = (Vec::with_capacity(jobs.len()), HashMap::new());
        for queue in Queue::ALL {
            let of_queue: Vec<_> = jobs.iter().filter(|job| job.queue() == queue).cloned().collect();
            if of_queue.is_empty() {
                continue;
            }
            let (admitted_here, refused_here) = self.admission.admit(&self.db, queue, of_queue).await?;
            admitted.extend(admitted_here);
            refused.extend(refused_here.into_iter().map(|(job, full)| (job.id, Refusal::QueueFull(full))));
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
            Some(consumer) => Ok(store::beat(&self.db, consumer.claims.worker()).await.map(drop)?),
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

    /// Called with the tasks that apalis fetched and did not start. Dropping a task sends its claim to the worker,
    /// which attempts it (see [`Claim`]).
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
            JobTask::Claimed(_) => None, // dropping the claim makes the worker attempt it
        });
        let (admitted, mut refused) = self.admit(new.collect()).await?;
        if !admitted.is_empty() {
            let mut db = self.connection.acquire().await?;
            let submitted = store::submit(&mut db, &admitted).await;
            if admitted.iter().map(|admitted| admitted.job.n_row_bytes()).sum::<usize>() > MAX_KEPT_BUFFER {
                db.shrink_buffers();
            }
            let submitted = db.release(submitted)?;
            let existing = admitted.iter().zip(submitted).filter(|(_, s)| *s == Submitted::Exists);
            refused.extend(existing.map(|(admitted, _)| (admitted.job.id, Refusal::Exists)));
        }
        if refused.is_empty() { Ok(()) } else { Err(QueueError::NotAccepted(refused)) }
    }
}
