//! The turns of threads that decode recordings: a few of them work at a time, and accounts take turns by the time that they
//! work. A thread ends when nobody waits for it, or when it has worked for far longer than its recording justifies. One that
//! does not end its turn is stuck.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use crate::{
    decode::{audio::Pace, undecodable::Undecodable},
    fair_queue::{FairQueue, Turn},
};

/// The time after which a thread that works lets others have a turn.
const SLICE: Duration = Duration::from_millis(10);

/// The time between two looks at the threads.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A thread is stuck if so many looks find it in the same turn. Only looks count, so that a process that was stopped for a
/// while has no stuck threads.
const STUCK_AFTER: u32 = 30;

/// After so many looks at the same turn, another thread works instead.
const OVERDUE_AFTER: u32 = 2;

/// The processor time that decoding any file may take.
const OF_ANY_FILE: Duration = Duration::from_secs(5);
/// What it may take more for each MB of the file.
const PER_MB: Duration = Duration::from_secs(1);

/// The time between two messages of a thread that it goes on.
const STEP_INTERVAL: Duration = Duration::from_secs(1);

/// The turns of all threads that decode.
#[derive(Clone)]
pub(crate) struct DecodingTurns(Arc<Mutex<State>>);

struct State {
    n_free: usize,
    waiting: FairQueue<Waiting>,
    working: HashMap<u64, Working>,
    n_turns: u64,
}

/// A thread that waits for its turn.
struct Waiting {
    seen: Arc<Seen>,
    granted: mpsc::Sender<u64>,
}

/// A thread that has its turn.
struct Working {
    seen: Arc<Seen>,
    n_looks: u32,
}

/// What others see of a thread.
struct Seen {
    steps: watch::Sender<()>,
    stuck: CancellationToken,
}

impl Seen {
    fn is_waited_for(&self) -> bool {
        !self.steps.is_closed()
    }
}

/// A thread that decodes, for those who wait for it. It ends when all of them are dropped.
#[derive(Clone)]
pub(crate) struct Decoding {
    steps: watch::Receiver<()>,
    stuck: CancellationToken,
}

impl Decoding {
    /// Waits for `next`, which the thread sends, and calls `step` while the thread goes on. `None` if the thread is stuck.
    pub(crate) async fn wait_for<T>(&mut self, next: impl Future<Output = T>, step: impl Fn()) -> Option<T> {
        tokio::pin!(next);
        loop {
            tokio::select! {
                biased;
                next = &mut next => return Some(next),
                () = self.stuck.cancelled() => return None,
                Ok(()) = self.steps.changed() => step(),
            }
        }
    }
}

/// The pace of one thread, which gives its turn back when it is dropped.
pub(crate) struct DecodingPace {
    turns: DecodingTurns,
    turn: Turn,
    seen: Arc<Seen>,
    own: Mutex<Own>,
}

/// What only the thread itself changes.
struct Own {
    slice: Option<Slice>,
    /// The cost of the next turn: the time that the last one took, µs.
    cost: u64,
    worked: Duration,
    allowed: Duration,
    shown: Instant,
}

struct Slice {
    turn: u64,
    began: Instant,
    cpu_began: Duration,
}

impl DecodingTurns {
    /// Turns of as many threads at a time as half of the cores have. The others are left to the models.
    pub(crate) fn of_half_the_cores() -> Self {
        Self::new(thread::available_parallelism().map_or(1, NonZeroUsize::get).div_ceil(2))
    }

    fn new(n_at_a_time: usize) -> Self {
        Self(Arc::new(Mutex::new(State {
            n_free: n_at_a_time,
            waiting: FairQueue::new(),
            working: HashMap::new(),
            n_turns: 0,
        })))
    }

