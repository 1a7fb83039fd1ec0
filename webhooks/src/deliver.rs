//! Finds the ends of groups, leases due deliveries and starts their attempts.

use std::{sync::Arc, time::Duration};

use akhar_jobs::Queue;
use akhar_platform::database::Pool;
use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    attempt::{Attempts, Bodies},
    caller_urls::UrlRules,
    running::Running,
    sender::Sender,
    store,
};

/// How often a process looks for ended groups and due deliveries if nothing is announced.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// After a look, the process pauses for this multiple of the time that it took, so that looking takes
/// at most a twentieth of a core even if very many groups are open or deliveries wait.
const PAUSE_PER_TIME: u32 = 20;
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// What delivering needs.
#[derive(Debug)]
pub struct Deliver<B> {
    /// The database of the jobs.
    pub db: Pool,
    /// The queues, whose groups are looked at.
    pub queues: &'static [Queue],
    /// Where webhooks may be sent.
    pub rules: Arc<UrlRules>,
    /// Writes the bodies.
    pub bodies: B,
    /// Notified when a delivery may be due.
    pub due: Arc<Notify>,
    /// The attempts. They go on when the process stops.
    pub tasks: TaskTracker,
    /// Cancelled when the process begins no more attempts.
    pub draining: CancellationToken,
}

/// Delivers until the process stops. Attempts that have begun go on as tasks.
pub async fn deliver<B: Bodies>(deliver: Deliver<B>) {
    let Deliver { db, queues, rules, bodies, due, tasks, draining } = deliver;
    let running = Running::new(due.clone());
    let attempts =
        Arc::new(Attempts { db: db.clone(), sender: Sender::new(rules.clone()), rules, bodies, running });
    let deliver = async {
        loop {
            tokio::select! { () = due.notified() => (), () = sleep(POLL_INTERVAL) => () }
            let began = Instant::now();
            let looked = async {
                akhar_jobs::store::find_ends(&db, queues).await?;
                begin_attempts(&attempts, &tasks).await
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
async fn begin_attempts<B: Bodies>(
    attempts: &Arc<Attempts<B>>,
    tasks: &TaskTracker,
) -> Result<(), sqlx::Error> {
    loop {
        let limits = attempts.running.limits();
        if limits.n_free <= 0 {
            return Ok(());
        }
        let leased = store::lease(&attempts.db, &limits).await?;
        if leased.is_empty() {
            return Ok(());
        }
        for delivery in leased {
            let place = attempts.running.begin(&delivery);
            let attempts = attempts.clone();
            tasks.spawn(async move {
                attempts.attempt(&delivery).await;
                drop(place);
            });
        }
    }
}
