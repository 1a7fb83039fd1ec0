//! Looking jobs up, and counting what waits.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use crate::{Job, JobId, JobState, Operation, Outcome, Queue, Timing};

use super::{artifacts, unreadable};

#[derive(sqlx::FromRow)]
struct JobRow {
    id: JobId,
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

/// The jobs with these ids, in no order; an id that names none is left out.
pub async fn find_many(db: &mut PgConnection, ids: &[JobId]) -> Result<Vec<Job>, sqlx::Error> {
    select(db, ids, None).await
}

/// An account's job. `None`: there is none, or it is another account's.
pub async fn find(db: &PgPool, id: JobId, account_id: Uuid) -> Result<Option<Job>, sqlx::Error> {
    Ok(select(&mut *db.acquire().await?, &[id], Some(account_id)).await?.pop())
}

async fn select(
    db: &mut PgConnection,
    ids: &[JobId],
    account_id: Option<Uuid>,
) -> Result<Vec<Job>, sqlx::Error> {
    let rows: Vec<JobRow> = sqlx::query_as(
        "select id, operation, state, attempt, created_at, started_at, ended_at, outcome, decode_us, infer_us,
             transcribed_s
         from jobs where id = any($1) and ($2 is null or account_id = $2)",
    )
    .bind(ids.iter().map(|id| id.0).collect::<Vec<_>>())
    .bind(account_id)
    .fetch_all(&mut *db)
    .await?;
    let mut jobs = rows.into_iter().map(JobRow::into_job).collect::<Result<Vec<_>, _>>()?;
    let outcomes = jobs.iter_mut().filter_map(|job| Some((job.id, job.outcome.as_mut()?)));
    artifacts::fetch(db, outcomes).await?;
    Ok(jobs)
}

impl JobRow {
    fn into_job(self) -> Result<Job, sqlx::Error> {
        let operation = Operation::ALL
            .into_iter()
            .find(|o| o.name() == self.operation)
            .ok_or_else(|| unreadable("operation", &self.operation))?;
        let timing =
            self.decode_us.zip(self.infer_us).map(|(decode_us, infer_us)| Timing { decode_us, infer_us });
        Ok(Job {
            id: self.id,
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

/// How many jobs wait in a queue, counted to `limit` at most.
pub async fn n_waiting(db: &PgPool, queue: Queue, limit: i64) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(
        "select count(*) from (select from jobs where queue = $1 and state = 'queued' limit $2) waiting",
    )
    .bind(queue.name())
    .bind(limit)
    .fetch_one(db)
    .await
}
