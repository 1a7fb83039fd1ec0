//! Cancels the job of a client that disconnects before the job has started.

use std::time::Duration;

use akhar_jobs::{
    JobId, NewJob,
    store::{self, Guard},
};
use akhar_platform::database::may_recover;
use tracing::{Instrument as _, Span};
use uuid::Uuid;

use crate::{
    app::App,
    outcomes::cancelled::{self, By},
};

/// The pause before another try to cancel a job while the database cannot be reached or has no space.
const CANCEL_PAUSE: Duration = Duration::from_millis(500);

/// If it is dropped while armed, it cancels the job unless the job has started.
pub(crate) struct CancelOnDisconnect {
    armed: Option<(App, JobId, Uuid)>,
}

impl CancelOnDisconnect {
    /// The guard is armed unless the job outlives its client.
    pub(super) fn new(app: &App, job: &NewJob, outlives_client: bool) -> Self {
        Self { armed: (!outlives_client).then(|| (app.clone(), job.id, job.account_id)) }
    }

    /// The client gets its answer, so the job is not cancelled any more.
    pub(crate) fn disarm(&mut self) {
        self.armed = None;
    }
}

impl Drop for CancelOnDisconnect {
    fn drop(&mut self) {
        let Some((app, job, account_id)) = self.armed.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let tasks = app.tasks.clone();
        tasks.spawn_on(cancel(app, job, account_id).instrument(Span::current()), &runtime);
    }
}

async fn cancel(app: App, job: JobId, account_id: Uuid) {
    let db = &app.database.pool;
    loop {
        match store::cancel(db, Guard::Queued { job, account_id }).await {
            Ok(ends) if ends.any() => {
                app.uploads.delete(ends.objects);
                return cancelled::report(db, &[job], By::Disconnect).await;
            }
            Ok(_) => {
                tracing::debug!("the client disconnected, and its job has started or ended");
                return;
            }
            Err(error) if may_recover(&error) && !app.shutdown.soft.is_cancelled() => {
                tracing::debug!(%error, "cannot cancel a job now: trying again");
                tokio::time::sleep(CANCEL_PAUSE).await;
            }
            Err(error) => {
                tracing::error!(%error, "cannot cancel the job of a client that disconnected");
                return;
            }
        }
    }
}
