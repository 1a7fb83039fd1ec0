//! Writes how attempts end, many of them with one statement: a job ends, or returns to its queue for a retry.

use sqlx::PgPool;

use crate::{
    backend::{
        connection::DedicatedConnection,
        group::{Group, GroupError, Statement},
    },
    store::{self, Ending, MAX_ENDINGS, Requeue},
};

/// A handle on the tasks that write how attempts end.
#[derive(Debug, Clone)]
pub struct Endings {
    ends: Group<EndJobs>,
    requeues: Group<RequeueJobs>,
}

struct EndJobs(DedicatedConnection);

impl Statement for EndJobs {
    type Item = Ending;
    type Reply = bool;
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, endings: &[Ending]) -> Result<Vec<bool>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let ended = store::end(&mut *db, endings).await;
        db.release(ended)
    }
}

struct RequeueJobs(DedicatedConnection);

impl Statement for RequeueJobs {
    type Item = Requeue;
    type Reply = bool;
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, requeues: &[Requeue]) -> Result<Vec<bool>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let done = store::requeue(&mut *db, requeues).await;
        db.release(done)
    }
}

impl Endings {
    /// Starts the tasks that write. Each uses its own connection with the options of `db`, which must have
    /// `synchronous_commit` off.
    pub fn start(db: &PgPool) -> Self {
        Self {
            ends: Group::start(EndJobs(DedicatedConnection::like(db))),
            requeues: Group::start(RequeueJobs(DedicatedConnection::like(db))),
        }
    }

    /// Ends a job. Returns `false` if the ending's guard was not met; then nothing was changed.
    pub async fn end(&self, ending: Ending) -> Result<bool, GroupError> {
        self.ends.execute(ending).await
    }

    /// Returns a job to its queue. Returns `false` if the claim is no longer current; then nothing was changed.
    pub async fn requeue(&self, requeue: Requeue) -> Result<bool, GroupError> {
        self.requeues.execute(requeue).await
    }
}
