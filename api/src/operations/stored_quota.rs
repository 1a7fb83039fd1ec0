//! Refuses the job of an account that has stored as much as it may.

use akhar_jobs::{JobId, store};
use akhar_platform::database::retry_transient;

use crate::{app::App, auth::caller::Caller, problems::Problem, stored::INTERVAL};

const NAME: &str = "stored-mb";

/// Bytes in a megabyte.
const MB: u64 = 1_000_000;

/// Refuses a job, unless it is submitted already, which only one with a key can be: another refusal costs no statement.
pub(super) async fn check(app: &App, caller: &Caller, with_key: Option<JobId>) -> Result<(), Problem> {
    let quota = caller.quotas.stored_mb.and_then(|mb| u64::try_from(mb).ok());
    let most = quota.map_or_else(|| app.max_stored_bytes(), |mb| mb * MB);
    if app.stored.of(caller.account_id) < most {
        return Ok(());
    }
    if let Some(job) = with_key
        && retry_transient(|_| store::find(&app.database.pool, job, caller.account_id, &[])).await?.is_some()
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