    /// The pace of a thread that decodes a file of `n_bytes` bytes, and what waits for it. The costs of `turn` are set for each
    /// of its turns.
    pub(crate) fn decoding(&self, turn: Turn, n_bytes: usize) -> (DecodingPace, Decoding) {
        let (steps, seen_steps) = watch::channel(());
        let stuck = CancellationToken::new();
        let seen = Arc::new(Seen { steps, stuck: stuck.clone() });
        let n_mb = u32::try_from(n_bytes / 1_000_000).unwrap_or(u32::MAX);
        let own = Own {
            slice: None,
            cost: 1,
            worked: Duration::ZERO,
            allowed: OF_ANY_FILE + PER_MB * n_mb,
            shown: Instant::now(),
        };
        let pace = DecodingPace { turns: self.clone(), turn, seen, own: Mutex::new(own) };
        (pace, Decoding { steps: seen_steps, stuck })
    }

    /// Waits until a thread is stuck and nobody waits for it any more. Those who wait for one learn of it, and end its job: no
    /// other worker should be stuck by it.
    pub(crate) async fn stuck(&self) {
        let mut looks = interval(LOOK_INTERVAL);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if self.look() {
                return;
            }
        }
    }

    /// Looks at all threads once. Returns whether one is stuck and nobody waits for it.
    fn look(&self) -> bool {
        let mut state = self.0.lock();
        let mut is_left = false;
        let mut n_overdue = 0;
        for working in state.working.values_mut() {
            working.n_looks += 1;
            n_overdue += usize::from(working.n_looks == OVERDUE_AFTER);
            if working.n_looks >= STUCK_AFTER {
                working.seen.stuck.cancel();
                is_left |= !working.seen.is_waited_for();
            }
        }
        state.n_free += n_overdue;
        state.grant();
        is_left
    }

    /// Waits for a turn. Returns its number, or `None` if nobody waits for the thread any more.
    fn wait(&self, turn: Turn, seen: &Arc<Seen>) -> Option<u64> {
        let (granted, turn_comes) = mpsc::channel();
        let mut state = self.0.lock();
        state.waiting.push(turn, Waiting { seen: seen.clone(), granted });
        state.grant();
        drop(state);
        turn_comes.recv().ok()
    }

    fn give_back(&self, turn: u64) {
        let mut state = self.0.lock();
        let ended = state.working.remove(&turn);
        state.n_free += usize::from(ended.is_some_and(|working| working.n_looks < OVERDUE_AFTER));
        state.grant();
    }
}

impl State {
    fn grant(&mut self) {
        while self.n_free > 0
            && let Some(Waiting { seen, granted }) =
                self.waiting.take(1, u64::MAX, |waiting| waiting.seen.is_waited_for()).pop()
        {
            self.n_turns += 1;
            if granted.send(self.n_turns).is_ok() {
                self.n_free -= 1;
                self.working.insert(self.n_turns, Working { seen, n_looks: 0 });
            }
        }
    }
}

impl DecodingPace {
    /// Lets others work until the next step, because this thread waits for something else.
    pub(crate) fn rest(&self) {
        self.own.lock().end_turn(&self.turns);
    }
}

impl Own {
    fn end_turn(&mut self, turns: &DecodingTurns) {
        if let Some(Slice { turn, began, cpu_began }) = self.slice.take() {
            self.worked += cpu_time().saturating_sub(cpu_began);
            self.cost = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX).max(1);
            turns.give_back(turn);
        }
    }
}

impl Pace for DecodingPace {
    fn go_on(&self) -> Result<(), Undecodable> {
        let mut own = self.own.lock();
        let is_over = own.slice.as_ref().is_none_or(|slice| slice.began.elapsed() >= SLICE);
        if is_over {
            own.end_turn(&self.turns);
            if own.worked > own.allowed {
                let detail = "decoding the file takes far longer than its length justifies: it is damaged";
                return Err(Undecodable::new("undecodable", detail));
            }
            if own.shown.elapsed() >= STEP_INTERVAL {
                own.shown = Instant::now();
                self.seen.steps.send_replace(());
            }
            let turn = self.turns.wait(Turn { cost: own.cost, ..self.turn }, &self.seen);
            own.slice = turn.map(|turn| Slice { turn, began: Instant::now(), cpu_began: cpu_time() });
        }
        if own.slice.is_some() && self.seen.is_waited_for() {
            return Ok(());
        }
        own.end_turn(&self.turns);
        Err(Undecodable::new("undecodable", "nobody waits for the recording any more"))
    }

    fn lasts(&self, seconds: f64) {
        self.own.lock().allowed += Duration::try_from_secs_f64(seconds).unwrap_or_default();
    }
}

