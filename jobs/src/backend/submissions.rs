//! Submissions: new jobs come in one by one; they are pushed in groups, and each gets its own answer.

use std::sync::Arc;

use apalis_core::backend::persistence::Persistence as _;

use crate::{
    NewJob, Queue,
    backend::{
        group::{Group, GroupError, Statement},
        persistence::{JobStore, JobTask, QueueError, Refusal},
    },
    store::Submitted,
};

/// Why a job was not accepted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SubmitError {
    /// As many jobs wait as may.
    #[error("the {} queue is full", .0.name())]
    QueueFull(Queue),
    /// The database, or this process is stopping: the job may or may not exist.
    #[error(transparent)]
    Group(#[from] GroupError),
}

/// Submits jobs; a handle.
#[derive(Debug, Clone)]
pub struct Submissions(Group<Push>);

struct Push(JobStore);

impl Statement for Push {
    type Item = Arc<NewJob>;
    /// Or the queue that is full.
    type Reply = Result<Submitted, Queue>;
    const MAX_ITEMS: usize = 128;

    fn n_bytes(job: &Arc<NewJob>) -> usize {
        job.upload.as_ref().map_or(0, |upload| upload.bytes.len())
    }

    async fn execute(&self, jobs: &[Arc<NewJob>]) -> Result<Vec<Self::Reply>, sqlx::Error> {
        let tasks = jobs.iter().cloned().map(JobTask::push).collect();
        let refused = match self.0.clone().push_tasks(tasks).await {
            Ok(()) => return Ok(vec![Ok(Submitted::Accepted); jobs.len()]),
            Err(QueueError::NotAccepted(refused)) => refused,
            Err(QueueError::Group(GroupError::Database(error))) => return Err(unshared(error)),
            Err(QueueError::Group(GroupError::Stopped)) => return Err(sqlx::Error::WorkerCrashed),
        };
        let answer = |job: &Arc<NewJob>| match refused.get(&job.id) {
            None => Ok(Submitted::Accepted),
            Some(Refusal::Exists) => Ok(Submitted::Exists),
            Some(Refusal::QueueFull(queue)) => Err(*queue),
        };
        Ok(jobs.iter().map(answer).collect())
    }
}

/// The error itself; nobody else holds it.
fn unshared(error: Arc<sqlx::Error>) -> sqlx::Error {
    Arc::try_unwrap(error).unwrap_or_else(|shared| sqlx::Error::Protocol(shared.to_string()))
}

impl Submissions {
    /// Starts the task that pushes jobs into `store`.
    pub fn start(store: JobStore) -> Self {
        Self(Group::start(Push(store)))
    }

    /// Submits a job. An asynchronous job is on disk when this returns; any other is accepted, and may be
    /// lost if Postgres crashes in the moments after: whoever waits for it keeps it and submits it again.
    /// Submitting a job twice is harmless.
    pub async fn submit(&self, job: Arc<NewJob>) -> Result<Submitted, SubmitError> {
        self.0.execute(job).await?.map_err(SubmitError::QueueFull)
    }
}

impl From<sqlx::Error> for SubmitError {
    fn from(error: sqlx::Error) -> Self {
        Self::Group(error.into())
    }
}
