//! What an operator sees: jobs by state, queues by depth, workers by heartbeat.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgPool;

use crate::{JobId, JobState, Queue};

/// A job in a list: what an operator needs to recognise it. No upload and no outcome.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct ListedJob {
    /// The job.
    pub id: JobId,
    /// The queue's stored name.
    pub queue: String,
    /// Where it is in its life.
    pub state: JobState,
    /// Claims so far.
    pub attempt: i32,
    /// Claims allowed.
    pub max_attempts: i32,
    /// 1: somebody waits for it; 0: asynchronous.
    pub priority: i16,
    /// Its parameters, as stored.
    pub parameters: Value,
    /// The worker that runs it.
    pub worker: Option<String>,
    /// Not claimed before this time.
    pub run_at: DateTime<Utc>,
    /// Last claim.
    pub started_at: Option<DateTime<Utc>>,
    /// End.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Jobs of one queue, or of all, in one state, or in any, newest first.
pub async fn list_jobs(
    db: &PgPool,
    queue: Option<Queue>,
    state: Option<JobState>,
    limit: i64,
    offset: i64,
) -> Result<Vec<ListedJob>, sqlx::Error> {
    sqlx::query_as(
        "select id, queue, state, attempt, max_attempts, priority, parameters, worker, run_at, started_at, ended_at
         from jobs where ($1 is null or queue = $1) and ($2 is null or state = $2)
         order by id desc limit $3 offset $4",
    )
    .bind(queue.map(Queue::name))
    .bind(state.map(JobState::name))
    .bind(limit)
    .bind(offset)
    .fetch_all(db)
    .await
}

/// How many jobs of a queue are in one state.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct QueueDepth {
    /// The queue's stored name.
    pub queue: String,
    /// The state.
    pub state: JobState,
    /// How many.
    pub n_jobs: i64,
}

/// Every queue's jobs, counted by state. Reads the whole table.
pub async fn queue_depths(db: &PgPool) -> Result<Vec<QueueDepth>, sqlx::Error> {
    sqlx::query_as(
        "select queue, state, count(*) as n_jobs from jobs group by queue, state order by queue, state",
    )
    .fetch_all(db)
    .await
}

/// A worker process that has not signed off.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct WorkerRow {
    /// Its name.
    pub name: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// Its last heartbeat.
    pub seen_at: DateTime<Utc>,
}

/// Every worker, the one heard from last first.
pub async fn list_workers(db: &PgPool) -> Result<Vec<WorkerRow>, sqlx::Error> {
    sqlx::query_as("select name, started_at, seen_at from workers order by seen_at desc").fetch_all(db).await
}
