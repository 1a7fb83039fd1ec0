//! Stopping a job at a chosen step: a trigger in the test's own database makes the worker's statement
//! wait for a lock that the test holds.

use sqlx::{Connection as _, PgConnection, PgPool};

use crate::until;

/// A lock no other code takes. The number is arbitrary.
const LOCK: i64 = 0x5eed_5ea4;

/// A step of a job's life, as the change of its row that the step makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seam {
    /// A worker is taking it: queued to running, not committed.
    Claim,
    /// A worker has its answer and is writing it: running to succeeded, not committed.
    Finish,
}

/// Jobs wait at a seam until this is released or dropped.
#[derive(Debug)]
pub struct Held {
    lock: PgConnection,
}

impl Seam {
    /// Makes every job that reaches this seam wait there.
    pub async fn hold(self, db: &PgPool) -> Held {
        let change = match self {
            Self::Claim => "old.state = 'queued' and new.state = 'running'",
            Self::Finish => "old.state = 'running' and new.state = 'succeeded'",
        };
        let statement = format!(
            "create function hold_here() returns trigger language plpgsql as
             $$ begin perform pg_advisory_xact_lock_shared({LOCK}); return new; end $$;
             create trigger hold_here before update on jobs
             for each row when ({change}) execute function hold_here();"
        );
        let mut lock = PgConnection::connect_with(&db.connect_options()).await.expect("a connection");
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

    /// Ends the connections of all that are held now, as their dead process would: what they were writing
    /// is undone when this returns. Others may come and be held meanwhile.
    pub async fn disconnect(&mut self) {
        sqlx::query(
            "select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory' and not granted
             and database = (select oid from pg_database where datname = current_database())",
        )
        .execute(&mut self.lock)
        .await
        .expect("they end");
    }

    /// Lets all go on.
    pub async fn release(self) {
        self.lock.close().await.expect("a close");
    }
}
