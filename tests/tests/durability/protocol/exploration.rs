//! Explores the model: every order of what two callers, three workers, the sweeper, an operator and crashes can do.

use std::{ops::Not as _, time::Instant};

use akhar_jobs::MAX_ATTEMPTS;
use stateright::{Checker as _, Model, Property};

use super::{End, Jobs, Row, State, Statement, is_deep};

/// One caller holds its connection open, and one wants a 202 at once.
const N_JOBS: usize = 2;
const IS_ASYNCHRONOUS: [bool; N_JOBS] = [false, true];
const N_WORKERS: usize = 3;

/// How often each fault can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Faults {
    /// A worker is killed.
    deaths: u8,
    /// A worker stands still, and may go on later.
    hangs: u8,
    /// An attempt fails.
    failures: u8,
    /// A worker is told to stop.
    stops: u8,
    /// Postgres dies and forgets what is not on the disk.
    crashes: u8,
    /// An operator retries a dead job.
    retries: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    /// What the statements read.
    rows: Jobs<N_JOBS>,
    /// What is left of it after a crash.
    disk: Jobs<N_JOBS>,
    workers: [Worker; N_WORKERS],
    callers: [Caller; N_JOBS],
    /// The attempts of each job that really failed since it was submitted or retried: their workers were killed or stood still,
    /// the work failed, or a crash forgot its end.
    failed: [i32; N_JOBS],
    left: Faults,
}

/// A worker with one place. One that is killed is replaced at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
struct Worker {
    /// The job and the attempt that it works on.
    held: Option<(usize, i32)>,
    is_hung: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Caller {
    Waiting,
    /// It was told with a 202 that its job is kept.
    Accepted,
    /// It was told how its job ended, before or after a 202.
    Told {
        end: End,
        was_accepted: bool,
    },
    /// It hung up, or its api died.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    Submit {
        job: usize,
    },
    /// The caller has waited for long enough and gets a 202.
    Acknowledge {
        job: usize,
    },
    Disconnect {
        job: usize,
    },
    /// The api of the caller dies.
    ForgetCaller {
        job: usize,
    },
    Cancel {
        job: usize,
    },
    Retry {
        job: usize,
    },
    Claim {
        worker: usize,
        job: usize,
    },
    Answer {
        worker: usize,
    },
    Fail {
        worker: usize,
    },
    Stop {
        worker: usize,
    },
    Kill {
        worker: usize,
    },
    Hang {
        worker: usize,
    },
    Wake {
        worker: usize,
    },
    /// The sweeper takes a job from a worker that has died, stands still, or never heard of its claim.
    Sweep {
        job: usize,
    },
    /// Postgres writes everything to the disk.
    Flush,
    Crash,
}

impl World {
    /// Executes a statement. Changes of acknowledged jobs by those that end jobs, submit asynchronous ones or acknowledge them
    /// are on the disk before anybody hears of them. Returns whether it changed the job.
    fn execute(&mut self, statement: Statement) -> bool {
        let job = statement.job();
        if !statement.change(&mut self.rows[job]) {
            return false;
        }
        let is_flushed = match statement {
            Statement::Submit { is_asynchronous, .. } => is_asynchronous,
            Statement::Acknowledge { .. } | Statement::Retry { .. } => true,
            Statement::End { .. } | Statement::Cancel { .. } => {
                self.rows[job].is_some_and(|row| row.is_acknowledged)
            }
            Statement::Claim { .. } | Statement::Requeue { .. } | Statement::Purge { .. } => false,
        };
        if is_flushed {
            self.disk = self.rows;
        }
        true
    }

    /// Ends the claim of a worker and tells the caller.
    fn end(&mut self, job: usize, attempt: i32, end: End) {
        if self.execute(Statement::End { job, attempt, end }) {
            self.tell(job, end);
        }
    }

    fn tell(&mut self, job: usize, end: End) {
        let caller = &mut self.callers[job];
        if matches!(caller, Caller::Waiting | Caller::Accepted) {
            *caller = Caller::Told { end, was_accepted: *caller == Caller::Accepted };
        }
    }

    /// An attempt that really failed: the job returns to its queue, or has no attempt left.
    fn give_up(&mut self, job: usize, attempt: i32) {
        let Some(row) = self.rows[job].filter(|row| row.is_claim(attempt)) else { return };
        if attempt >= row.max_attempts {
            self.end(job, attempt, End::Dead);
        } else {
            self.execute(Statement::Requeue { job, attempt, is_spent: true });
        }
    }

    /// Counts a failure against the job of a worker, if it has the current claim.
    fn count_failure(&mut self, worker: usize) {
        if let Some((job, attempt)) = self.workers[worker].held
            && self.rows[job].is_some_and(|row| row.is_claim(attempt))
        {
            self.failed[job] += 1;
        }
    }

