//! Handles Postgres notifications: wakes the requests that wait for ended jobs, empties what is cached of keys and queues,
//! and says that webhooks are due.

use akhar_accounts::keys::API_KEY_CHANGED;
use akhar_jobs::store::{self, JOBS_ENDED, QUEUE_MODE_CHANGED, STREAM_OUTPUTS, WEBHOOKS_DUE};
use akhar_platform::database::Event;

use crate::app::App;

/// Listens until the returned future is dropped.
pub(crate) async fn listen(app: App) {
    let database = app.database.clone();
    let on_event = |event: Event<'_>| match event {
        Event::Missed => app.catch_up(),
        Event::Notified { channel, payload } => handle(&app, channel, payload),
    };
    let channels = [JOBS_ENDED, API_KEY_CHANGED, QUEUE_MODE_CHANGED, STREAM_OUTPUTS, WEBHOOKS_DUE];
    database.listen(&channels, on_event).await;
}

fn handle(app: &App, channel: &str, payload: &str) {
    match channel {
        JOBS_ENDED => {
            app.outputs.announce(payload);
            for id in store::ended(payload) {
                app.waiters.wake(id);
            }
        }
        // Changes are rare, so the whole cache is emptied. Each key is read again when it is next used.
        API_KEY_CHANGED => app.auth.keys.forget_all(),
        QUEUE_MODE_CHANGED => app.admission.forget_counts(),
        STREAM_OUTPUTS => app.outputs.announce(payload),
        WEBHOOKS_DUE => app.webhooks_due.notify_one(),
        _ => (),
    }
}
