//! Numbers and lists for operators: the jobs of each queue and state, and the workers. `find` lists the jobs of an account.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use sqlx::types::Json;

use crate::JobState;

use super::{DEAD_AFTER, LoadedModel};

/// The number of jobs of one queue in one state.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct QueueDepth {
    /// The name of the queue, as stored.
    pub queue: String,
    /// The state.
    pub state: JobState,
    /// The number of jobs.
    pub n_jobs: i64,
}

/// Counts the jobs of each queue and state. Reads the whole table.
pub async fn queue_depths(db: &Pool) -> Result<Vec<QueueDepth>, sqlx::Error> {
    sqlx::query_as(
        "select queue, state, count(*) as n_jobs from jobs group by queue, state order by queue, state",
    )
    .fetch_all(db)
    .await
}

/// The jobs of one operation in one state that have not ended.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Unended {
    /// The name of the queue, as stored.
    pub queue: String,
    /// The name of the operation, as stored.
    pub operation: String,
    /// `queued` or `running`.
    pub state: JobState,
    /// The number of jobs.
    pub n_jobs: i64,
    /// The age of the oldest of them, seconds.
    pub oldest_s: f64,
}

/// Counts the jobs that have not ended. Reads only their rows, by the indexes of the claims and the sweeper.
pub async fn unended(db: &Pool) -> Result<Vec<Unended>, sqlx::Error> {
    sqlx::query_as(
        "select queue, operation, state, count(*) as n_jobs,
             greatest(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_s
         from jobs where state = 'queued' group by queue, operation, state
         union all
         select queue, operation, state, count(*),
             greatest(extract(epoch from now() - min(created_at)), 0)::float8
         from jobs where state = 'running' group by queue, operation, state",
    )
    .fetch_all(db)
    .await
}

/// A worker process that has not reported that it stopped.
#[derive(Debug, Clone, serde::Serialize, sqlx::FromRow)]
pub struct WorkerRow {
    /// The name of the worker.
    pub name: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// The time of its last heartbeat.
    pub seen_at: DateTime<Utc>,
    /// Whether its heartbeats come.
    pub is_alive: bool,
    /// Whether an operator decided that it claims no more jobs.
    pub is_draining: bool,
    /// The number of jobs that it runs.
    pub n_jobs: i64,
    /// The models that it has loaded. None if it is of a version that does not say so.
    pub models: Json<Vec<LoadedModel>>,
    /// When it loaded them.
    pub models_since: DateTime<Utc>,
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerState {
    /// It claims jobs.
    Works,
    /// It claims no more jobs, and has some.
    Draining,
    /// It claims no more jobs, and has none.
    Drained,
    /// Its heartbeats have stopped.
    Silent,
}

impl WorkerState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Works, Self::Draining, Self::Drained, Self::Silent];

    /// The name in the output of commands and in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Draining => "draining",
            Self::Drained => "drained",
            Self::Silent => "silent",
        }
    }
}

impl WorkerRow {
    /// The state of the worker.
    pub const fn state(&self) -> WorkerState {
        match self {
            Self { is_alive: false, .. } => WorkerState::Silent,
            Self { is_draining: true, n_jobs: 0, .. } => WorkerState::Drained,
            Self { is_draining: true, .. } => WorkerState::Draining,
            _ => WorkerState::Works,
        }
    }
}

/// All workers. The one with the latest heartbeat comes first.
pub async fn list_workers(db: &Pool) -> Result<Vec<WorkerRow>, sqlx::Error> {
    sqlx::query_as(
        "select name, started_at, seen_at, seen_at > now() - make_interval(secs => $1) as is_alive, is_draining,
             (select count(*) from jobs where worker = w.name and state = 'running') as n_jobs, models, models_since
         from workers w order by seen_at desc, name",
    )
    .bind(DEAD_AFTER.as_secs_f64())
    .fetch_all(db)
    .await
}
