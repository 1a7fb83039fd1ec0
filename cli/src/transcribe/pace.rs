//! Decides how many jobs are submitted at a time: few when the server has too much to do, more when it has time.
//!
//! The rule is that of TCP's congestion control (additive increase, multiplicative decrease: Chiu and Jain 1989). The
//! signal is how long jobs waited in the queue, compared with how long they ran, by the server's clock.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_client::JobBody;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Jobs at a time in the beginning.
const FIRST: f64 = 4.0;
/// Refusals within this time count as one, because they are answers to the same number of jobs.
const SETTLING: Duration = Duration::from_secs(2);
/// A wait that does not count, ms: the time of a claim.
const NEGLIGIBLE_MS: i64 = 100;

/// The number of jobs that may be under way, as a pure rule.
#[derive(Debug)]
struct Aimd {
    limit: f64,
    max: f64,
    halved_at: Option<Instant>,
}

impl Aimd {
    fn new(max: f64) -> Self {
        Self { limit: FIRST.min(max), max, halved_at: None }
    }

    /// A job waited and ran for these times. One more job per round, if the queue is short; one less, if it is long.
    fn ended(&mut self, waited_ms: i64, ran_ms: i64) {
        let ran_ms = ran_ms.max(0).saturating_add(NEGLIGIBLE_MS);
        if waited_ms <= ran_ms.saturating_mul(2) {
            self.limit += 1.0 / self.limit;
        } else if waited_ms > ran_ms.saturating_mul(6) {
            self.limit -= 1.0 / self.limit;
        }
        self.limit = self.limit.clamp(1.0, self.max);
    }

    /// The server refused a request because it has too much to do.
    fn refused(&mut self, now: Instant) {
        if self.halved_at.is_none_or(|at| now.duration_since(at) >= SETTLING) {
            self.limit = (self.limit / 2.0).max(1.0);
            self.halved_at = Some(now);
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at least 1 and small")]
    fn n(&self) -> usize {
        self.limit as usize
    }
}

/// Gives places to jobs.
#[derive(Debug, Clone)]
pub(super) struct Pace(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rule: Aimd,
    /// Places that exist: free, taken, or to be given up.
    n_places: usize,
    /// Places that are taken and are given up when they become free.
    n_surplus: usize,
}

/// The place of one job. It becomes free when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    pace: Pace,
    permit: Option<OwnedSemaphorePermit>,
}

impl Pace {
    /// At most `max` jobs at a time.
    #[expect(clippy::cast_precision_loss, reason = "it is small")]
    pub(super) fn new(max: usize) -> Self {
        let rule = Aimd::new(max as f64);
        let n_places = rule.n();
        let state = Mutex::new(State { rule, n_places, n_surplus: 0 });
        Self(Arc::new(Shared { places: Arc::new(Semaphore::new(n_places)), state }))
    }

    /// Waits for a place, first come first served.
    pub(super) async fn place(&self) -> Place {
        // The semaphore is never closed.
        let permit = self.0.places.clone().acquire_owned().await.ok();
        Place { pace: self.clone(), permit }
    }

    /// The server refused a request because it has too much to do.
    pub(super) fn refused(&self) {
        self.change(|rule| rule.refused(Instant::now()));
    }

    /// A job has ended.
    pub(super) fn ended(&self, job: &JobBody) {
        if let (Some(started), Some(ended)) = (job.started_at, job.ended_at) {
            let waited = (started - job.created_at).num_milliseconds();
            self.change(|rule| rule.ended(waited, (ended - started).num_milliseconds()));
        }
    }

    /// Applies the rule, and adds or removes places.
    fn change(&self, apply: impl FnOnce(&mut Aimd)) {
        let mut state = self.0.state.lock();
        apply(&mut state.rule);
        let wanted = state.rule.n();
        while state.n_places - state.n_surplus < wanted {
            if state.n_surplus > 0 {
                state.n_surplus -= 1;
            } else {
                state.n_places += 1;
                self.0.places.add_permits(1);
            }
        }
        let excess = (state.n_places - state.n_surplus).saturating_sub(wanted);
        let n_removed = self.0.places.forget_permits(excess);
        state.n_places -= n_removed;
        state.n_surplus += excess - n_removed;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.pace.0.state.lock();
        if state.n_surplus > 0
            && let Some(permit) = self.permit.take()
        {
            state.n_surplus -= 1;
            state.n_places -= 1;
            permit.forget();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_limit_rises_by_one_a_round_while_the_queue_is_short() {
        let mut rule = Aimd::new(8.0);
        for _ in 0..5 {
            rule.ended(100, 1000);
        }
        assert_eq!(rule.n(), 5);
        (0..100).for_each(|_| rule.ended(100, 1000));
        assert_eq!(rule.n(), 8, "never more than the maximum");
    }

    #[test]
    fn the_limit_stays_or_falls_when_jobs_wait_long() {
        let mut rule = Aimd::new(64.0);
        rule.ended(4000, 1000);
        assert!((rule.limit - FIRST).abs() < 1e-9);
        (0..100).for_each(|_| rule.ended(60_000, 1000));
        assert_eq!(rule.n(), 1, "never less than one");
    }

    #[test]
    fn refusals_halve_the_limit_once_for_each_round() {
        let mut rule = Aimd { limit: 16.0, max: 64.0, halved_at: None };
        let now = Instant::now();
        (0..16).for_each(|_| rule.refused(now));
        assert_eq!(rule.n(), 8);
        rule.refused(now + SETTLING);
        assert_eq!(rule.n(), 4);
        (2..9).for_each(|nth| rule.refused(now + nth * SETTLING));
        assert_eq!(rule.n(), 1);
    }

    proptest! {
        #[test]
        fn there_are_as_many_places_as_the_rule_says(events in prop::collection::vec(0..4_u8, 1..200)) {
            let pace = Pace::new(6);
            let mut taken = Vec::new();
            for event in events {
                match event {
                    0 => if let Ok(permit) = pace.0.places.clone().try_acquire_owned() {
                        taken.push(Place { pace: pace.clone(), permit: Some(permit) });
                    },
                    1 => drop(taken.pop()),
                    2 => (0..4).for_each(|_| pace.change(|rule| rule.ended(0, 1000))),
                    _ => pace.change(|rule| { rule.halved_at = None; rule.refused(Instant::now()); }),
                }
                let free = pace.0.places.available_permits();
                let wanted = pace.0.state.lock().rule.n();
                prop_assert_eq!(free, wanted.saturating_sub(taken.len()));
            }
        }
    }
}
