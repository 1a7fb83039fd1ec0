//! Records that a worker process is alive, or that it has stopped, and finds the last heartbeat of each.

use std::time::Duration;

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::types::Json;

use super::Orders;

/// A worker is shown as dead when it has sent no heartbeat for this long.
pub const DEAD_AFTER: Duration = Duration::from_secs(3);

/// A model that a worker has loaded, and what for. It is stored in rows: never rename a field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LoadedModel {
    /// The operation in the model's manifest.
    pub operation: String,
    /// The language for which the worker has chosen the model. `None` if the operation has one model for all.
    pub language: Option<String>,
    /// The model's id.
    pub id: String,
    /// The start of the SHA-256 of the hashes of its files.
    pub version: String,
}

/// Records a heartbeat of `worker` with the models that it has loaded, which adds the worker if it is new. Returns what it may do.
pub async fn beat(db: &Pool, worker: &str, models: &[LoadedModel]) -> Result<Orders, sqlx::Error> {
    sqlx::query_as(
        "with beat as (
             insert into workers (name, models, program) values ($1, $2, $3) on conflict (name) do update
             set seen_at = now(), models = excluded.models,
                 models_since = case when workers.models = excluded.models then workers.models_since else now() end
             returning is_draining)
         select is_draining or is_quiet() as is_draining, array(select queue from queue_modes() where mode = 'paused') as paused,
             set_config('synchronous_commit', 'off', true)
         from beat",
    )
    .bind(worker)
    .bind(Json(models))
    .bind(env!("CARGO_PKG_VERSION"))
    .fetch_one(db)
    .await
}

/// The last heartbeat of a worker.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Heartbeat {
    /// The worker's name.
    pub worker: String,
    /// When the heartbeat was written. `None` if the worker is not in the list of workers any more and still has jobs.
    pub seen_at: Option<DateTime<Utc>>,
    /// The time of the database at which this was found.
    pub found_at: DateTime<Utc>,
}

/// Finds the last heartbeats of all workers that are in the list of workers or have running jobs.
pub async fn heartbeats(db: &Pool) -> Result<Vec<Heartbeat>, sqlx::Error> {
    sqlx::query_as(
        "select name as worker, seen_at, now() as found_at from workers
         union all
         select distinct worker, null::timestamptz, now() from running_jobs() j
         where not exists (select from workers w where w.name = j.worker)",
    )
    .fetch_all(db)
    .await
}

/// The last heartbeats of the workers whose names begin with this. Fails or waits whenever no heartbeat could be written
/// either, because it writes to the same rows.
pub async fn last_heartbeats(db: &Pool, name_start: &str) -> Result<Vec<DateTime<Utc>>, sqlx::Error> {
    sqlx::query_scalar(
        "with touched as (
             update workers set is_draining = is_draining where starts_with(name, $1) returning name, seen_at)
         select seen_at from touched order by name",
    )
    .bind(name_start)
    .fetch_all(db)
    .await
}

/// Whether any worker is alive and claims jobs.
pub async fn any_alive(db: &Pool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "select exists (
             select from workers where seen_at > now() - make_interval(secs => $1) and not is_draining)",
    )
    .bind(DEAD_AFTER.as_secs_f64())
    .fetch_one(db)
    .await
}

/// Deletes a worker that has stopped. The jobs that it still held count as lost immediately (see [`super::lost`]).
pub async fn leave(db: &Pool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from workers where name = $1").bind(worker).execute(db).await?;
    Ok(())
}
