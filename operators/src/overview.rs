//! Numbers for the operations page: jobs by state, what Postgres keeps, and what needs attention. Each statement reads a limited
//! number of rows, so the numbers have upper limits.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    queues::{self, MAX_COUNTED, QueueLoad},
    workers::{self, Worker},
};

/// What happens now.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = AdminLoad)]
pub struct Load {
    /// The queues.
    pub queues: Vec<QueueLoad>,
    /// The workers.
    pub workers: Vec<Worker>,
}

/// What happens now.
pub async fn load(db: &Pool) -> Result<Load, sqlx::Error> {
    Ok(Load { queues: queues::loads(db).await?, workers: workers::list(db).await? })
}

/// Transcriptions in Panjabi are counted among this number of jobs that ended last.
const MAX_ENDED_READ: i64 = 2_000;

/// At most so many transcriptions are counted, because their outcomes can be large.
const MAX_TEXTS_READ: i64 = 100;

/// Transcriptions in Panjabi of the last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct PanjabiTexts {
    /// How many were counted, without those of silence.
    pub n: i64,
    /// How many of them have parts that are probably wrong.
    pub n_probably_wrong: i64,
}

/// Counts the transcriptions in Panjabi that ended last, of the last day.
pub async fn panjabi_texts(db: &Pool) -> Result<PanjabiTexts, sqlx::Error> {
    sqlx::query_as(
        "with ended as materialized (
             select operation, state, parameters, outcome from jobs where ended_at > now() - interval '1 day'
             order by ended_at desc limit $1),
         texts as materialized (
             select outcome from ended
             where operation = 'speech-recognition' and state = 'succeeded' and parameters ->> 'lang' = 'pa' limit $2)
         select count(*) as n,
             count(*) filter (where outcome -> 'probably_wrong' @> '[{\"text\": \"transcription\"}]') as n_probably_wrong
         from texts where outcome ->> 'transcription' <> ''",
    )
    .bind(MAX_ENDED_READ)
    .bind(MAX_TEXTS_READ)
    .fetch_one(db)
    .await
}

/// How many jobs wait, run and have failed: [`MAX_COUNTED`] + 1 for more. The table does not count those that have
/// succeeded.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub struct StateCounts {
    /// Jobs that wait.
    pub queued: i64,
    /// Jobs that run.
    pub running: i64,
    /// Jobs that failed.
    pub failed: i64,
}

/// Counts the jobs of the states that an operator looks at.
pub async fn state_counts(db: &Pool) -> Result<StateCounts, sqlx::Error> {
    sqlx::query_as(
        "select (select count(*) from (select from jobs where ended_at is null and state = 'queued' limit $1 + 1) as q) as queued,
             (select count(*) from (select from running_jobs() limit $1 + 1) as r) as running,
             (select count(*) from (select from jobs where ended_as = 'failed' limit $1 + 1) as f) as failed",
    )
    .bind(MAX_COUNTED)
    .fetch_one(db)
    .await
}

/// How large the table is.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub struct Kept {
    /// The number of jobs, if it is at most [`MAX_COUNTED`]. Otherwise about how many it has, as Postgres estimated when it
    /// last vacuumed or analysed it.
    pub n_jobs: i64,
    /// The time by the database's clock.
    pub at: DateTime<Utc>,
}

/// How large the table is. Jobs are not counted if the estimate is far above the number to which they are counted.
pub async fn kept(db: &Pool) -> Result<Kept, sqlx::Error> {
    sqlx::query_as(
        "with counted as materialized (
             select count(*) as n from (select from jobs order by id limit $1 + 1) as first)
         select case when reltuples > 2 * $1 then reltuples::int8
                 else (select case when n > $1 then greatest(n, reltuples::int8) else n end from counted) end as n_jobs,
             now() as at
         from pg_class where oid = 'jobs'::regclass",
    )
    .bind(MAX_COUNTED)
    .fetch_one(db)
    .await
}