    /// Gives worlds that differ only in the numbers of workers one form: sorts the workers, and forgets which worker had a
    /// claim that none holds.
    fn normalise(&mut self) {
        let before = self.workers;
        self.workers.sort_unstable();
        for rows in [&mut self.rows, &mut self.disk] {
            for (job, row) in rows.iter_mut().enumerate() {
                let Some(row) = row else { continue };
                let worker = row.worker.map(|worker| before[worker]);
                let holder = worker.filter(|worker| worker.held == Some((job, row.attempt)));
                row.worker =
                    holder.and_then(|holder| self.workers.iter().position(|worker| *worker == holder));
            }
        }
    }

    /// Whether the worker of a running job works on it.
    fn is_worked_on(&self, job: usize, row: &Row) -> bool {
        row.worker.is_some_and(|worker| {
            let Worker { held, is_hung } = self.workers[worker];
            held == Some((job, row.attempt)) && !is_hung
        })
    }

    fn of_worker(&self, worker: usize, actions: &mut Vec<Action>) {
        let Worker { held, is_hung } = self.workers[worker];
        if is_hung {
            actions.push(Action::Wake { worker });
        } else if held.is_some() {
            actions.extend([Action::Answer { worker }]);
            let faults = [
                (self.left.failures, Action::Fail { worker }),
                (self.left.stops, Action::Stop { worker }),
                (self.left.hangs, Action::Hang { worker }),
            ];
            actions.extend(faults.into_iter().filter(|(left, _)| *left > 0).map(|(_, action)| action));
        } else {
            let can_be_claimed = |job: &usize| self.rows[*job].is_some_and(|row| row.can_be_claimed());
            actions.extend((0..N_JOBS).filter(can_be_claimed).map(|job| Action::Claim { worker, job }));
        }
        if held.is_some() && self.left.deaths > 0 {
            actions.push(Action::Kill { worker });
        }
    }

    fn of_caller(&self, job: usize, actions: &mut Vec<Action>) {
        let row = self.rows[job];
        match self.callers[job] {
            Caller::Waiting if row.is_none() => actions.push(Action::Submit { job }),
            Caller::Waiting => actions.push(Action::Acknowledge { job }),
            Caller::Accepted => actions.push(Action::Cancel { job }),
            Caller::Told { .. } | Caller::Gone => (),
        }
        if self.callers[job] == Caller::Waiting {
            actions.extend([Action::Disconnect { job }, Action::ForgetCaller { job }]);
        }
        if let Some(row) = row {
            if row.state == State::Running && !self.is_worked_on(job, &row) {
                actions.push(Action::Sweep { job });
            }
            if row.state == State::Ended(End::Dead) && self.left.retries > 0 {
                actions.push(Action::Retry { job });
            }
        }
    }
}

