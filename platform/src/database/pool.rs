//! The connections of a process for statements.
//!
//! Whatever a server, a proxy or a network does, a statement ends: after [`ANSWER_LIMIT`] without an answer its connection
//! is closed, and those that were opened before it are tried no more. The server itself ends a statement sooner, by the
//! `statement_timeout` of the role, so that a statement without an answer does not go on where nobody waits for it.

use std::{
    any::type_name_of_val,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use backon::{ExponentialBuilder, Retryable as _};
use deadpool::managed::{self, Manager, Metrics, Object, PoolError, QueueMode, RecycleError, RecycleResult};
use futures::{
    FutureExt as _, StreamExt as _, TryFutureExt as _, TryStreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use parking_lot::Mutex;
use sqlx::{
    Connection as _, Describe, Either, Execute, Executor, PgConnection, Postgres, SqlStr,
    postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo},
};
use tokio::{runtime::Handle, time::timeout};
use tracing::Instrument as _;

use super::{
    deadline::{ACQUIRE_LIMIT, is_silence, within},
    errors::{is_read_only, is_starting, is_storage_full},
    servers::Servers,
    transaction::transaction,
};

/// How long a statement may take, or all that [`Pool::run`] does. More than the `statement_timeout` of the role,
/// so that a server that answers ends the statement itself.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(8);

/// Statements that take this long are logged.
const SLOW: Duration = Duration::from_secs(1);

/// The most characters of a statement, or of the name of a function, in the log.
const MAX_LOGGED: usize = 80;

/// How long the test of an idle connection may take.
const TEST_LIMIT: Duration = Duration::from_secs(2);

/// Idle time after which a connection is tested before it is used.
const MAX_UNTESTED_IDLE: Duration = Duration::from_millis(500);

/// After these times a connection is closed: since it was opened, and since it was last used.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);
const MAX_IDLE: Duration = Duration::from_secs(10 * 60);

/// The pauses between tries to reach a server that is starting.
const STARTING_PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(10))
    .with_max_delay(Duration::from_secs(1))
    .without_max_times();

/// Sorts about a megabyte in 64 kB of memory, so that Postgres writes temporary files.
const WRITE_TEMPORARY_FILES: &str = "select count(*) from (
    select n || repeat('x', 200) as line from generate_series(1, 5000) as n order by line offset 0) as lines";

/// What the connections of a pool are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Any statement. A connection to a server that has become read-only is closed.
    Write,
    /// Queries only.
    Read,
}

/// Connections to one database. A reference executes a statement on one of them, as one of sqlx does.
#[derive(Debug, Clone)]
pub struct Pool(managed::Pool<Connections>);

impl Pool {
    /// A pool of at most `n` connections to these servers. Connects when a statement needs it.
    pub fn new(servers: Servers, n: usize) -> Self {
        Self::with_access(servers, n, Access::Write)
    }

    pub(super) fn with_access(servers: Servers, n: usize, access: Access) -> Self {
        Self::of(Connections { servers, access, found: Arc::default() }, n)
    }

    fn of(connections: Connections, n: usize) -> Self {
        let pool = managed::Pool::builder(connections).max_size(n).queue_mode(QueueMode::Lifo).build();
        // It fails only if it is given limits of time without a runtime.
        Self(pool.unwrap_or_else(|error| unreachable!("{error}")))
    }

    /// Where the connections lead.
    pub fn servers(&self) -> &Servers {
        &self.0.manager().servers
    }

    /// How many connections there are, how many of these are idle, and how many there may be.
    pub(super) fn sizes(&self) -> [usize; 3] {
        let status = self.0.status();
        [status.size, status.available, status.max_size]
    }

    /// Closes connections that have not been used for long.
    pub(super) fn close_idle(&self) {
        self.0.retain(|_, metrics| metrics.last_used() < MAX_IDLE);
    }

    /// Closes idle connections now, and the others when their statements have ended. No further statement is executed.
    pub fn close(&self) {
        self.0.close();
    }

    /// One more connection, for a task that executes one statement after another: it never waits for those of others.
    #[must_use]
    pub fn of_task(&self) -> Self {
        Self::of(self.0.manager().clone(), 1)
    }

    /// Waits for the answer to a statement, at most for [`ANSWER_LIMIT`]. Without one, or if the connection was lost or the
    /// server has become read-only, no connection of now is used again: all may lead to where nobody answers, or to a former
    /// primary.
    ///
    /// `name` is the statement, or the function that executes several. Its beginning is logged if that takes long.
    async fn answer<T>(
        &self,
        name: &str,
        statement: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        let began = Instant::now();
        let answer = within(ANSWER_LIMIT, statement).await;
        if began.elapsed() >= SLOW {
            tracing::warn!(
                statement = beginning(name),
                took_s = began.elapsed().as_secs_f32(),
                "slow statement"
            );
        }
        if let Err(error) = &answer {
            self.0.manager().note(error);
        }
        answer
    }

