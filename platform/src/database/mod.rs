//! Postgres: an address comes in, pools come out; the private server when there is no address.

mod listener;
mod private;
mod private_error;
mod programs;

pub use listener::Event;
pub use private::PrivatePostgres;
pub use private_error::PrivateError;

use std::{str::FromStr as _, time::Duration};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// How long a query waits for a connection before the database counts as away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection idle for longer is tested before it is used: it may have died with a server restart.
const TRUSTED_IDLE: Duration = Duration::from_millis(500);

/// The pools of one process.
#[derive(Debug, Clone)]
pub struct Database {
    /// Commits are on disk when they return: everything a caller is told about.
    pub durable: PgPool,
    /// Commits may be lost in a crash of Postgres (`synchronous_commit` off): the queue, whose statements
    /// turn it on for what a caller has been told.
    pub volatile: PgPool,
    /// How its connections are named in `pg_stat_activity`.
    name: &'static str,
}

/// Reads a connection URL.
pub fn options(url: &str) -> Result<PgConnectOptions, sqlx::Error> {
    PgConnectOptions::from_str(url)
}

impl Database {
    /// Opens both pools, of at most `n_connections` together, and proves that the server answers. Migrations
    /// recognise processes of other versions by `name`: one of this version's begins with `akhar-`.
    pub async fn connect(
        name: &'static str,
        options: &PgConnectOptions,
        n_connections: usize,
    ) -> Result<Self, sqlx::Error> {
        let n = u32::try_from(n_connections).unwrap_or(u32::MAX);
        // Our statements are short and always the same: one generic plan each, never compiled. They look a few rows up
        // by an index. A plan made while a table was small, or before its statistics were, would read all of it, and
        // is kept as long as the connection.
        let options = options.clone().options([
            ("jit", "off"),
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
        ]);
        let volatile = options.clone().options([("synchronous_commit", "off")]);
        let database = Self {
            durable: pool(n - n / 2).connect_lazy_with(options.application_name(name)),
            volatile: pool(n / 2).connect_lazy_with(volatile.application_name(&format!("{name} queue"))),
            name,
        };
        sqlx::query("select 1").execute(&database.durable).await?;
        Ok(database)
    }

    /// One pool for everything, as tests of one process need it.
    pub fn of_pool(pool: PgPool) -> Self {
        Self { durable: pool.clone(), volatile: pool, name: "akhar-test" }
    }

    /// Closes both pools once what uses them is done.
    pub async fn close(&self) {
        self.durable.close().await;
        self.volatile.close().await;
    }
}

fn pool(n: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(n)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > TRUSTED_IDLE {
                    sqlx::Connection::ping(connection).await?;
                }
                Ok(true)
            })
        })
}

/// Whether the same query may succeed in a moment: the connection or the server went away, is starting,
/// or is full. Codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(e) => e.code().is_some_and(|code| {
            code.starts_with("08")
                || code.starts_with("57P0")
                || matches!(&*code, "53300" | "40001" | "40P01")
        }),
        _ => false,
    }
}
