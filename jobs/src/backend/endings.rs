//! Ends of attempts: outcomes and failures come in one by one; they are written in groups.

use sqlx::PgPool;

use crate::{
    backend::{
        connection::OwnConnection,
        group::{Group, GroupError, Statement},
    },
    store::{self, Ending, MAX_ENDINGS, Requeue},
};

/// Writes how attempts end; a handle.
#[derive(Debug, Clone)]
pub struct Endings {
    ends: Group<End>,
    requeues: Group<WaitAgain>,
}

struct End(OwnConnection);

impl Statement for End {
    type Item = Ending;
    type Reply = bool;
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, endings: &[Ending]) -> Result<Vec<bool>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let ended = store::end(&mut *db, endings).await;
        db.settle(ended)
    }
}

struct WaitAgain(OwnConnection);

impl Statement for WaitAgain {
    type Item = Requeue;
    type Reply = bool;
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, requeues: &[Requeue]) -> Result<Vec<bool>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let waiting = store::requeue(&mut *db, requeues).await;
        db.settle(waiting)
    }
}

impl Endings {
    /// Starts the tasks that write, each on a connection of its own like those of `db`, which have
    /// `synchronous_commit` off.
    pub fn start(db: &PgPool) -> Self {
        Self {
            ends: Group::start(End(OwnConnection::like(db))),
            requeues: Group::start(WaitAgain(OwnConnection::like(db))),
        }
    }

    /// Ends a job. `false`: its guard did not hold, and nothing was changed.
    pub async fn end(&self, ending: Ending) -> Result<bool, GroupError> {
        self.ends.execute(ending).await
    }

    /// Returns a job to its queue. `false`: another claim holds it, and nothing was changed.
    pub async fn requeue(&self, requeue: Requeue) -> Result<bool, GroupError> {
        self.requeues.execute(requeue).await
    }
}
