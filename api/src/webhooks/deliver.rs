//! Finds the ends of groups, leases due deliveries and starts their attempts.

use std::{sync::Arc, time::Duration};

use akhar_jobs::store;
use akhar_requests::QUEUES;
use tokio::time::{Instant, sleep};

use super::{attempt::Attempts, running::Running, sender::Sender};
use crate::app::App;

/// How often a process looks for ended groups and due deliveries if nothing is announced.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// After a look, the process pauses for this multiple of the time that it took, so that looking takes
/// at most a twentieth of a core even if very many groups are open or deliveries wait.
const PAUSE_PER_TIME: u32 = 20;
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Delivers until the process stops. Attempts that have begun go on as tasks of the app.
pub(crate) async fn deliver(app: App) {
    let draining = app.shutdown.soft.clone();
    let attempts = Arc::new(Attempts {
        sender: Sender::new(app.url_rules.clone()),
        running: Running::new(app.webhooks_due.clone()),
        app,
    });
    let deliver = async {
        loop {
            let due = &attempts.app.webhooks_due;
            tokio::select! { () = due.notified() => (), () = sleep(POLL_INTERVAL) => () }
            let began = Instant::now();
            let looked = async {
                store::find_ends(&attempts.app.database.pool, &QUEUES).await?;
                begin_attempts(&attempts).await
            };
            if let Err(error) = looked.await {
                tracing::debug!(%error, "cannot look for due webhooks now");
            }
            sleep((began.elapsed() * PAUSE_PER_TIME).min(MAX_PAUSE)).await;
        }
    };
    tokio::select! { () = deliver => (), () = draining.cancelled() => () }
}

/// Begins as many attempts as are due and may run.
async fn begin_attempts(attempts: &Arc<Attempts>) -> Result<(), sqlx::Error> {
    loop {
        let limits = attempts.running.limits();
        if limits.n_free <= 0 {
            return Ok(());
        }
        let leased = store::lease_deliveries(&attempts.app.database.pool, &limits).await?;
        if leased.is_empty() {
            return Ok(());
        }
        for delivery in leased {
            let place = attempts.running.begin(&delivery);
            let attempts = attempts.clone();
            attempts.app.tasks.clone().spawn(async move {
                attempts.attempt(&delivery).await;
                drop(place);
            });
        }
    }
}
