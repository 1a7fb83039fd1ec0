//! A replica of the database, which answers lists while it is close behind.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use tokio::time::{MissedTickBehavior, interval, timeout};

use super::pool::Pool;
use crate::metrics;

/// How long the replica may lack something before lists are read from the database itself.
const MAX_LAG: Duration = Duration::from_secs(5);

/// The time between two looks at how far it is behind.
const INTERVAL: Duration = Duration::from_secs(1);

/// How far the database has written its log, and how far the replica has applied it, bytes. A server that is no replica has
/// no row.
const WRITTEN: &str = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::int8";
const APPLIED: &str =
    "select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::int8 where pg_is_in_recovery()";

/// A replica, and whether it is close behind.
#[derive(Debug)]
pub(super) struct Replica {
    pool: Pool,
    is_close: AtomicBool,
}

impl Replica {
    /// A replica to which these connections lead. Does not count as close before [`Self::follow`] has found it so.
    pub(super) const fn new(pool: Pool) -> Self {
        Self { pool, is_close: AtomicBool::new(false) }
    }

    /// The connections, if it is close behind.
    pub(super) fn close(&self) -> Option<&Pool> {
        self.is_close.load(Ordering::Relaxed).then_some(&self.pool)
    }

    /// Finds out once a second whether it is close behind the database. Never returns.
    pub(super) async fn follow(&self, database: &Pool) {
        let mut ticks = interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The oldest position that it had not applied, and when the database had written as much.
        let mut missing: Option<(Instant, i64)> = None;
        loop {
            ticks.tick().await;
            let now = Instant::now();
            let positions = timeout(INTERVAL, async {
                tokio::try_join!(position(database, WRITTEN), position(&self.pool, APPLIED))
            });
            let lag = match positions.await {
                Ok(Ok((written, applied))) => {
                    if missing.is_none_or(|(_, position)| position <= applied) {
                        missing = (applied < written).then_some((now, written));
                    }
                    Ok(missing.map_or(Duration::ZERO, |(since, _)| now - since))
                }
                Ok(Err(sqlx::Error::RowNotFound)) => Err("the server is no replica".to_owned()),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err(format!("no answer within {INTERVAL:?}")),
            };
            self.found(lag);
        }
    }

    fn found(&self, lag: Result<Duration, String>) {
        let is_close = lag.as_ref().is_ok_and(|lag| *lag <= MAX_LAG);
        metrics::REPLICA_USED.set([], f64::from(u8::from(is_close)));
        if self.is_close.swap(is_close, Ordering::Relaxed) == is_close {
            return;
        }
        match lag {
            Ok(_) if is_close => tracing::info!("lists are read from the replica"),
            Ok(lag) => {
                tracing::warn!(?lag, "lists are read from the database itself: the replica is far behind");
            }
            Err(error) => {
                tracing::warn!(error, "lists are read from the database itself: the replica does not answer");
            }
        }
    }
}

async fn position(pool: &Pool, query: &'static str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar(query).fetch_one(pool).await
}
