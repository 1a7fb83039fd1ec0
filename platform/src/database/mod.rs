//! Connections to Postgres: the pool of a process, the listening connection, and the private Postgres server of
//! `akhar serve`.

mod listener;
mod planner;
mod private;
mod private_error;
mod programs;
mod replica;
mod server_process;

pub use listener::{Event, NOT_NOTIFIED};
pub use private::{PrivatePostgres, TemporaryDataDir};
pub use private_error::PrivateError;

use std::{
    str::FromStr as _,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::metrics;
use backon::{ConstantBuilder, Retryable as _};
use replica::Replica;
use sqlx::{
    Connection as _, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// How long a query waits for a connection before the database counts as unavailable.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// The pauses between tries to connect to a server that is starting.
const STARTING_PAUSES: ConstantBuilder =
    ConstantBuilder::new().with_delay(Duration::from_millis(100)).without_max_times();

/// Idle time after which a connection is tested before it is used. A restart of the server may have closed it.
const MAX_UNTESTED_IDLE: Duration = Duration::from_millis(500);

/// How long the server may take to tell its time for the metrics.
const CLOCK_LIMIT: Duration = Duration::from_secs(1);

/// The connections of one process.
#[derive(Debug, Clone)]
pub struct Database {
    /// The pool for statements. Nothing depends on the connection that a statement gets, so a pooler in transaction mode may
    /// stand in front of the server.
    pub pool: PgPool,
    /// Where the process listens for notifications. `None` if it does not.
    listener: Option<PgConnectOptions>,
    /// A replica for lists, if there is one.
    replica: Option<Arc<Replica>>,
    /// Whether notifications arrive.
    is_notified: Arc<AtomicBool>,
    /// The `application_name` of the connections, shown in `pg_stat_activity`.
    name: &'static str,
}

/// Parses a connection URL such as `postgres://user:password@host/database`.
///
/// The connections ask for no setting that a pooler such as `PgBouncer` refuses when they start.
pub fn options(url: &str) -> Result<PgConnectOptions, sqlx::Error> {
    Ok(PgConnectOptions::from_str(url)?.extra_float_digits(None))
}

impl Database {
    /// Opens a pool with at most `n_connections` connections. Connects once before, because a pool tries for five seconds and
    /// hides why it cannot connect. Notifications are received at the same address.
    ///
    /// `name` must begin with `akhar-`: migrations recognise the processes of earlier versions by their names.
    pub async fn connect(
        name: &'static str,
        options: &PgConnectOptions,
        n_connections: usize,
    ) -> Result<Self, sqlx::Error> {
        prepare(options).await?;
        let n = u32::try_from(n_connections).unwrap_or(u32::MAX);
        Ok(Self::of(pool(n).connect_lazy_with(options.clone().application_name(name)), name))
    }

    /// Uses this pool. For tests.
    pub fn of_pool(pool: PgPool) -> Self {
        Self::of(pool, "akhar-test")
    }

    fn of(pool: PgPool, name: &'static str) -> Self {
        let listener = Some(pool.connect_options().as_ref().clone());
        Self { pool, listener, replica: None, is_notified: Arc::new(AtomicBool::new(true)), name }
    }

    /// Listens for notifications at another address of the same database, or not at all.
    #[must_use]
    pub fn listening(self, listener: Option<PgConnectOptions>) -> Self {
        Self { listener, ..self }
    }

    /// Reads lists from this replica of the database while [`Self::follow_replica`] runs and finds it close behind.
    #[must_use]
    pub fn reading(self, replica: PgConnectOptions) -> Self {
        let n = self.pool.options().get_max_connections();
        let pool = pool(n).connect_lazy_with(replica.application_name(self.name));
        Self { replica: Some(Replica::new(pool).into()), ..self }
    }

    /// Where lists are read, which may be some seconds old: the replica while it is close behind, otherwise the database itself.
    pub fn lists(&self) -> &PgPool {
        self.replica.as_ref().and_then(|replica| replica.close()).unwrap_or(&self.pool)
    }

    /// Finds out once a second whether the replica is close behind. Returns only if there is none.
    pub async fn follow_replica(&self) {
        match &self.replica {
            Some(replica) => replica.follow(&self.pool).await,
            None => metrics::REPLICA_USED.set([], 0.0),
        }
    }

    /// Exports how many connections the pool has, and how far this process's clock is from the server's.
    pub async fn measure(&self) {
        let n = usize::try_from(self.pool.size()).unwrap_or(usize::MAX);
        let n_idle = self.pool.num_idle();
        metrics::POOL_CONNECTIONS.set_count(["idle"], n_idle);
        metrics::POOL_CONNECTIONS.set_count(["used"], n.saturating_sub(n_idle));
        metrics::POOL_LIMIT.set([], self.pool.options().get_max_connections().into());
        if let Ok(Ok(offset_s)) = tokio::time::timeout(CLOCK_LIMIT, self.clock_offset_s()).await {
            metrics::CLOCK_OFFSET.set([], offset_s);
        }
    }

    /// The seconds by which this process's clock is ahead of the server's.
    pub async fn clock_offset_s(&self) -> Result<f64, sqlx::Error> {
        let ours = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let mut connection = self.pool.acquire().await?;
        let asked = ours();
        let theirs: f64 = sqlx::query_scalar("select extract(epoch from clock_timestamp())::float8")
            .fetch_one(&mut *connection)
            .await?;
        Ok(f64::midpoint(asked, ours()) - theirs)
    }

    /// Waits until all connections are returned to the pool, and closes them.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Prepares the role for the connections of the pool. Waits for a server that is starting, also behind a pooler.
async fn prepare(options: &PgConnectOptions) -> Result<(), sqlx::Error> {
    let is_of_start = |code: &str| code == "57P03" || code.starts_with("08");
    let is_starting = |error: &sqlx::Error| matches!(error, sqlx::Error::Database(e) if e.code().is_some_and(|code| is_of_start(&code)));
    let connect = || async {
        let mut db = PgConnection::connect_with(options).await?;
        planner::set(&mut db).await?;
        db.close().await
    };
    let connected = tokio::time::timeout(ACQUIRE_TIMEOUT, connect.retry(STARTING_PAUSES).when(is_starting));
    connected.await.unwrap_or_else(|_| {
        let reason = format!("the server did not accept a connection within {ACQUIRE_TIMEOUT:?}");
        Err(std::io::Error::new(std::io::ErrorKind::TimedOut, reason).into())
    })
}

/// Where the server is: its host and port, or its socket. Contains no password.
pub fn address(options: &PgConnectOptions) -> String {
    options.get_socket().map_or_else(
        || format!("{}:{}", options.get_host(), options.get_port()),
        |socket| socket.display().to_string(),
    )
}

fn pool(n: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(n)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for > MAX_UNTESTED_IDLE {
                    sqlx::Connection::ping(connection).await?;
                }
                Ok(true)
            })
        })
}

