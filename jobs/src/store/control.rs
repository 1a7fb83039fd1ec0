//! What operators have decided about queues and workers.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};

use crate::Queue;

use super::rows::column;

/// What happens to the jobs of a queue. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum QueueMode {
    /// Jobs are accepted and run.
    Open,
    /// Jobs are accepted, but none is started.
    Paused,
    /// No job is accepted. Those that wait are run.
    Draining,
}

impl QueueMode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Open, Self::Paused, Self::Draining];

    /// The name in rows and in the output of commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Draining => "draining",
        }
    }

    /// What the mode keeps from happening. `None` for an open queue.
    pub const fn effect(self) -> Option<&'static str> {
        match self {
            Self::Open => None,
            Self::Paused => Some("its jobs wait"),
            Self::Draining => Some("requests for it are refused"),
        }
    }
}

/// The mode of a queue.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct QueueControl {
    /// The mode.
    pub mode: QueueMode,
    /// When an operator set it. `None` if none ever did.
    pub changed_at: Option<DateTime<Utc>>,
    /// Why, if the operator said so.
    pub why: Option<String>,
    /// When the queue is open again. `None` if an operator opens it.
    pub until: Option<DateTime<Utc>>,
}

/// What a worker may do.
#[derive(Debug, Clone, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Orders {
    /// It must claim no more jobs: an operator drains it, or the database is quiet.
    pub is_draining: bool,
    /// The names of the queues of which no worker may claim jobs.
    pub paused: Vec<String>,
}

impl Orders {
    /// Whether the worker may claim jobs of this queue.
    pub fn allow(&self, queue: Queue) -> bool {
        !self.is_draining && self.paused.iter().all(|paused| paused != queue.name())
    }
}

/// The mode of each queue.
pub async fn queue_controls(db: &Pool, queues: &[Queue]) -> Result<Vec<(Queue, QueueControl)>, sqlx::Error> {
    let controls: Vec<QueueControl> = sqlx::query_as(
        "select coalesce(c.mode, 'open') as mode, c.changed_at, c.why, c.until
         from unnest($1::text[]) with ordinality as q (queue, nth)
         left join queue_modes() c on c.queue = q.queue order by q.nth",
    )
    .bind(column(queues, |queue| queue.name()))
    .fetch_all(db)
    .await?;
    Ok(queues.iter().copied().zip(controls).collect())
}

/// The mode of a queue.
pub async fn queue_mode(db: &Pool, queue: Queue) -> Result<QueueMode, sqlx::Error> {
    let set = sqlx::query_scalar("select mode from queue_modes() where queue = $1");
    let set = set.bind(queue.name()).fetch_optional(db).await?;
    Ok(set.unwrap_or(QueueMode::Open))
}

/// Whether the database was restored from a backup and no operator has let it go on.
pub async fn is_quiet(db: &Pool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select is_quiet()").fetch_one(db).await
}

/// The Postgres channel on which it is announced that an operator set the mode of a queue.
pub const QUEUE_MODE_CHANGED: &str = "queue_mode_changed";

/// Deletes the workers of a process that has ended: those whose names begin with this. The jobs that they held count as lost
/// immediately (see [`super::lost`]).
pub async fn remove_workers(db: &Pool, name_start: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from workers where starts_with(name, $1)").bind(name_start).execute(db).await?;
    Ok(())
}
