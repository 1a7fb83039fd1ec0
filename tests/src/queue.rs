//! Statements of the queue on any connection of a pool.

use std::collections::BTreeMap;

use akhar_jobs::{
    End, JobId, NewJob,
    store::{self, Ending, Ends, Submitted},
};
use akhar_platform::database::Pool;
use akhar_requests::{Outcome, Parameters, TopK};
use sqlx::PgConnection;
use uuid::Uuid;

/// Submits jobs.
pub async fn submit(db: &Pool, jobs: &[&NewJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    db.with(async |db: &mut PgConnection| store::submit(db, jobs).await).await
}

/// Ends jobs.
pub async fn end(db: &Pool, endings: &[Ending]) -> Result<Ends, sqlx::Error> {
    db.with(async |db: &mut PgConnection| store::end(db, endings).await).await
}

/// An asynchronous job of an account of its own, for a digit, without an upload.
pub fn new_job() -> NewJob {
    let parameters = Parameters::DigitRecognition { top_k: TopK::new(3).expect("a valid number") };
    NewJob {
        id: JobId(Uuid::now_v7()),
        account_id: Uuid::now_v7(),
        work: parameters.work().expect("JSON"),
        upload: None,
        reserved_upload: None,
        recording_url: None,
        request_id: "test".to_owned(),
        traceparent: None,
        asynchronous: true,
        webhook_url: None,
        retain_s: None,
        group: None,
        group_webhook_url: None,
        labels: BTreeMap::new(),
        max_queued: None,
    }
}

/// The end of a job that recognised nothing.
pub fn answer() -> End {
    Outcome::Predictions { predictions: Vec::new() }.try_into().expect("JSON")
}