impl Model for Faults {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            rows: [None; N_JOBS],
            disk: [None; N_JOBS],
            workers: [Worker::default(); N_WORKERS],
            callers: [Caller::Waiting; N_JOBS],
            failed: [0; N_JOBS],
            left: *self,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        (0..N_WORKERS).for_each(|worker| world.of_worker(worker, actions));
        (0..N_JOBS).for_each(|job| world.of_caller(job, actions));
        if world.disk != world.rows {
            actions.push(Action::Flush);
            if world.left.crashes > 0 {
                actions.push(Action::Crash);
            }
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        match action {
            Action::Submit { job } => {
                let is_asynchronous = IS_ASYNCHRONOUS[job];
                next.execute(Statement::Submit { job, is_asynchronous });
                if is_asynchronous {
                    next.callers[job] = Caller::Accepted;
                }
            }
            Action::Acknowledge { job } => {
                next.execute(Statement::Acknowledge { job });
                next.callers[job] = Caller::Accepted;
                if let Some(Row { state: State::Ended(end), .. }) = next.rows[job] {
                    next.tell(job, end);
                }
            }
            Action::Disconnect { job } => {
                next.execute(Statement::Cancel { job, may_run: false });
                next.callers[job] = Caller::Gone;
            }
            Action::ForgetCaller { job } => next.callers[job] = Caller::Gone,
            Action::Cancel { job } => {
                if next.execute(Statement::Cancel { job, may_run: true }) {
                    next.tell(job, End::Cancelled);
                }
            }
            Action::Retry { job } => {
                next.left.retries -= 1;
                next.execute(Statement::Retry { job });
                (next.callers[job], next.failed[job]) = (Caller::Accepted, 0);
            }
            Action::Claim { worker, job } => {
                next.execute(Statement::Claim { job, worker });
                let attempt = next.rows[job].map_or(0, |row| row.attempt);
                next.workers[worker].held = Some((job, attempt));
            }
            Action::Answer { worker } => {
                let (job, attempt) = next.workers[worker].held.take()?;
                next.end(job, attempt, End::Answered);
            }
            Action::Fail { worker } => {
                next.left.failures -= 1;
                next.count_failure(worker);
                let (job, attempt) = next.workers[worker].held.take()?;
                next.give_up(job, attempt);
            }
            Action::Stop { worker } => {
                next.left.stops -= 1;
                let (job, attempt) = next.workers[worker].held.take()?;
                next.execute(Statement::Requeue { job, attempt, is_spent: false });
            }
            Action::Kill { worker } => {
                next.left.deaths -= 1;
                next.count_failure(worker);
                next.workers[worker] = Worker::default();
            }
            Action::Hang { worker } => {
                next.left.hangs -= 1;
                next.count_failure(worker);
                next.workers[worker].is_hung = true;
            }
            Action::Wake { worker } => next.workers[worker].is_hung = false,
            Action::Sweep { job } => next.give_up(job, next.rows[job]?.attempt),
            Action::Flush => next.disk = next.rows,
            Action::Crash => {
                next.left.crashes -= 1;
                // A claim that the disk has, and whose end it has not, fails: its worker is done with it.
                for job in 0..N_JOBS {
                    let claim = next.disk[job].filter(|row| row.state == State::Running);
                    let is_over = claim
                        .is_some_and(|claim| !next.rows[job].is_some_and(|row| row.is_claim(claim.attempt)));
                    next.failed[job] += i32::from(is_over);
                }
                next.rows = next.disk;
            }
        }
        next.normalise();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a job with a 202 is on the disk", |_, world: &World| {
                (0..N_JOBS).all(|job| !world.callers[job].was_accepted() || world.disk[job].is_some())
            }),
            Property::always(
                "a job with a 202 keeps the end that its caller was told of",
                |_, world: &World| {
                    (0..N_JOBS).all(|job| {
                        let Caller::Told { end, was_accepted: true } = world.callers[job] else {
                            return true;
                        };
                        [world.rows[job], world.disk[job]]
                            .into_iter()
                            .all(|row| row.is_some_and(|row| row.state == State::Ended(end)))
                    })
                },
            ),
            Property::always("a job has its upload until it ends", |_, world: &World| {
                rows(world).all(|row| row.has_upload || matches!(row.state, State::Ended(_)))
            }),
            Property::always("no upload outlives its job, unless it can be retried", |_, world: &World| {
                rows(world).all(|row| match row.state {
                    State::Ended(end) => row.has_upload == (end == End::Dead),
                    State::Queued | State::Running => true,
                })
            }),
            Property::always("a job dies of three attempts that really failed", |_, world: &World| {
                (0..N_JOBS).all(|job| {
                    let is_dead = world.rows[job].is_some_and(|row| row.state == State::Ended(End::Dead));
                    !is_dead || world.failed[job] >= MAX_ATTEMPTS
                })
            }),
            Property::always("a job that waits can be claimed", |_, world: &World| {
                rows(world).all(|row| row.state != State::Queued || row.can_be_claimed())
            }),
            Property::sometimes("everything has ended", |_, world: &World| {
                world.rows.iter().all(|row| row.is_some_and(|row| matches!(row.state, State::Ended(_))))
            }),
            Property::sometimes("a job dies", |_, world: &World| {
                rows(world).any(|row| row.state == State::Ended(End::Dead))
            }),
            Property::sometimes("a worker works on a job that was taken from it", |_, world: &World| {
                world.workers.iter().any(|worker| {
                    worker.held.is_some_and(|(job, attempt)| {
                        world.rows[job].is_some_and(|row| row.is_claim(attempt).not())
                    })
                })
            }),
        ]
    }
}

fn rows(world: &World) -> impl Iterator<Item = &Row> {
    world.rows.iter().flatten()
}

impl Caller {
    const fn was_accepted(self) -> bool {
        matches!(self, Self::Accepted | Self::Told { was_accepted: true, .. })
    }
}

#[test]
fn no_order_of_faults_loses_doubles_or_strands_a_job() {
    let none = Faults { deaths: 0, hangs: 0, failures: 0, stops: 0, crashes: 0, retries: 0 };
    let few = [
        Faults { deaths: 1, hangs: 1, failures: 1, retries: 1, ..none },
        Faults { deaths: 1, failures: 1, crashes: 1, ..none },
    ];
    let many = [
        Faults { deaths: 1, hangs: 1, failures: 1, stops: 1, crashes: 1, ..none },
        Faults { deaths: 2, hangs: 1, failures: 1, crashes: 1, retries: 1, ..none },
    ];
    for faults in if is_deep() { many } else { few } {
        let started = Instant::now();
        let checked = faults.checker().threads(2).spawn_bfs().join();
        let (n_states, depth) = (checked.unique_state_count(), checked.max_depth());
        println!("{faults:?}: {n_states} states, depth {depth}, {:.1} s", started.elapsed().as_secs_f64());
        checked.assert_properties();
    }
}
