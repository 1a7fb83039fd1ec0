//! Explores when an outcome is deleted: every order in which hours pass, Postgres's clock jumps and is put back, and two workers
//! look at it, compare times and are killed. It subtracts jumps with the code of the program.

use std::time::{Duration, Instant};

use akhar_jobs::store::{Clock, ClockJump};
use sqlx::types::chrono::{DateTime, Utc};
use stateright::{Checker as _, Model, Property};

use super::is_deep;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// How long an outcome is kept, hours.
const RETENTION: u32 = 2;

/// By how much the clock jumps or is put back, hours. The larger jump is longer than the retention.
const STEPS: [i64; 2] = [1, 4];

const N_WORKERS: usize = 2;

/// How often each of these can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Events {
    hours: u8,
    jumps: u8,
    put_backs: u8,
    deaths: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    /// The hours that have really passed, by which nobody can tell the time.
    passed: i64,
    /// The hour by Postgres's clock.
    clock: i64,
    job: Job,
    /// The table of jumps.
    jumps: Vec<(i64, i64)>,
    workers: [Worker; N_WORKERS],
    /// A jump that nobody has recorded.
    is_unrecorded: bool,
    /// Nobody can know of a jump: no worker ran, or one did not look between it and the time when the clock was put back. Then
    /// the clock is believed.
    is_believed: bool,
    left: Events,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Job {
    Running,
    /// At this hour by the clock, after so many hours have passed.
    Ended {
        at: i64,
        passed: i64,
    },
    /// After it was kept for so many hours.
    Deleted {
        kept: i64,
    },
}

/// A worker. One that is killed is replaced at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
struct Worker {
    /// Its last look: how many hours had passed, and the hour by the clock.
    seen: Option<(i64, i64)>,
    /// It is new, and the other worker, which may know of a jump, has not looked since this one did. New workers wait for some
    /// looks.
    waits: bool,
    /// The clock was put back since its last look.
    is_stale: bool,
    /// It can tell from its last look that the clock has jumped since.
    notices_jump: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Event {
    Hour,
    Jump { by: i64 },
    PutBack { by: i64 },
    End,
    Look { worker: usize },
    Compare { worker: usize },
    Kill { worker: usize },
}

/// An hour by the clock, as Postgres says it.
fn time(hour: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + HOUR * u32::try_from(1000 + hour).expect("few hours")
}

impl World {
    fn jump(&mut self, by: i64) {
        self.clock += by;
        self.is_unrecorded = true;
        for worker in &mut self.workers {
            worker.notices_jump |= worker.seen.is_some();
            self.is_believed |= worker.is_stale;
        }
        self.is_believed |= !self.workers.iter().any(|worker| worker.notices_jump);
    }

    /// Records a jump if the clock has gone further than the worker's own clock since its last look.
    fn look(&mut self, worker: usize) {
        let others_know = (0..N_WORKERS).any(|other| other != worker && self.workers[other].seen.is_some());
        let looking = &mut self.workers[worker];
        if let Some((passed, clock)) = looking.seen {
            if self.clock - clock > self.passed - passed {
                self.jumps.push((clock, self.clock));
            }
        } else {
            looking.waits = others_know;
        }
        self.is_unrecorded &= !looking.notices_jump;
        *looking =
            Worker { seen: Some((self.passed, self.clock)), waits: looking.waits, ..Worker::default() };
        self.release(worker);
    }

    /// The workers that wait for this one wait no longer.
    fn release(&mut self, worker: usize) {
        for (other, waiting) in self.workers.iter_mut().enumerate() {
            waiting.waits &= other == worker;
        }
    }

    /// What `store::clock` and `store::expire` do.
    fn compare(&mut self, found: i64) {
        let clock = self.clock;
        self.jumps.retain(|(from, _)| *from < clock);
        for (_, to) in &mut self.jumps {
            *to = clock.min(*to);
        }
        self.jumps.sort_unstable_by_key(|(from, to)| (-to, *from));
        self.jumps.dedup();
        let of = |(from, to): &(i64, i64)| ClockJump { jumped_from: time(*from), jumped_to: time(*to) };
        let jumps = self.jumps.iter().map(of).collect();
        let until = Clock { now: time(found.min(clock)), jumps }.ago(HOUR * RETENTION);
        if let Job::Ended { at, passed } = self.job
            && time(at) < until
        {
            self.job = Job::Deleted { kept: self.passed - passed };
        }
        self.jumps.retain(|(_, to)| time(*to) >= until);
    }

