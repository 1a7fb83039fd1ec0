//! Counts the heartbeats that workers have missed.

use std::collections::HashMap;

use akhar_jobs::store::Heartbeat;

/// The last heartbeat of each worker, and how many looks have found it again.
///
/// This worker looks after each of its own heartbeats, so a worker that lives has written another one by then, about. No
/// times are compared: after a jump of the database's clock, nobody has missed a heartbeat.
#[derive(Debug, Default)]
pub(super) struct Silence(HashMap<String, (Heartbeat, u32)>);

impl Silence {
    /// Takes what a look has found.
    pub(super) fn look(&mut self, found: Vec<Heartbeat>) {
        let mut before = std::mem::take(&mut self.0);
        let counted = found.into_iter().map(|heartbeat| {
            let n_missed = match before.remove(&heartbeat.worker) {
                Some((last, n_missed)) if last.seen_at == heartbeat.seen_at => n_missed + 1,
                _ => 0,
            };
            (heartbeat.worker.clone(), (heartbeat, n_missed))
        });
        self.0 = counted.collect();
    }

    /// The last heartbeats of workers that have missed `n` or more since, and of workers that are not in the list any more.
    pub(super) fn of_workers_silent_for(&self, n: u32) -> Vec<Heartbeat> {
        let is_silent = |(last, n_missed): &&(Heartbeat, u32)| last.seen_at.is_none() || *n_missed >= n;
        self.0.values().filter(is_silent).map(|(last, _)| last.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;

    fn heartbeat(worker: &str, seen_at: Option<i64>) -> Heartbeat {
        let at = |s| DateTime::UNIX_EPOCH + TimeDelta::seconds(s);
        Heartbeat { worker: worker.to_owned(), seen_at: seen_at.map(at), found_at: at(1000) }
    }

    fn silent(silence: &Silence, n: u32) -> Vec<String> {
        silence.of_workers_silent_for(n).into_iter().map(|heartbeat| heartbeat.worker).collect()
    }

    #[test]
    fn a_worker_is_silent_when_looks_find_the_same_heartbeat_again() {
        let mut silence = Silence::default();
        for look in 0..3 {
            silence.look(vec![heartbeat("dead", Some(5)), heartbeat("living", Some(look))]);
            assert!(silent(&silence, 3).is_empty(), "it has missed {look}");
        }
        silence.look(vec![heartbeat("dead", Some(5)), heartbeat("living", Some(3))]);
        assert_eq!(silent(&silence, 3), ["dead"]);
        assert!(silent(&silence, 4).is_empty());
        silence.look(vec![heartbeat("dead", Some(4)), heartbeat("living", Some(4))]);
        assert!(silent(&silence, 1).is_empty(), "it lives, and the clock was put back");
    }

    #[test]
    fn a_worker_that_has_jobs_and_is_not_in_the_list_is_silent_at_once() {
        let mut silence = Silence::default();
        silence.look(vec![heartbeat("gone", None), heartbeat("living", Some(1))]);
        assert_eq!(silent(&silence, 3), ["gone"]);
    }
}
