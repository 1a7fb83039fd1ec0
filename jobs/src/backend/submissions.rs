//! Submits new jobs, many of them with one statement. Each caller gets the result of its own job.
//!
//! Each queue has a group of its own. Otherwise a picture would wait until the recordings before it are written, which
//! are hundreds of times larger.

use std::sync::Arc;

use apalis_core::backend::persistence::Persistence as _;

use crate::{
    NewJob, Queue,
    backend::{
        admission::QueueFull,
        group::{Group, GroupError, Statement},
        persistence::{JobStore, JobTask, QueueError, Refusal},
    },
    store::Submitted,
};

/// Why a job was not accepted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// Too many jobs wait in the queue.
    #[error("the {} queue is full", .0.queue.name())]
    QueueFull(QueueFull),
    /// A statement failed, or this process is stopping. The job may or may not exist.
    #[error(transparent)]
    Group(#[from] GroupError),
}

/// A handle on the tasks that submit jobs, one for each queue in the order of [`Queue::ALL`].
#[derive(Debug, Clone)]
pub struct Submissions([Group<Push>; Queue::ALL.len()]);

struct Push(JobStore);

impl Statement for Push {
    type Item = Arc<NewJob>;
    type Reply = Result<Submitted, QueueFull>;
    const NAME: &'static str = "submit";
    const MAX_ITEMS: usize = 128;

    fn n_bytes(job: &Arc<NewJob>) -> usize {
        job.n_row_bytes()
    }

    async fn execute(&self, jobs: &[Arc<NewJob>]) -> Result<Vec<Self::Reply>, sqlx::Error> {
        let tasks = jobs.iter().cloned().map(JobTask::push).collect();
        let refused = match self.0.clone().push_tasks(tasks).await {
            Ok(()) => return Ok(vec![Ok(Submitted::Accepted); jobs.len()]),
            Err(QueueError::NotAccepted(refused)) => refused,
            Err(QueueError::Group(GroupError::Database(error))) => return Err(unwrap_shared(error)),
            Err(QueueError::Group(GroupError::Stopped)) => return Err(sqlx::Error::WorkerCrashed),
        };
        let answer = |job: &Arc<NewJob>| match refused.get(&job.id) {
            None => Ok(Submitted::Accepted),
            Some(Refusal::Exists) => Ok(Submitted::Exists),
            Some(Refusal::QueueFull(full)) => Err(*full),
        };
        Ok(jobs.iter().map(answer).collect())
    }
}

/// Takes the error out of its `Arc`, which has no other owner here.
fn unwrap_shared(error: Arc<sqlx::Error>) -> sqlx::Error {
    Arc::try_unwrap(error).unwrap_or_else(|shared| sqlx::Error::Protocol(shared.to_string()))
}

impl Submissions {
    /// Starts the tasks that submit jobs as `store` does. Each uses its own connection.
    pub fn start(store: &JobStore) -> Self {
        Self(Queue::ALL.map(|_| Group::start(Push(store.with_own_connection()))))
    }

    /// Submits a job. It is on disk when this returns if [`NewJob::is_flushed`]. Otherwise it can be lost if Postgres
    /// crashes shortly afterwards, so the caller that waits for it must keep it and submit it again. Submitting a job
    /// twice is harmless.
    pub async fn submit(&self, job: Arc<NewJob>) -> Result<Submitted, SubmitError> {
        self.0[job.queue() as usize].execute(job).await?.map_err(SubmitError::QueueFull)
    }
}

impl From<sqlx::Error> for SubmitError {
    fn from(error: sqlx::Error) -> Self {
        Self::Group(error.into())
    }
}
