//! Reads what is new about the jobs that requests follow, many of them with one statement.

use sqlx::PgPool;

use crate::{
    backend::{
        connection::DedicatedConnection,
        group::{Group, GroupError, Statement},
    },
    store::{self, Cursor, Followed},
};

/// A handle on the task that reads what is new.
#[derive(Debug, Clone)]
pub struct Follows(Group<Follow>);

struct Follow(DedicatedConnection);

impl Statement for Follow {
    type Item = Cursor;
    type Reply = Option<Followed>;
    const NAME: &'static str = "follow";
    const MAX_ITEMS: usize = 256;

    async fn execute(&self, cursors: &[Cursor]) -> Result<Vec<Option<Followed>>, sqlx::Error> {
        let mut db = self.0.acquire().await?;
        let followed = store::follow(&mut db, cursors).await;
        db.release(followed)
    }
}

impl Follows {
    /// Starts the task that reads. It uses its own connection with the options of `db`.
    pub fn start(db: &PgPool) -> Self {
        Self(Group::start(Follow(DedicatedConnection::like(db))))
    }

    /// What is new about a job of any account since the cursor. `None` if there is no such job.
    pub async fn look(&self, cursor: Cursor) -> Result<Option<Followed>, GroupError> {
        self.0.execute(cursor).await
    }
}
