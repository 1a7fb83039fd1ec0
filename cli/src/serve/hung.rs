//! Notices that the worker of `akhar serve` runs and does nothing, for example because it was stopped.

use std::{future::pending, time::Duration};

use akhar_jobs::store;
use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use tokio::time::{MissedTickBehavior, interval};

/// The time between two looks at the worker's heartbeat.
const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// How many looks after each other find the same heartbeat again when the worker hangs. That takes half a minute.
const MAX_LOOKS: u32 = 6;

/// Returns when the worker of this process, which is ready, has sent no heartbeat for half a minute in which the database
/// answered.
pub(super) async fn hangs(db: &Pool, process: Option<u32>) {
    let Some(process) = process else { return pending().await };
    let name_start = akhar_worker::name_start(process);
    let mut looks = interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silence = Silence::default();
    while silence.n_looks < MAX_LOOKS {
        looks.tick().await;
        // An error says that heartbeats cannot be written either.
        silence.look(store::last_heartbeats(db, &name_start).await.unwrap_or_default());
    }
}

/// The last heartbeats that were found, and how many looks have found them again. An earlier process with the same id may have
/// left one too, which does not change.
#[derive(Debug, Default)]
struct Silence {
    last: Vec<DateTime<Utc>>,
    n_looks: u32,
}

impl Silence {
    /// Takes what a look has found: nothing if the database did not answer.
    fn look(&mut self, found: Vec<DateTime<Utc>>) {
        self.n_looks = if !found.is_empty() && found == self.last { self.n_looks + 1 } else { 0 };
        self.last = found;
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn only_heartbeats_that_are_found_again_and_again_are_silence() {
        let mut silence = Silence::default();
        let mut look = |found: &[i64]| {
            silence.look(found.iter().map(|s| DateTime::UNIX_EPOCH + TimeDelta::seconds(*s)).collect());
            silence.n_looks
        };
        assert_eq!([look(&[]), look(&[])], [0, 0]);
        assert_eq!([look(&[5]), look(&[5]), look(&[5])], [0, 1, 2]);
        assert_eq!([look(&[]), look(&[5]), look(&[5])], [0, 0, 1], "the database did not answer");
        assert_eq!([look(&[9, 5]), look(&[9, 6]), look(&[9, 4])], [0, 0, 0], "one is of an earlier process");
    }
}
