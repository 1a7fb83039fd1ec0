//! How much each account has stored, and whether it may store more.

use std::{collections::HashMap, time::Duration};

use akhar_jobs::{JobId, store};
use akhar_platform::database::Pool;
use parking_lot::RwLock;
use tokio::time::sleep;
use uuid::Uuid;

use crate::{app::App, auth::caller::Caller, problems::Problem, retry::retry_transient};

/// How often the bytes are estimated. An account may store more than it may for so long.
const INTERVAL: Duration = Duration::from_secs(60);

const NAME: &str = "stored-mb";

/// Bytes in a megabyte.
const MB: u64 = 1_000_000;

/// The last estimate.
#[derive(Debug, Default)]
pub(crate) struct Stored(RwLock<HashMap<Uuid, u64>>);

impl Stored {
    fn of(&self, account_id: Uuid) -> u64 {
        self.0.read().get(&account_id).copied().unwrap_or(0)
    }
}

/// Estimates the stored bytes once a minute, for as long as it runs.
pub(crate) async fn estimate(app: App, db: Pool) {
    loop {
        match store::stored_bytes(&db).await {
            Ok(bytes) => *app.stored.0.write() = bytes,
            Err(error) => tracing::debug!(%error, "cannot estimate how much accounts have stored"),
        }
        sleep(INTERVAL).await;
    }
}

/// Refuses a job of an account that has stored as much as it may. One that is submitted already is accepted, which only a job with
/// a key can be: another refusal costs no statement.
pub(crate) async fn check(app: &App, caller: &Caller, with_key: Option<JobId>) -> Result<(), Problem> {
    let quota = caller.quotas.stored_mb.and_then(|mb| u64::try_from(mb).ok());
    let most = quota.map_or_else(|| app.max_stored_bytes(), |mb| mb * MB);
    if app.stored.of(caller.account_id) < most {
        return Ok(());
    }
    if let Some(job) = with_key
        && retry_transient(|_| store::find(&app.database.pool, job, caller.account_id)).await?.is_some()
    {
        return Ok(());
    }
    let detail = format!(
        "Your account may have {} MB of uploads and results stored. Delete jobs whose results you have, or have them kept \
         for a shorter time (Akhar-Retain).",
        most / MB
    );
    Err(Problem::quota(NAME, detail, INTERVAL))
}
