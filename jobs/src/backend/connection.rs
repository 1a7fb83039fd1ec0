//! A connection for one task that executes one statement after another. A pool tests a connection before and after
//! each use, which would add two round trips to every statement.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{Connection as _, PgConnection, PgPool, postgres::PgConnectOptions};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::timeout,
};

use super::group::is_data_error;

/// How long connecting may take before the database counts as unavailable.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Idle time after which a connection is tested before it is used. A restart of the server may have closed it.
const MAX_UNTESTED_IDLE: Duration = Duration::from_millis(500);

/// A handle on one connection, which is opened when it is first used and again after it was lost.
#[derive(Debug, Clone)]
pub(super) struct DedicatedConnection {
    options: Arc<PgConnectOptions>,
    open: Arc<Mutex<Option<Open>>>,
}

#[derive(Debug)]
struct Open {
    connection: PgConnection,
    used_at: Instant,
}

/// Exclusive use of the connection. Dropping it closes the connection; [`InUse::release`] keeps it open.
#[derive(Debug)]
pub(super) struct InUse<'a> {
    place: MutexGuard<'a, Option<Open>>,
    connection: PgConnection,
}

impl DedicatedConnection {
    /// A connection with the options of the pool's connections. Does not connect yet.
    pub(super) fn like(pool: &PgPool) -> Self {
        Self { options: pool.connect_options(), open: Arc::default() }
    }

    /// Waits until no other task uses the connection, and connects if necessary.
    pub(super) async fn acquire(&self) -> Result<InUse<'_>, sqlx::Error> {
        let mut place = self.open.lock().await;
        let reusable = match place.take() {
            Some(open) => open.if_alive().await,
            None => None,
        };
        let connection = if let Some(connection) = reusable {
            connection
        } else {
            let connecting = timeout(CONNECT_TIMEOUT, PgConnection::connect_with(&self.options));
            connecting.await.map_err(|_| sqlx::Error::PoolTimedOut)??
        };
        Ok(InUse { place, connection })
    }
}

impl Open {
    /// The connection, unless the server has closed it.
    async fn if_alive(self) -> Option<PgConnection> {
        let Self { mut connection, used_at } = self;
        let is_alive = used_at.elapsed() <= MAX_UNTESTED_IDLE || connection.ping().await.is_ok();
        is_alive.then_some(connection)
    }
}

impl InUse<'_> {
    /// Keeps the connection for the next statement, unless the connection may have caused the error. Returns
    /// `result`.
    pub(super) fn release<T>(mut self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if result.as_ref().err().is_none_or(is_data_error) {
            *self.place = Some(Open { connection: self.connection, used_at: Instant::now() });
        }
        result
    }
}

impl Deref for InUse<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for InUse<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}
