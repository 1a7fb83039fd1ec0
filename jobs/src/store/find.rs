//! Looking a job up, and counting what waits.

use chrono::{DateTime, Utc};
use sqlx::{PgPool, types::Json};
use uuid::Uuid;

use crate::{Job, JobId, JobState, Operation, Outcome, Queue, Timing};

use super::{artifacts, unreadable};

#[derive(sqlx::FromRow)]
struct JobRow {
    operation: String,
    state: JobState,
    attempt: i32,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    ended_at: Option<DateTime<Utc>>,
    outcome: Option<Json<Outcome>>,
    decode_us: Option<i32>,
    infer_us: Option<i32>,
    transcribed_s: Option<f64>,
}

/// A caller's job. `None`: there is none, or it is another caller's.
pub async fn find(db: &PgPool, id: JobId, caller_id: Uuid) -> Result<Option<Job>, sqlx::Error> {
    let row: Option<JobRow> = sqlx::query_as(
        "select operation, state, attempt, created_at, started_at, ended_at, outcome, decode_us, infer_us, transcribed_s
         from jobs where id = $1 and caller_id = $2",
    )
    .bind(id)
    .bind(caller_id)
    .fetch_optional(db)
    .await?;
    let mut job = row.map(|row| row.into_job(id)).transpose()?;
    if let Some(outcome) = job.as_mut().and_then(|job| job.outcome.as_mut()) {
        artifacts::fetch(db, id, outcome).await?;
    }
    Ok(job)
}

impl JobRow {
    fn into_job(self, id: JobId) -> Result<Job, sqlx::Error> {
        let operation = Operation::ALL
            .into_iter()
            .find(|o| o.name() == self.operation)
            .ok_or_else(|| unreadable("operation", &self.operation))?;
        let timing =
            self.decode_us.zip(self.infer_us).map(|(decode_us, infer_us)| Timing { decode_us, infer_us });
        Ok(Job {
            id,
            operation,
            state: self.state,
            attempt: self.attempt,
            created_at: self.created_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
            outcome: self.outcome.map(|o| o.0),
            timing,
            transcribed_s: self.transcribed_s,
        })
    }
}

/// Jobs that wait in a queue.
pub async fn n_waiting(db: &PgPool, queue: Queue) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("select count(*) from jobs where queue = $1 and state = 'queued'")
        .bind(queue.name())
        .fetch_one(db)
        .await
}
