//! A connection of one task's own, for statements that follow each other: it is not tested before and after every
//! use, as a pool's connections are, which would cost each statement two more round trips.

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

use super::group::is_of_the_data;

/// How long connecting may take before the database counts as away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection idle for longer is tested before it is used: it may have died with a server restart.
const TRUSTED_IDLE: Duration = Duration::from_millis(500);

/// One connection, made when it is first used and again after it was lost; a handle.
#[derive(Debug, Clone)]
pub(super) struct OwnConnection {
    options: Arc<PgConnectOptions>,
    open: Arc<Mutex<Option<Open>>>,
}

#[derive(Debug)]
struct Open {
    connection: PgConnection,
    used_at: Instant,
}

/// The connection in use: nobody else has it. It is closed unless it is given back by [`InUse::settle`].
#[derive(Debug)]
pub(super) struct InUse<'a> {
    place: MutexGuard<'a, Option<Open>>,
    connection: PgConnection,
}

impl OwnConnection {
    /// One with the options of a pool's connections.
    pub(super) fn like(pool: &PgPool) -> Self {
        Self { options: pool.connect_options(), open: Arc::default() }
    }

    /// Waits for the connection, and makes it if there is none.
    pub(super) async fn acquire(&self) -> Result<InUse<'_>, sqlx::Error> {
        let mut place = self.open.lock().await;
        let trusted = match place.take() {
            Some(open) => open.trusted().await,
            None => None,
        };
        let connection = if let Some(connection) = trusted {
            connection
        } else {
            let connecting = timeout(CONNECT_TIMEOUT, PgConnection::connect_with(&self.options));
            connecting.await.map_err(|_| sqlx::Error::PoolTimedOut)??
        };
        Ok(InUse { place, connection })
    }
}

impl Open {
    /// The connection, if it is still one.
    async fn trusted(self) -> Option<PgConnection> {
        let Self { mut connection, used_at } = self;
        let is_alive = used_at.elapsed() <= TRUSTED_IDLE || connection.ping().await.is_ok();
        is_alive.then_some(connection)
    }
}

impl InUse<'_> {
    /// Gives the connection back after a statement, unless the error may be the connection's own.
    pub(super) fn settle<T>(mut self, result: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        if result.as_ref().err().is_none_or(is_of_the_data) {
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
