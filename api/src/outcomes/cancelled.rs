//! Reports jobs that were cancelled: in metrics, and in one log line each, as a worker reports the other ends.

use std::collections::HashMap;

use akhar_jobs::{
    JobId, JobState,
    store::{self, EndedFacts},
};
use akhar_platform::database::Pool;
use akhar_platform::{metrics, telemetry::JOB_ENDED};

/// Who cancelled a job.
#[derive(Debug, Clone, Copy)]
pub(crate) enum By {
    /// A request of its account.
    Request,
    /// The client that waited for it, by closing its connection.
    Disconnect,
}

impl By {
    const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Disconnect => "disconnect",
        }
    }
}

/// Reports jobs that have just been cancelled.
pub(crate) async fn report(db: &Pool, jobs: &[JobId], by: By) {
    let state = JobState::Cancelled.name();
    let facts = store::ended_facts(db, jobs).await.unwrap_or_default();
    let mut facts: HashMap<JobId, EndedFacts> = facts.into_iter().map(|facts| (facts.id, facts)).collect();
    for job in jobs {
        let Some(EndedFacts { account_id, operation, request_id, attempt, wait_ms, run_ms, .. }) =
            facts.remove(job)
        else {
            tracing::info!(%job, state, by = by.name(), "{JOB_ENDED}");
            continue;
        };
        metrics::JOBS_CANCELLED.add_one([&operation, by.name()]);
        tracing::info!(
            parent: None, %job, request_id, account = %account_id, operation, attempt, state, wait_ms, run_ms,
            by = by.name(), "{JOB_ENDED}"
        );
    }
}
