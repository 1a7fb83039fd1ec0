//! The connection on which a process listens for Postgres notifications. It is opened again whenever it is lost.

use std::{sync::atomic::Ordering, time::Duration};

use backon::{BackoffBuilder as _, ExponentialBuilder};
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::{
    Database,
    deadline::{ACQUIRE_LIMIT, within},
    pool::check_writable,
    servers::Servers,
};

/// The pauses between attempts to connect. Up to as much is added at random.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_millis(750))
    .without_max_times()
    .with_jitter();

/// How long a notification may take to arrive, and any other answer.
const ECHO_LIMIT: Duration = Duration::from_secs(5);

/// After this time without a notification, the connection is tested.
const LONGEST_QUIET: Duration = Duration::from_secs(2);

/// How often news is looked for while no notifications arrive.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The time after which a process tries again whether notifications arrive.
const TRY_AGAIN: Duration = Duration::from_secs(60);

/// What a process says while no notifications arrive.
pub const NOT_NOTIFIED: &str =
    "no notifications from Postgres arrive, so jobs and results are looked for once a second";

/// An event of the listening connection.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Notifications may have been missed: the connection was opened, or none arrive.
    Missed,
    /// A notification was received.
    Notified {
        /// Its channel.
        channel: &'a str,
        /// Its payload.
        payload: &'a str,
    },
}

impl Database {
    /// Whether notifications arrive. While they do not, [`Database::listen`] says once a second that some may be missed.
    pub fn is_notified(&self) -> bool {
        self.is_notified.load(Ordering::Relaxed)
    }

    /// Listens on the channels until the returned future is dropped, and calls `on_event` for each event. It uses its
    /// own connection instead of one from the pool, so that no query has to wait for it.
    pub async fn listen(&self, channels: &[&str], mut on_event: impl FnMut(Event<'_>)) {
        let Some(servers) = &self.listener else {
            self.is_notified.store(false, Ordering::Relaxed);
            return poll(&mut on_event).await;
        };
        let mut pauses = PAUSES.build();
        loop {
            match self.connect_listener(servers).await {
                Ok(mut listener) => {
                    pauses = PAUSES.build();
                    let error = self.forward(&mut listener, channels, &mut on_event).await;
                    tracing::warn!(%error, "lost the connection that listens for notifications; connecting again");
                }
                Err(error) => tracing::warn!(%error, "cannot listen for notifications; trying again"),
            }
            sleep(pauses.next().unwrap_or_default()).await; // it always has a next one
        }
    }

    /// Whether a notification arrives that this process sends to itself.
    pub async fn check_notifications(&self) -> Result<bool, sqlx::Error> {
        let Some(servers) = &self.listener else { return Ok(false) };
        let mut listener = self.connect_listener(servers).await?;
        self.echoes(&mut listener).await
    }

    async fn connect_listener(&self, servers: &Servers) -> Result<PgListener, sqlx::Error> {
        let connect = async {
            let (_, options) = servers.find().await?; // a listener connects by itself
            let pool = PgPoolOptions::new()
                .max_connections(1)
                .max_lifetime(None)
                .idle_timeout(None)
                .connect_lazy_with(options.clone().application_name(&format!("{} listener", self.name)));
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.eager_reconnect(false);
            Ok(listener)
        };
        within(ACQUIRE_LIMIT, connect).await
    }

    /// Forwards notifications until the connection is lost. If none arrive, polls for a while before it tries again.
    async fn forward(
        &self,
        listener: &mut PgListener,
        channels: &[&str],
        on_event: &mut impl FnMut(Event<'_>),
    ) -> sqlx::Error {
        on_event(Event::Missed);
        loop {
            let echoes = tokio::select! {
                echoes = self.echoes(listener) => echoes,
                () = poll(on_event) => Ok(false),
            };
            match echoes {
                Ok(true) => break,
                Ok(false) => {
                    self.is_notified.store(false, Ordering::Relaxed);
                    tracing::warn!(
                        "{NOT_NOTIFIED}: set AKHAR_DATABASE_LISTEN_URL to an address without a pooler in transaction mode"
                    );
                    let _ = timeout(TRY_AGAIN, poll(on_event)).await; // it never ends by itself
                }
                Err(error) => return error,
            }
        }
        if let Err(error) = within(ECHO_LIMIT, listener.listen_all(channels.iter().copied())).await {
            return error;
        }
        self.is_notified.store(true, Ordering::Relaxed);
        on_event(Event::Missed);
        loop {
            match timeout(LONGEST_QUIET, listener.try_recv()).await {
                Ok(Ok(Some(notification))) => {
                    let channel = notification.channel();
                    let payload = notification.payload();
                    on_event(Event::Notified { channel, payload });
                }
                Ok(Ok(None)) => return sqlx::Error::WorkerCrashed, // the connection was closed
                Ok(Err(error)) => return error,
                Err(_) => {
                    if let Err(error) = within(ECHO_LIMIT, check_writable(&mut *listener)).await {
                        return error;
                    }
                }
            }
        }
    }

    /// Whether a notification arrives that a connection of the pool sends.
    ///
    /// Behind a pooler in transaction mode, both use the same connection of the server one after the other. Then it does not
    /// listen: whoever uses that connection next would get the notifications.
    async fn echoes(&self, listener: &mut PgListener) -> Result<bool, sqlx::Error> {
        let backend = || sqlx::query_scalar::<_, i32>("select pg_backend_pid()");
        let of_listener = within(ECHO_LIMIT, backend().fetch_one(&mut *listener)).await?;
        if of_listener == backend().fetch_one(&self.pool).await? {
            return Ok(false);
        }
        let channel = format!("akhar_echo_{}", Uuid::new_v4().simple());
        within(ECHO_LIMIT, listener.listen(&channel)).await?;
        match sqlx::query("select pg_notify($1, '')").bind(&channel).execute(&self.pool).await {
            // The notification came to the connection that sends it, which a pooler lets use that of the listener.
            Err(sqlx::Error::Protocol(_)) => return Ok(false),
            sent => sent?,
        };
        let arrived = timeout(ECHO_LIMIT, async {
            listener.recv().await?;
            listener.unlisten(&channel).await
        });
        arrived.await.map_or(Ok(false), |arrived| arrived.map(|()| true))
    }
}

/// Looks for news once a second.
async fn poll(on_event: &mut impl FnMut(Event<'_>)) {
    loop {
        sleep(POLL_INTERVAL).await;
        on_event(Event::Missed);
    }
}
