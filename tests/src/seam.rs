//! Holds a job at a chosen step. A trigger in the test's database makes the worker's statement wait for a
//! lock that the test holds.

use akhar_platform::database::Pool;
use sqlx::{Connection as _, PgConnection};

use crate::until;

/// The number of the advisory lock. It is arbitrary; no other code takes this lock.
const LOCK: i64 = 0x5eed_5ea4;

/// A step between two states of a job, at which a test can hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seam {
    /// The api submits the job: the row is written, but not committed.
    Submit,
    /// A worker claims the job: the change from queued to running is made, but not committed.
    Claim,
    /// A worker writes the job's outcome: the change from running to succeeded is made, but not committed.
    Finish,
}

/// Jobs wait at the seam until this value is released or dropped.
#[derive(Debug)]
pub struct Held {
    lock: PgConnection,
}

impl Seam {
    /// Makes every job that reaches this seam wait.
    pub async fn hold(self, db: &Pool) -> Held {
        let (event, change) = match self {
            Self::Submit => ("insert", "new.state = 'queued'"),
            Self::Claim => ("update", "old.state = 'queued' and new.state = 'running'"),
            Self::Finish => ("update", "old.state = 'running' and new.state = 'succeeded'"),
        };
        let statement = format!(
            "create function hold_here() returns trigger language plpgsql as
             $$ begin perform pg_advisory_xact_lock_shared({LOCK}); return new; end $$;
             create trigger hold_here before {event} on jobs
             for each row when ({change}) execute function hold_here();"
        );
        let mut lock = db.servers().connect().await.expect("a connection");
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut lock).await.expect("a trigger");
        sqlx::query("select pg_advisory_lock($1)").bind(LOCK).execute(&mut lock).await.expect("a lock");
        Held { lock }
    }
}

impl Held {
    /// Waits until `n` jobs are held.
    pub async fn holds(&mut self, n: i64) {
        let lock = &mut self.lock;
        until(&format!("{n} jobs are held"), async || {
            let held: i64 = sqlx::query_scalar(
                "select count(*) from pg_locks where locktype = 'advisory' and not granted
                 and database = (select oid from pg_database where datname = current_database())",
            )
            .fetch_one(&mut *lock)
            .await
            .expect("a count");
            (held == n).then_some(())
        })
        .await;
    }

    /// Ends the database connections of all held jobs, as the death of their process would. When this
    /// returns, their writes are rolled back. Other jobs may be held in the meantime.
    pub async fn disconnect(&mut self) {
        sqlx::query(
            "select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory' and not granted
             and database = (select oid from pg_database where datname = current_database())",
        )
        .execute(&mut self.lock)
        .await
        .expect("they end");
    }

    /// Lets all held jobs continue.
    pub async fn release(self) {
        self.lock.close().await.expect("a close");
    }
}
