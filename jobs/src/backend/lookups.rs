//! Reads the jobs that requests wait for, and what is new about those that they follow, many with one statement.

use std::collections::HashMap;

use akhar_platform::database::Pool;
use sqlx::PgConnection;

use crate::{
    Job, JobId,
    backend::batch::{Batch, BatchError, Statement},
    store::{self, Cursor, Followed, WithArtifacts},
};

/// A handle on the tasks that read jobs.
#[derive(Debug, Clone)]
pub struct Lookups {
    finds: Batch<Find>,
    follows: Batch<Follow>,
}

struct Find {
    with_artifacts: WithArtifacts,
}

impl Statement for Find {
    type Item = JobId;
    type Reply = Option<Job>;
    const NAME: &'static str = "lookup";
    const MAX_ITEMS: usize = 256;

    async fn execute(&self, db: &mut PgConnection, ids: &[JobId]) -> Result<Vec<Option<Job>>, sqlx::Error> {
        let found = store::find_many(db, ids, self.with_artifacts).await?;
        let mut found: HashMap<JobId, Job> = found.into_iter().map(|job| (job.id, job)).collect();
        // Two callers may ask for the same job. The last one takes it, the others get a copy.
        let is_asked_again = |at: usize| ids[at + 1..].contains(&ids[at]);
        let take = |(at, id): (usize, &JobId)| {
            if is_asked_again(at) { found.get(id).cloned() } else { found.remove(id) }
        };
        Ok(ids.iter().enumerate().map(take).collect())
    }
}

struct Follow;

impl Statement for Follow {
    type Item = Cursor;
    type Reply = Option<Followed>;
    const NAME: &'static str = "follow";
    const MAX_ITEMS: usize = 256;

    async fn execute(
        &self,
        db: &mut PgConnection,
        cursors: &[Cursor],
    ) -> Result<Vec<Option<Followed>>, sqlx::Error> {
        store::follow(db, cursors).await
    }
}

impl Lookups {
    /// Starts the tasks that read. Each uses its own connection with the options of `db`.
    pub fn start(db: &Pool, with_artifacts: WithArtifacts) -> Self {
        let find = Find { with_artifacts };
        Self { finds: Batch::start(db.of_task(), find), follows: Batch::start(db.of_task(), Follow) }
    }

    /// The current state of a job of any account. `None` if no job has this id.
    pub async fn find(&self, id: JobId) -> Result<Option<Job>, BatchError> {
        self.finds.execute(id).await
    }

    /// What is new about a job of any account since the cursor. `None` if there is no such job.
    pub async fn follow(&self, cursor: Cursor) -> Result<Option<Followed>, BatchError> {
        self.follows.execute(cursor).await
    }
}
