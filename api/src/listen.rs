//! What this process listens for: announcements come in, waiters are woken and cached keys forgotten.

use akhar_accounts::keys::API_KEY_CHANGED;
use akhar_jobs::store::{self, JOBS_ENDED};
use akhar_platform::database::Event;

use crate::app::App;

/// Listens until dropped.
pub(crate) async fn listen(app: App) {
    let database = app.database.clone();
    let on_event = |event: Event<'_>| match event {
        Event::Connected => app.catch_up(),
        Event::Notified { channel, payload } => act(&app, channel, payload),
    };
    database.listen(&[JOBS_ENDED, API_KEY_CHANGED], on_event).await;
}

fn act(app: &App, channel: &str, payload: &str) {
    match channel {
        JOBS_ENDED => {
            for (id, job) in store::ended(payload) {
                app.waiters.wake(id, job);
            }
        }
        API_KEY_CHANGED => app.auth.keys.forget_all(), // rare; each is read again when it is next presented
        _ => (),
    }
}
