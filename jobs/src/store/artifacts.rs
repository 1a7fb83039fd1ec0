//! Artifacts: the parts of an outcome that are stored as named bytes beside its row. They are deleted with their job.

use std::collections::HashMap;

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Artifact, End, JobId, StoredOutcome};

/// Artifacts as the three columns of an insert.
#[derive(Default)]
pub(super) struct Artifacts<'a> {
    pub(super) jobs: Vec<Uuid>,
    pub(super) names: Vec<&'a str>,
    pub(super) bytes: Vec<&'a [u8]>,
}

/// Collects the artifacts of the outcomes.
pub(super) fn of<'a>(ends: impl Iterator<Item = (JobId, &'a End)>) -> Artifacts<'a> {
    let mut artifacts = Artifacts::default();
    for (job, end) in ends {
        let (End::Answered(outcome, _) | End::Rejected(outcome)) = end else { continue };
        for Artifact { name, bytes } in &outcome.artifacts {
            artifacts.jobs.push(job.0);
            artifacts.names.push(name);
            artifacts.bytes.push(bytes);
        }
    }
    artifacts
}

/// Reads the artifacts of the outcomes and adds them.
pub(super) async fn fetch(
    db: &mut PgConnection,
    mut outcomes: HashMap<JobId, &mut StoredOutcome>,
) -> Result<(), sqlx::Error> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let jobs: Vec<Uuid> = outcomes.keys().map(|job| job.0).collect();
    let rows: Vec<(JobId, String, Vec<u8>)> =
        sqlx::query_as("select job_id, name, bytes from artifacts where job_id = any($1)")
            .bind(jobs)
            .fetch_all(db)
            .await?;
    for (job, name, bytes) in rows {
        if let Some(outcome) = outcomes.get_mut(&job) {
            outcome.artifacts.push(Artifact { name, bytes });
        }
    }
    Ok(())
}