    /// Makes the server write about a megabyte to its disk, which fails if it has no space left
    /// ([`is_storage_full`](super::is_storage_full)).
    pub async fn check_space(&self) -> Result<(), sqlx::Error> {
        let written = self.transaction(|transaction| {
            Box::pin(async move {
                sqlx::query("set local work_mem = '64kB'").execute(&mut *transaction).await?;
                sqlx::query(WRITE_TEMPORARY_FILES).execute(transaction).await?;
                Ok(())
            })
        });
        let written = written.await;
        match &written {
            Ok(()) => self.0.manager().found.is_full.store(false, Ordering::Relaxed),
            Err(error) => self.0.manager().note(error),
        }
        written
    }

    /// Whether a statement has found the disk full, and [`Self::check_space`] has not found space since.
    pub fn is_full(&self) -> bool {
        self.0.manager().found.is_full.load(Ordering::Relaxed)
    }

    /// Does `work` on one connection, at most for [`ANSWER_LIMIT`]. The connection is closed if the returned future is dropped.
    pub async fn with<T>(
        &self,
        work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        let mut lease = self.lease().await?;
        lease.is_closed_when_dropped = true; // it may be dropped in a transaction
        let name = function_of(&work);
        let answer = self.answer(name, work(lease.db())).await;
        lease.is_closed_when_dropped = false;
        lease.end(answer)
    }

    /// Does `work` on one connection, in a task of its own: it is done to its end, or until [`ANSWER_LIMIT`], also if the
    /// returned future is dropped. A connection on which that was not done to its end is closed.
    pub async fn run<T, E>(
        &self,
        work: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<sqlx::Error> + Send + 'static,
    {
        self.run_named(function_of(&work), work).await
    }

    async fn run_named<T, E>(
        &self,
        name: &'static str,
        work: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<sqlx::Error> + Send + 'static,
    {
        let mut lease = self.lease().await?;
        let pool = self.clone();
        let task = async move {
            // The outer error is that of the connection.
            match pool.answer(name, work(lease.db()).map(Ok)).await {
                Ok(Ok(done)) => {
                    lease.give_back();
                    Ok(done)
                }
                Ok(Err(error)) => Err(error), // whether the connection works is found out when the lease is dropped
                Err(silence) => {
                    lease.close();
                    Err(silence.into())
                }
            }
        };
        match tokio::spawn(task.in_current_span()).await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(sqlx::Error::WorkerCrashed.into()), // the runtime is ending
            },
        }
    }

    /// Does `work` in a transaction, and commits it if that succeeds, in a task of its own: see [`Self::run`].
    pub async fn transaction<T, E>(
        &self,
        work: impl for<'c> FnOnce(&'c mut PgConnection) -> BoxFuture<'c, Result<T, E>> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<sqlx::Error> + Send + 'static,
    {
        let name = function_of(&work);
        self.run_named(name, |db| transaction(db, async move |db: &mut PgConnection| work(db).await).boxed())
            .await
    }

    async fn lease(&self) -> Result<Lease, sqlx::Error> {
        match timeout(ACQUIRE_LIMIT, self.0.get()).await {
            Ok(Ok(object)) => {
                Ok(Lease { pool: self.clone(), object: Some(object), is_closed_when_dropped: false })
            }
            Ok(Err(PoolError::Backend(error))) => Err(error),
            Ok(Err(PoolError::Closed)) => Err(sqlx::Error::PoolClosed),
            Ok(Err(_)) | Err(_) => Err(sqlx::Error::PoolTimedOut),
        }
    }
}

/// A connection in use. It is given back once its statement has been answered.
struct Lease {
    pool: Pool,
    /// `None` once it is given back or closed.
    object: Option<Object<Connections>>,
    is_closed_when_dropped: bool,
}

impl Lease {
    #[expect(clippy::expect_used, reason = "only the methods that consume the lease take the object")]
    fn db(&mut self) -> &mut PgConnection {
        self.object.as_mut().expect("a lease has a connection")
    }

    fn give_back(mut self) {
        self.object = None;
    }

    fn close(mut self) {
        close(self.object.take());
    }

    /// Gives the connection back after an answer, and closes it after silence.
    fn end<T>(self, answer: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        match &answer {
            Ok(_) => self.give_back(),
            Err(error) if is_silence(error) => self.close(),
            Err(_) => drop(self),
        }
        answer
    }
}

/// Whoever waited for a statement has left, or it failed. Its answer is read before the connection is given back, so that no
/// more statements run in the server than the pool has connections.
impl Drop for Lease {
    fn drop(&mut self) {
        let Some(mut object) = self.object.take() else { return };
        let Some(runtime) = Handle::try_current().ok().filter(|_| !self.is_closed_when_dropped) else {
            return close(Some(object));
        };
        let pool = self.pool.clone();
        runtime.spawn(async move {
            // After a commit that failed, sqlx still counts the transaction.
            if pool.answer("ping", object.ping()).await.is_err() || object.is_in_transaction() {
                close(Some(object));
            }
        });
    }
}

/// The path of the function that has this closure.
fn function_of<F>(closure: &F) -> &'static str {
    type_name_of_val(closure).trim_end_matches("::{{closure}}")
}