    fn kill(&mut self, worker: usize) {
        self.workers[worker] = Worker::default();
        self.is_believed |= self.is_unrecorded && !self.workers.iter().any(|worker| worker.notices_jump);
        self.release(worker);
    }
}

impl Model for Events {
    type State = World;
    type Action = Event;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            passed: 0,
            clock: 0,
            job: Job::Running,
            jumps: Vec::new(),
            workers: [Worker::default(); N_WORKERS],
            is_unrecorded: false,
            is_believed: false,
            left: *self,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Event>) {
        if world.left.hours > 0 {
            actions.push(Event::Hour);
        }
        if world.job == Job::Running {
            actions.push(Event::End);
        }
        for by in STEPS {
            if world.left.jumps > 0 {
                actions.push(Event::Jump { by });
            }
            if world.left.put_backs > 0 {
                actions.push(Event::PutBack { by });
            }
        }
        for (worker, Worker { seen, waits, .. }) in world.workers.iter().enumerate() {
            if *seen != Some((world.passed, world.clock)) {
                actions.push(Event::Look { worker });
            }
            if seen.is_some() && !waits {
                actions.push(Event::Compare { worker });
            }
            if seen.is_some() && world.left.deaths > 0 {
                actions.push(Event::Kill { worker });
            }
        }
    }

    fn next_state(&self, world: &World, event: Event) -> Option<World> {
        let mut next = world.clone();
        match event {
            Event::Hour => {
                next.left.hours -= 1;
                next.passed += 1;
                next.clock += 1;
            }
            Event::Jump { by } => {
                next.left.jumps -= 1;
                next.jump(by);
            }
            Event::PutBack { by } => {
                next.left.put_backs -= 1;
                next.clock -= by;
                next.workers.iter_mut().for_each(|worker| worker.is_stale = worker.seen.is_some());
            }
            Event::End => next.job = Job::Ended { at: next.clock, passed: next.passed },
            Event::Look { worker } => next.look(worker),
            Event::Compare { worker } => next.compare(next.workers[worker].seen?.1),
            Event::Kill { worker } => {
                next.left.deaths -= 1;
                next.kill(worker);
            }
        }
        next.workers.sort_unstable();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no outcome is deleted before its time", |_, world: &World| match world.job {
                Job::Deleted { kept } => kept >= i64::from(RETENTION) || world.is_believed,
                Job::Running | Job::Ended { .. } => true,
            }),
            Property::sometimes(
                "an outcome is deleted in time after a jump",
                |events: &Events, world: &World| {
                    let is_in_time = world.job == Job::Deleted { kept: i64::from(RETENTION) };
                    is_in_time && !world.is_believed && world.left.jumps < events.jumps
                },
            ),
            Property::sometimes(
                "a jump of which nobody can know deletes early",
                |_, world: &World| matches!(world.job, Job::Deleted { kept } if kept < i64::from(RETENTION)),
            ),
        ]
    }
}

#[test]
fn no_order_of_jumps_deletes_an_outcome_early() {
    let none = Events { hours: 3, jumps: 1, put_backs: 0, deaths: 0 };
    let few = [Events { deaths: 1, ..none }, Events { put_backs: 1, ..none }];
    let many = [Events { hours: 5, deaths: 2, ..none }, Events { hours: 4, put_backs: 1, deaths: 1, ..none }];
    for events in if is_deep() { many } else { few } {
        let started = Instant::now();
        let checked = events.checker().threads(2).spawn_bfs().join();
        let (n_states, depth) = (checked.unique_state_count(), checked.max_depth());
        println!("{events:?}: {n_states} states, depth {depth}, {:.1} s", started.elapsed().as_secs_f64());
        checked.assert_properties();
    }
}
