//! The one LISTEN connection of this process: announcements come in, waiters are woken and keys forgotten.

use std::time::Duration;

use akhar_accounts::keys::API_KEY_CHANGED;
use akhar_jobs::{JobId, store::JOB_ENDED};
use sqlx::postgres::{PgListener, PgNotification, PgPoolOptions};
use tokio::time::sleep;
use uuid::Uuid;

use crate::app::App;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Listens until dropped, through any number of lost connections.
pub(crate) async fn listen(app: App) {
    let mut pause = FIRST_PAUSE;
    loop {
        match connect(&app).await {
            Ok(mut listener) => {
                pause = FIRST_PAUSE;
                app.catch_up();
                let error = hear(&app, &mut listener).await;
                tracing::warn!(%error, "lost the connection that hears announcements");
            }
            Err(error) => tracing::warn!(%error, "cannot hear announcements; waiters look every second"),
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Its own connection, outside the pools, so that listening takes no query's place.
async fn connect(app: &App) -> Result<PgListener, sqlx::Error> {
    let options = app.database.durable.connect_options().as_ref().clone().application_name("akhar-listen");
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .max_lifetime(None)
        .idle_timeout(None)
        .acquire_timeout(Duration::from_secs(5))
        .connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen_all([JOB_ENDED, API_KEY_CHANGED]).await?;
    Ok(listener)
}

async fn hear(app: &App, listener: &mut PgListener) -> sqlx::Error {
    loop {
        match listener.try_recv().await {
            Ok(Some(announcement)) => act(app, &announcement).await,
            Ok(None) => {
                tracing::info!("hearing announcements again");
                app.catch_up();
            }
            Err(error) => return error,
        }
    }
}

async fn act(app: &App, announcement: &PgNotification) {
    let Ok(id) = Uuid::try_parse(announcement.payload()) else {
        return tracing::warn!(channel = announcement.channel(), "an announcement without an id");
    };
    match announcement.channel() {
        JOB_ENDED => app.waiters.wake(JobId(id)),
        API_KEY_CHANGED => app.auth.keys.forget(id).await,
        _ => (),
    }
}