/// The first words of a statement, or the beginning of a name.
fn beginning(statement: &str) -> String {
    let words = statement.split_whitespace().flat_map(|word| [" ", word]).skip(1);
    words.flat_map(str::chars).take(MAX_LOGGED).collect()
}

fn close(object: Option<Object<Connections>>) {
    drop(object.map(Object::take));
}

/// Opens and tests connections.
#[derive(Debug, Clone)]
struct Connections {
    servers: Servers,
    access: Access,
    found: Arc<Found>,
}

/// What statements have found out about the servers.
#[derive(Debug, Default)]
struct Found {
    /// Connections that were opened before this are used no more.
    not_before: Mutex<Option<Instant>>,
    /// Whether the disk is full.
    is_full: AtomicBool,
}

impl Connections {
    fn is_usable(&self, opened: Instant) -> bool {
        opened.elapsed() < MAX_AGE && self.found.not_before.lock().is_none_or(|limit| opened > limit)
    }

    /// Remembers what an error says about the servers.
    fn note(&self, error: &sqlx::Error) {
        if matches!(error, sqlx::Error::Io(_)) || is_read_only(error) {
            *self.found.not_before.lock() = Some(Instant::now());
        }
        if is_storage_full(error) {
            self.found.is_full.store(true, Ordering::Relaxed);
        }
    }

    async fn test(&self, db: &mut PgConnection) -> Result<(), sqlx::Error> {
        within(TEST_LIMIT, async {
            match self.access {
                Access::Read => db.ping().await,
                Access::Write => check_writable(db).await,
            }
        })
        .await
    }
}

impl Manager for Connections {
    type Type = PgConnection;
    type Error = sqlx::Error;

    async fn create(&self) -> Result<PgConnection, sqlx::Error> {
        let connect = || self.servers.connect().boxed(); // its state is large, and few statements need it
        connect.retry(STARTING_PAUSES).when(is_starting).await
    }

    async fn recycle(&self, db: &mut PgConnection, metrics: &Metrics) -> RecycleResult<sqlx::Error> {
        if !self.is_usable(metrics.created) {
            return Err(RecycleError::message("opened too long ago, or before a connection was silent"));
        }
        if metrics.last_used() > MAX_UNTESTED_IDLE {
            self.test(db).await.inspect_err(|error| self.note(error))?;
        }
        Ok(())
    }
}

impl<'p> Executor<'p> for &'p Pool {
    type Database = Postgres;

    fn fetch_many<'e, 'q, E>(
        self,
        mut query: E,
    ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, sqlx::Error>>
    where
        'p: 'e,
        'q: 'e,
        E: Execute<'q, Postgres> + 'q,
    {
        let results = async move {
            let mut lease = self.lease().await?;
            let arguments = query.take_arguments().map_err(sqlx::Error::Encode)?;
            let sql = query.sql();
            let answer = self
                .answer(sql.as_str(), lease.db().fetch_many((sql.clone(), arguments)).try_collect::<Vec<_>>())
                .await;
            lease.end(answer)
        };
        results.map_ok(|results| stream::iter(results).map(Ok)).try_flatten_stream().boxed()
    }

    fn fetch_optional<'e, 'q, E>(self, mut query: E) -> BoxFuture<'e, Result<Option<PgRow>, sqlx::Error>>
    where
        'p: 'e,
        'q: 'e,
        E: Execute<'q, Postgres> + 'q,
    {
        async move {
            let mut lease = self.lease().await?;
            let arguments = query.take_arguments().map_err(sqlx::Error::Encode)?;
            let sql = query.sql();
            let answer = self.answer(sql.as_str(), lease.db().fetch_optional((sql.clone(), arguments))).await;
            lease.end(answer)
        }
        .boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, sqlx::Error>>
    where
        'p: 'e,
    {
        async move {
            let mut lease = self.lease().await?;
            let answer = self.answer("prepare", lease.db().prepare_with(sql, parameters)).await;
            lease.end(answer)
        }
        .boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, sqlx::Error>>
    where
        'p: 'e,
    {
        async move {
            let mut lease = self.lease().await?;
            let answer = self.answer("describe", lease.db().describe(sql)).await;
            lease.end(answer)
        }
        .boxed()
    }
}

/// Fails with an error that counts as [`is_read_only`] if the server is a replica or its database is set read-only.
pub async fn check_writable(db: impl Executor<'_, Database = Postgres>) -> Result<(), sqlx::Error> {
    let is_read_only = sqlx::query_scalar("select current_setting('transaction_read_only')::bool");
    if is_read_only.fetch_one(db).await? {
        return Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the database is read-only").into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_slow_statement_is_short() {
        let statement = beginning("with candidates as (\n     select id\n");
        assert_eq!(statement, "with candidates as ( select id");
        assert_eq!(beginning(&"select ".repeat(100)).chars().count(), MAX_LOGGED);
        let closure = async |_: &mut PgConnection| Ok::<_, sqlx::Error>(());
        assert!(function_of(&closure).ends_with("tests::the_name_of_a_slow_statement_is_short"));
    }
}