impl Drop for DecodingPace {
    fn drop(&mut self) {
        self.rest();
    }
}

/// The processor time of this thread.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use uuid::Uuid;

    use crate::fair_queue::Requester;

    use super::*;

    fn turn(account: u128) -> Turn {
        let requester = Requester { account_id: Uuid::from_u128(account), is_asynchronous: false };
        Turn { requester, cost: 1 }
    }

    /// Ends the turn of a thread, however short it was.
    fn end_slice(pace: &DecodingPace, cost: u64) {
        pace.rest();
        pace.own.lock().cost = cost;
    }

    #[test]
    fn accounts_take_turns_by_the_time_that_their_threads_work() {
        let turns = DecodingTurns::new(1);
        let (first, _waits) = turns.decoding(turn(9), 0);
        first.go_on().unwrap();
        let (sender, order) = mpsc::channel();
        let mut threads = Vec::new();
        let mut waiting = Vec::new();
        for (nth, (account, cost)) in [(1, 100), (1, 100), (2, 10), (2, 10), (2, 10)].into_iter().enumerate()
        {
            let (pace, waits) = turns.decoding(turn(account), 0);
            waiting.push(waits);
            end_slice(&pace, cost);
            let sender = sender.clone();
            threads.push(thread::spawn(move || {
                pace.go_on().unwrap();
                sender.send(account).unwrap();
            }));
            while turns.0.lock().waiting.len() <= nth {
                thread::yield_now();
            }
        }
        first.rest();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [2, 1, 2, 2, 1]);
    }

    #[test]
    fn a_thread_ends_when_nobody_waits_for_it() {
        let turns = DecodingTurns::new(1);
        let (pace, waits) = turns.decoding(turn(1), 0);
        pace.go_on().unwrap();
        let (next, next_waits) = turns.decoding(turn(2), 0);
        drop(waits);
        assert!(pace.go_on().is_err());
        assert_eq!(turns.0.lock().n_free, 1, "its turn is over");
        next.go_on().unwrap();
        let (third, third_waits) = turns.decoding(turn(3), 0);
        let waiting = thread::spawn(move || third.go_on().is_err());
        while turns.0.lock().waiting.is_empty() {
            thread::yield_now();
        }
        drop(third_waits);
        next.rest();
        assert!(waiting.join().unwrap(), "it waited for a turn");
        drop(next_waits);
    }

    #[test]
    fn a_thread_that_works_for_too_long_ends() {
        let turns = DecodingTurns::new(1);
        let (pace, _waits) = turns.decoding(turn(1), 3_000_000);
        pace.lasts(60.0);
        for (worked_s, is_allowed) in [(67, true), (69, false)] {
            pace.rest();
            pace.own.lock().worked = Duration::from_secs(worked_s);
            assert_eq!(pace.go_on().is_ok(), is_allowed, "{worked_s} s");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_thread_that_does_not_end_its_turn_is_stuck_and_others_go_on() {
        let turns = DecodingTurns::new(1);
        let (pace, mut waits) = turns.decoding(turn(1), 0);
        let gate = Arc::new(Barrier::new(2));
        let of_thread = gate.clone();
        let stuck = thread::spawn(move || {
            pace.go_on().unwrap();
            of_thread.wait(); // a call of a library that does not return
            of_thread.wait();
        });
        gate.wait();
        let (other, _waits) = turns.decoding(turn(2), 0);
        for n_looks in 0..STUCK_AFTER {
            assert!(!waits.stuck.is_cancelled());
            if n_looks >= OVERDUE_AFTER {
                other.rest();
                other.go_on().unwrap();
            }
            assert!(!turns.look(), "somebody waits for it, who has to end its job first");
        }
        let never = std::future::pending::<()>();
        assert!(waits.wait_for(never, || ()).await.is_none());
        drop(waits);
        assert!(turns.look());
        turns.stuck().await;
        assert!(other.go_on().is_ok());
        gate.wait();
        stuck.join().unwrap();
        assert!(!turns.look());
        other.rest();
        assert_eq!(turns.0.lock().n_free, 1);
    }
}
