//! Connections to Postgres: the pool of a process, the listening connection, and the private Postgres server of
//! `akhar serve`.

mod deadline;
mod encoding;
mod errors;
mod listener;
mod pool;
mod private;
mod private_error;
mod programs;
mod replica;
mod retry;
mod role;
mod server_process;
mod servers;
mod transaction;

pub use errors::{advice, is_read_only, is_storage_full, is_transient, may_recover};
pub use listener::{Event, NOT_NOTIFIED};
pub use pool::{ANSWER_LIMIT, Pool, check_writable};
pub use private::{PrivatePostgres, TemporaryDataDir};
pub use private_error::PrivateError;
pub use retry::{Transient, retry_transient};
pub use role::{reset_role, unlimited};
pub use servers::Servers;
pub use transaction::transaction;

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::metrics;
use backon::{ConstantBuilder, Retryable as _};
use deadline::ACQUIRE_LIMIT;
use errors::has_code;
use pool::Access;
use replica::Replica;
use sqlx::Connection as _;
use tokio::time::{Instant, timeout_at};

/// The pauses between tries to connect to a server that is starting.
const STARTING_PAUSES: ConstantBuilder =
    ConstantBuilder::new().with_delay(Duration::from_millis(100)).without_max_times();

/// How long the server may take to tell its time for the metrics.
const CLOCK_LIMIT: Duration = Duration::from_secs(1);

/// The connections of one process.
#[derive(Debug, Clone)]
pub struct Database {
    /// The pool for statements. Nothing depends on the connection that a statement gets, so a pooler in transaction mode may
    /// stand in front of the server.
    pub pool: Pool,
    /// Where the process listens for notifications. `None` if it does not.
    listener: Option<Servers>,
    /// A replica for lists, if there is one.
    replica: Option<Arc<Replica>>,
    /// Whether notifications arrive.
    is_notified: Arc<AtomicBool>,
    /// The `application_name` of the connections, shown in `pg_stat_activity`.
    name: &'static str,
}

impl Database {
    /// Opens a pool with at most `n_connections` connections. Connects once before, because a pool tries for five seconds and
    /// hides why it cannot connect. Notifications are received at the same address.
    ///
    /// `name` must begin with `akhar-`: migrations recognise the processes of earlier versions by their names.
    pub async fn connect(
        name: &'static str,
        servers: Servers,
        n_connections: usize,
    ) -> Result<Self, sqlx::Error> {
        prepare(&servers).await?;
        Ok(Self::of(Pool::new(servers.named(name), n_connections), name))
    }

    /// Uses this pool. For tests.
    pub fn of_pool(pool: Pool) -> Self {
        Self::of(pool, "akhar-test")
    }

    fn of(pool: Pool, name: &'static str) -> Self {
        let listener = Some(pool.servers().clone());
        Self { pool, listener, replica: None, is_notified: Arc::new(AtomicBool::new(true)), name }
    }

    /// Listens for notifications at another address of the same database, or not at all.
    #[must_use]
    pub fn listening(self, listener: Option<Servers>) -> Self {
        Self { listener, ..self }
    }

    /// Reads lists from this replica of the database while [`Self::follow_replica`] runs and finds it close behind.
    #[must_use]
    pub fn reading(self, replica: Servers) -> Self {
        let [_, _, n] = self.pool.sizes();
        let pool = Pool::with_access(replica.named(self.name), n, Access::Read);
        Self { replica: Some(Replica::new(pool).into()), ..self }
    }

    /// Where lists are read, which may be some seconds old: the replica while it is close behind, otherwise the database itself.
    pub fn lists(&self) -> &Pool {
        self.replica.as_ref().and_then(|replica| replica.close()).unwrap_or(&self.pool)
    }

    /// Finds out once a second whether the replica is close behind. Returns only if there is none.
    pub async fn follow_replica(&self) {
        match &self.replica {
            Some(replica) => replica.follow(&self.pool).await,
            None => metrics::REPLICA_USED.set([], 0.0),
        }
    }

    /// Exports how many connections the pool has, and how far this process's clock is from the server's. Closes those that
    /// have not been used for long.
    pub async fn measure(&self) {
        self.pool.close_idle();
        let [n, n_idle, limit] = self.pool.sizes();
        metrics::POOL_CONNECTIONS.set_count(["idle"], n_idle);
        metrics::POOL_CONNECTIONS.set_count(["used"], n.saturating_sub(n_idle));
        metrics::POOL_LIMIT.set_count([], limit);
        if let Ok(Ok(offset_s)) = tokio::time::timeout(CLOCK_LIMIT, self.clock_offset_s()).await {
            metrics::CLOCK_OFFSET.set([], offset_s);
        }
    }

    /// The seconds by which this process's clock is ahead of the server's.
    pub async fn clock_offset_s(&self) -> Result<f64, sqlx::Error> {
        let ours = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let clock = || sqlx::query_scalar::<_, f64>("select extract(epoch from clock_timestamp())::float8");
        clock().fetch_one(&self.pool).await?; // opens a connection, if there is none, before the time is taken
        let asked = ours();
        let theirs = clock().fetch_one(&self.pool).await?;
        Ok(f64::midpoint(asked, ours()) - theirs)
    }

    /// Closes the connections.
    pub fn close(&self) {
        self.pool.close();
    }
}

/// Checks the encoding of the database, and prepares the role for the connections of the pool. Waits for a server that is
/// starting, also behind a pooler, and fails with what that says.
async fn prepare(servers: &Servers) -> Result<(), sqlx::Error> {
    let connect = || async {
        let mut db = servers.connect().await?;
        encoding::check(&mut db).await?;
        role::set(&mut db).await?;
        db.close().await
    };
    let is_starting = |error: &sqlx::Error| has_code(error, |code| code == "57P03" || code.starts_with("08"));
    let deadline = Instant::now() + ACQUIRE_LIMIT;
    let connect = connect.retry(STARTING_PAUSES).when(is_starting);
    let connect = connect.adjust(|_, pause| pause.filter(|pause| Instant::now() + *pause < deadline));
    timeout_at(deadline, connect).await.unwrap_or_else(|_| {
        let reason = format!("the server did not accept a connection within {ACQUIRE_LIMIT:?}");
        Err(io::Error::new(io::ErrorKind::TimedOut, reason).into())
    })
}
