//! Reads the jobs that requests wait for, many of them with one statement.

use std::collections::HashMap;

use sqlx::PgPool;

use crate::{
    Job, JobId,
    backend::{
        connection::DedicatedConnection,
        group::{Group, GroupError, Statement},
    },
    store,
};

/// A handle on the task that reads jobs.
#[derive(Debug, Clone)]
pub struct Lookups(Group<Find>);

struct Find(DedicatedConnection);

impl Statement for Find {
    type Item = JobId;
    type Reply = Option<Job>;
    const NAME: &'static str = "lookup";
    const MAX_ITEMS: usize = 256;

    async fn execute(&self, ids: &[JobId]) -> Result<Vec<Option<Job>>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let found = store::find_many(&mut db, ids).await;
        let found = db.release(found)?;
        let mut found: HashMap<JobId, Job> = found.into_iter().map(|job| (job.id, job)).collect();
        // Two callers may ask for the same job. The last one takes it, the others get a copy.
        let is_asked_again = |at: usize| ids[at + 1..].contains(&ids[at]);
        let take = |(at, id): (usize, &JobId)| {
            if is_asked_again(at) { found.get(id).cloned() } else { found.remove(id) }
        };
        Ok(ids.iter().enumerate().map(take).collect())
    }
}

impl Lookups {
    /// Starts the task that reads. It uses its own connection with the options of `db`.
    pub fn start(db: &PgPool) -> Self {
        Self(Group::start(Find(DedicatedConnection::like(db))))
    }

    /// The current state of a job of any account. `None` if no job has this id.
    pub async fn find(&self, id: JobId) -> Result<Option<Job>, GroupError> {
        self.0.execute(id).await
    }
}
