//! The connection on which a process listens for Postgres notifications. It is opened again whenever it is lost.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use sqlx::postgres::{PgListener, PgPoolOptions};

use super::Database;

/// The pauses between attempts to connect. Up to as much is added at random.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_millis(750))
    .without_max_times()
    .with_jitter();

/// An event of the listening connection.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// The connection was opened or opened again. Earlier notifications may have been missed.
    Connected,
    /// A notification was received.
    Notified {
        /// Its channel.
        channel: &'a str,
        /// Its payload.
        payload: &'a str,
    },
}

impl Database {
    /// Listens on the channels until the returned future is dropped, and calls `on_event` for each event. It uses its
    /// own connection instead of one from a pool, so that no query has to wait for it.
    pub async fn listen(&self, channels: &[&str], mut on_event: impl FnMut(Event<'_>)) {
        let mut pauses = PAUSES.build();
        loop {
            match self.connect_listener(channels).await {
                Ok(mut listener) => {
                    pauses = PAUSES.build();
                    on_event(Event::Connected);
                    let error = forward(&mut listener, &mut on_event).await;
                    tracing::warn!(%error, "lost the connection that listens for notifications; connecting again");
                }
                Err(error) => tracing::warn!(%error, "cannot listen for notifications; trying again"),
            }
            tokio::time::sleep(pauses.next().unwrap_or_default()).await; // it always has a next one
        }
    }

    async fn connect_listener(&self, channels: &[&str]) -> Result<PgListener, sqlx::Error> {
        let options = self.durable.connect_options().as_ref().clone();
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .max_lifetime(None)
            .idle_timeout(None)
            .acquire_timeout(Duration::from_secs(5))
            .connect_lazy_with(options.application_name(&format!("{} listener", self.name)));
        let mut listener = PgListener::connect_with(&pool).await?;
        listener.listen_all(channels.iter().copied()).await?;
        Ok(listener)
    }
}

async fn forward(listener: &mut PgListener, on_event: &mut impl FnMut(Event<'_>)) -> sqlx::Error {
    loop {
        match listener.try_recv().await {
            Ok(Some(notification)) => {
                let channel = notification.channel();
                let payload = notification.payload();
                on_event(Event::Notified { channel, payload });
            }
            Ok(None) => {
                tracing::info!("listening for notifications again");
                on_event(Event::Connected);
            }
            Err(error) => return error,
        }
    }
}
