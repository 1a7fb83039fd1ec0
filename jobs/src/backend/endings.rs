//! Ends of attempts: outcomes and failures come in one by one; they are written in groups.

use sqlx::PgPool;

use crate::{
    backend::group::{Group, GroupError, Statement},
    store::{self, Ending, MAX_ENDINGS, Requeue},
};

/// Writes how attempts end; a handle.
#[derive(Debug, Clone)]
pub struct Endings {
    ends: Group<End>,
    requeues: Group<WaitAgain>,
}

struct End(PgPool);

impl Statement for End {
    type Item = Ending;
    type Reply = bool;
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, endings: &[Ending]) -> Result<Vec<bool>, sqlx::Error> {
        store::end(&self.0, endings).await
    }
}

struct WaitAgain(PgPool);

impl Statement for WaitAgain {
    type Item = Requeue;
    type Reply = bool;
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, requeues: &[Requeue]) -> Result<Vec<bool>, sqlx::Error> {
        store::requeue(&self.0, requeues).await
    }
}

impl Endings {
    /// Starts the tasks that write. `db`'s connections have `synchronous_commit` off.
    pub fn start(db: &PgPool) -> Self {
        Self { ends: Group::start(End(db.clone())), requeues: Group::start(WaitAgain(db.clone())) }
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
