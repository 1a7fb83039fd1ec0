//! The one LISTEN connection of a process: channels come in; notifications go out, through any number of
//! lost connections.

use std::time::Duration;

use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio::time::sleep;

use super::Database;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What a listener is told.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Listening (again): earlier notifications may have been missed.
    Connected,
    /// A notification.
    Notified {
        /// Its channel.
        channel: &'a str,
        /// Its payload.
        payload: &'a str,
    },
}

impl Database {
    /// Listens on some channels until dropped, on a connection of its own, outside the pools, so that it
    /// takes no query's place.
    pub async fn listen(&self, channels: &[&str], mut on_event: impl FnMut(Event<'_>)) {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.connect_listener(channels).await {
                Ok(mut listener) => {
                    pause = FIRST_PAUSE;
                    on_event(Event::Connected);
                    let error = forward(&mut listener, &mut on_event).await;
                    tracing::warn!(%error, "lost the connection that listens for notifications");
                }
                Err(error) => tracing::warn!(%error, "cannot listen for notifications"),
            }
            sleep(pause.mul_f64(1.0 + rand::random::<f64>() / 2.0)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
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
                let (channel, payload) = (notification.channel(), notification.payload());
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