/// Sorts about a megabyte in 64 kB of memory, so that Postgres writes temporary files. That fails if its disk is full.
const WRITE_TEMPORARY_FILES: &str = "select count(*) from (
    select n || repeat('x', 200) as line from generate_series(1, 5000) as n order by line offset 0) as lines";

/// Makes the server write about a megabyte to its disk. Fails if it has no space left ([`is_storage_full`]).
pub async fn write_temporary_files(db: &PgPool) -> Result<(), sqlx::Error> {
    let mut transaction = db.begin().await?;
    sqlx::query("set local work_mem = '64kB'").execute(&mut *transaction).await?;
    sqlx::query(WRITE_TEMPORARY_FILES).execute(&mut *transaction).await?;
    transaction.rollback().await
}

/// Whether the server has no space left on its disk.
pub fn is_storage_full(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().is_some_and(|code| code == "53100"))
}

/// Whether the same query may succeed later without any change to it: the error is transient (see [`is_transient`]), or
/// the server has no disk space, memory or connections left.
pub fn may_recover(error: &sqlx::Error) -> bool {
    let is_exhausted = |code: &str| code.starts_with("53");
    is_transient(error)
        || matches!(error, sqlx::Error::Database(error) if error.code().is_some_and(|code| is_exhausted(&code)))
}

/// Whether the same query may succeed if it is tried again shortly: the connection was lost, or the server is
/// stopping, is starting, has no free connection, or ended the transaction because of a conflict with another one.
/// Codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
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
