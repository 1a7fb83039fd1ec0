//! Finds out once a second whether this process can serve requests. All probes get what was found last, so that they cost
//! nothing, however many come.

use std::time::Duration;

use akhar_jobs::{
    Queue,
    backend::silent_statement,
    store::{self, QueueControl},
};
use akhar_platform::database::{Database, NOT_NOTIFIED, Pool, check_writable, is_read_only, is_storage_full};
use akhar_requests::QUEUES;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use crate::problems::{Problem, ProblemType};

/// The time between two looks, and after one that finds that requests cannot be served.
const INTERVAL: Duration = Duration::from_secs(1);
const INTERVAL_UNREADY: Duration = Duration::from_millis(100);

/// How long the database may take to answer before it counts as unavailable.
const DATABASE_LIMIT: Duration = Duration::from_secs(1);

/// How often the space on the disk of Postgres is measured, which writes a megabyte. While a statement has found none, it is
/// measured at each look.
const SPACE_INTERVAL: Duration = Duration::from_secs(60);

/// What a look at a database that can be used has found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Whether a worker claims jobs.
    pub(crate) is_worked_on: bool,
    /// What an operator should know.
    pub(crate) notes: Vec<String>,
}

/// Why the database cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("the database does not answer")]
    Silent,
    #[error("the database takes no changes: it is a replica, or set read-only")]
    ReadOnly,
    #[error("the database has no space")]
    Full,
}

impl From<&sqlx::Error> for Unusable {
    fn from(error: &sqlx::Error) -> Self {
        if is_read_only(error) {
            Self::ReadOnly
        } else if is_storage_full(error) {
            Self::Full
        } else {
            Self::Silent
        }
    }
}

impl From<Unusable> for Problem {
    fn from(reason: Unusable) -> Self {
        match reason {
            Unusable::Silent => Self::of(ProblemType::Unavailable),
            Unusable::ReadOnly => Self::of(ProblemType::Unavailable)
                .with_detail("The database takes no changes: it is a replica, or set read-only."),
            Unusable::Full => Self::of(ProblemType::StorageFull),
        }
    }
}

/// What was found last. Its clones are handles on the same.
#[derive(Debug, Clone)]
pub(crate) struct Readiness(watch::Sender<Option<Result<Found, Unusable>>>);

impl Readiness {
    /// Nothing is found yet: [`Self::look`] must run.
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// What was found last. If that is not good, what a look finds that begins after this: a process that has just become ready
    /// says so.
    pub(crate) async fn found(&self) -> Result<Found, Unusable> {
        let mut last = self.0.subscribe();
        let next_good = async {
            for _ in 0..2 {
                if is_good(last.borrow_and_update().as_ref()) || last.changed().await.is_err() {
                    break;
                }
            }
        };
        let _ = timeout(DATABASE_LIMIT, next_good).await; // then the last one stands
        self.0.borrow().clone().unwrap_or(Err(Unusable::Silent))
    }

    /// Looks once a second, and more often while what it finds is not good, on a connection of its own. Never returns.
    pub(crate) async fn look(self, database: Database) {
        let db = database.pool.of_task();
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut space_measured = None;
        loop {
            ticks.tick().await;
            let answer = match timeout(DATABASE_LIMIT, look(&db, &mut space_measured)).await {
                Ok(answer) => {
                    answer.inspect_err(|error| tracing::debug!(%error, "the database cannot be used"))
                }
                Err(_) => Err(sqlx::Error::PoolTimedOut),
            };
            let mut found = answer.map_err(|error| Unusable::from(&error));
            if let Some(statement) = silent_statement() {
                tracing::warn!(statement, "the database has not answered a statement on jobs");
                found = Err(Unusable::Silent);
            }
            if let Ok(found) = &mut found {
                found.notes.extend((!database.is_notified()).then(|| NOT_NOTIFIED.to_owned()));
            }
            if !is_good(Some(&found)) {
                ticks.reset_after(INTERVAL_UNREADY);
            }
            let was = self.0.send_replace(Some(found.clone()));
            match (was.and_then(Result::err), found.err()) {
                (was, Some(reason)) if was != Some(reason) => tracing::warn!("not ready: {reason}"),
                (Some(_), None) => tracing::info!("the database can be used again"),
                _ => (),
            }
        }
    }
}

/// Whether a process that needs a worker is ready.
fn is_good(found: Option<&Result<Found, Unusable>>) -> bool {
    matches!(found, Some(Ok(Found { is_worked_on: true, .. })))
}

/// Looks at the database, and at the space on its disk if that is due.
async fn look(db: &Pool, space_measured: &mut Option<Instant>) -> Result<Found, sqlx::Error> {
    check_writable(db).await?;
    if db.is_full() || space_measured.is_none_or(|at| at.elapsed() > SPACE_INTERVAL) {
        db.check_space().await?;
        *space_measured = Some(Instant::now());
    }
    let is_worked_on = store::any_alive(db).await?;
    let controls = store::queue_controls(db, &QUEUES).await?;
    Ok(Found { is_worked_on, notes: controls.iter().filter_map(note).collect() })
}

fn note((queue, control): &(Queue, QueueControl)) -> Option<String> {
    let effect = control.mode.effect()?;
    Some(format!("the queue {} is {}: {effect}", queue.name(), control.mode.name()))
}
