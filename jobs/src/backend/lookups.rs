//! Lookups: ids of jobs come in one by one from those who wait for them; they are read in groups.

use std::collections::HashMap;

use sqlx::PgPool;

use crate::{
    Job, JobId,
    backend::{
        connection::OwnConnection,
        group::{Group, GroupError, Statement},
    },
    store,
};

/// Looks jobs up; a handle.
#[derive(Debug, Clone)]
pub struct Lookups(Group<Find>);

struct Find(OwnConnection);

impl Statement for Find {
    type Item = JobId;
    type Reply = Option<Job>;
    const MAX_ITEMS: usize = 256;

    async fn execute(&self, ids: &[JobId]) -> Result<Vec<Option<Job>>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let found = store::find_many(&mut db, ids).await;
        let found = db.settle(found)?;
        let mut found: HashMap<JobId, Job> = found.into_iter().map(|job| (job.id, job)).collect();
        // Two may wait for one job.
        let n_left = |at: usize| ids[at + 1..].contains(&ids[at]);
        let take =
            |(at, id): (usize, &JobId)| if n_left(at) { found.get(id).cloned() } else { found.remove(id) };
        Ok(ids.iter().enumerate().map(take).collect())
    }
}

impl Lookups {
    /// Starts the task that reads, on a connection of its own like those of `db`.
    pub fn start(db: &PgPool) -> Self {
        Self(Group::start(Find(OwnConnection::like(db))))
    }

    /// A job as it is now, whoever owns it. `None`: there is none with this id.
    pub async fn find(&self, id: JobId) -> Result<Option<Job>, GroupError> {
        self.0.execute(id).await
    }
}
