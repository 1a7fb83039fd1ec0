//! Writes how attempts end, many of them with one statement: a job ends, or returns to its queue for a retry.

use akhar_platform::database::Pool;
use sqlx::PgConnection;

use crate::{
    backend::batch::{Batch, BatchError, Statement},
    store::{self, Ending, MAX_ENDINGS, Requeue},
    uploads::UploadStore,
};

/// A handle on the tasks that write how attempts end.
#[derive(Debug, Clone)]
pub struct Endings {
    ends: Batch<EndJobs>,
    requeues: Batch<RequeueJobs>,
}

struct EndJobs {
    uploads: UploadStore,
}

impl Statement for EndJobs {
    type Item = Ending;
    type Reply = bool;
    const NAME: &'static str = "end";
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, db: &mut PgConnection, endings: &[Ending]) -> Result<Vec<bool>, sqlx::Error> {
        let ends = store::end(db, endings).await?;
        self.uploads.delete(ends.objects);
        Ok(ends.met)
    }
}

struct RequeueJobs;

impl Statement for RequeueJobs {
    type Item = Requeue;
    type Reply = bool;
    const NAME: &'static str = "requeue";
    const MAX_ITEMS: usize = MAX_ENDINGS;

    async fn execute(&self, db: &mut PgConnection, requeues: &[Requeue]) -> Result<Vec<bool>, sqlx::Error> {
        store::requeue(db, requeues).await
    }
}

impl Endings {
    /// Starts the tasks that write. Each uses its own connection with the options of `db`. The uploads of ended jobs are
    /// deleted from `uploads`.
    pub fn start(db: &Pool, uploads: UploadStore) -> Self {
        Self {
            ends: Batch::start(db.of_task(), EndJobs { uploads }),
            requeues: Batch::start(db.of_task(), RequeueJobs),
        }
    }

    /// Ends a job. Returns `false` if the ending's guard was not met; then nothing was changed.
    pub async fn end(&self, ending: Ending) -> Result<bool, BatchError> {
        self.ends.execute(ending).await
    }

    /// Returns a job to its queue. Returns `false` if the claim is no longer current; then nothing was changed.
    pub async fn requeue(&self, requeue: Requeue) -> Result<bool, BatchError> {
        self.requeues.execute(requeue).await
    }
}
