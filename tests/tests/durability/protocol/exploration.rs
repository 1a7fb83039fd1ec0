//! Explores the model: every order of what two callers with their apis, three workers, the sweeper, an operator and crashes
//! can do.

use std::{ops::Not as _, time::Instant};

use akhar_jobs::MAX_ATTEMPTS;
use stateright::{Checker as _, Model, Property};

use super::{
    End, Row, State, Statement, UNSPENT_DEATHS, is_deep,
    world::{Action, Caller, Faults, N_JOBS, N_WORKERS, Worker, World},
};

impl Model for Faults {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            rows: [None; N_JOBS],
            disk: [None; N_JOBS],
            workers: [Worker::default(); N_WORKERS],
            callers: [Caller::Waiting; N_JOBS],
            is_being_submitted: [false; N_JOBS],
            has_expired: [false; N_JOBS],
            failed: [0; N_JOBS],
            lost: [0; N_JOBS],
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
            Action::Submit { job } => next.submit(job),
            Action::BeginSubmission { job } => {
                next.left.slow_submissions -= 1;
                next.is_being_submitted[job] = true;
            }
            Action::CommitSubmission { job } => {
                next.is_being_submitted[job] = false;
                next.submit(job);
            }
            Action::LoseSubmission { job } => next.is_being_submitted[job] = false,
            Action::Refuse { job } => next.callers[job] = Caller::Refused,
            Action::Repeat { job } => {
                next.left.repetitions -= 1;
                next.callers[job] = Caller::Waiting;
            }
            Action::Expire { job } => {
                next.left.expiries -= 1;
                next.has_expired[job] = next.execute(Statement::Expire { job });
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
                next.lost[job] = next.lost[job].min(UNSPENT_DEATHS);
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
                if let Some(job) = next.job_of(worker) {
                    next.failed[job] += 1;
                }
                let (job, attempt) = next.workers[worker].held.take()?;
                next.give_up(job, attempt, false);
            }
            Action::Stop { worker } => {
                next.left.stops -= 1;
                let (job, attempt) = next.workers[worker].held.take()?;
                next.execute(Statement::Requeue { job, attempt, is_spent: false, is_death: false });
            }
            Action::Kill { worker } => {
                next.left.deaths -= 1;
                next.count_loss(worker);
                next.workers[worker] = Worker::default();
            }
            Action::Hang { worker } => {
                next.left.hangs -= 1;
                next.count_loss(worker);
                next.workers[worker].is_hung = true;
            }
            Action::Wake { worker } => next.workers[worker].is_hung = false,
            Action::Sweep { job } => next.give_up(job, next.rows[job]?.attempt, true),
            Action::Flush => next.disk = next.rows,
            Action::Crash => {
                next.left.crashes -= 1;
                // A claim that the disk has, and whose end it has not, is lost: its worker is done with it.
                for job in 0..N_JOBS {
                    let claim = next.disk[job].filter(|row| row.state == State::Running);
                    let is_over = claim
                        .is_some_and(|claim| !next.rows[job].is_some_and(|row| row.is_claim(claim.attempt)));
                    next.lost[job] += i32::from(is_over);
                }
                next.rows = next.disk;
                next.is_being_submitted = [false; N_JOBS];
            }
        }
        next.normalise();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a job with a 202 is on the disk until it expires", |_, world: &World| {
                (0..N_JOBS).all(|job| {
                    let is_kept = world.disk[job].is_some() || world.has_expired[job];
                    is_kept || !world.callers[job].was_accepted()
                })
            }),
            Property::always("no caller is refused whose job is kept", |_, world: &World| {
                (0..N_JOBS).all(|job| {
                    let is_kept = world.rows[job].is_some() || world.is_being_submitted[job];
                    !is_kept || world.callers[job] != Caller::Refused
                })
            }),
            Property::always("a job that has expired does not come back", |_, world: &World| {
                (0..N_JOBS).all(|job| {
                    let row = world.rows[job].filter(|_| world.has_expired[job]);
                    row.is_none_or(|row| matches!(row.state, State::Ended(_)))
                })
            }),
            Property::always(
                "a job with a 202 keeps the end that its caller was told of",
                |_, world: &World| {
                    (0..N_JOBS).all(|job| {
                        let Caller::Told { end, was_accepted: true } = world.callers[job] else {
                            return true;
                        };
                        [world.rows[job], world.disk[job]].into_iter().all(|row| {
                            row.map_or(world.has_expired[job], |row| row.state == State::Ended(end))
                        })
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
            Property::always(
                "a job dies of three attempts that failed, or were lost after two others",
                |_, world: &World| {
                    (0..N_JOBS).all(|job| {
                        let is_dead = world.rows[job].is_some_and(|row| row.state == State::Ended(End::Dead));
                        let n_spent = world.failed[job] + (world.lost[job] - UNSPENT_DEATHS).max(0);
                        !is_dead || n_spent >= MAX_ATTEMPTS
                    })
                },
            ),
            Property::always("a job that waits can be claimed", |_, world: &World| {
                rows(world).all(|row| row.state != State::Queued || row.can_be_claimed())
            }),
            Property::sometimes("everything has ended", |_, world: &World| {
                world.rows.iter().all(|row| row.is_some_and(|row| matches!(row.state, State::Ended(_))))
            }),
            Property::sometimes("a job dies", |faults: &Faults, world: &World| {
                !faults.suffice() || rows(world).any(|row| row.state == State::Ended(End::Dead))
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

#[test]
fn no_order_of_faults_loses_doubles_or_strands_a_job() {
    let none = Faults {
        deaths: 0,
        hangs: 0,
        failures: 0,
        stops: 0,
        crashes: 0,
        retries: 0,
        expiries: 0,
        slow_submissions: 0,
        repetitions: 0,
    };
    let expiry = Faults { deaths: 1, hangs: 1, crashes: 1, expiries: 1, ..none };
    let repetition =
        Faults { deaths: 1, failures: 1, crashes: 1, slow_submissions: 1, repetitions: 1, ..none };
    let few = [
        Faults { deaths: 2, hangs: 1, failures: 2, retries: 1, ..none },
        Faults { deaths: 1, failures: 1, crashes: 1, ..none },
        expiry,
        repetition,
    ];
    let many = [
        Faults { deaths: 2, failures: 2, crashes: 1, ..none },
        Faults { deaths: 1, hangs: 1, failures: 1, stops: 1, crashes: 1, ..none },
        Faults { deaths: 2, hangs: 1, failures: 1, crashes: 1, retries: 1, ..none },
        expiry,
        repetition,
    ];
    for faults in if is_deep() { many.to_vec() } else { few.to_vec() } {
        let started = Instant::now();
        let checked = faults.checker().threads(2).spawn_bfs().join();
        let (n_states, depth) = (checked.unique_state_count(), checked.max_depth());
        println!("{faults:?}: {n_states} states, depth {depth}, {:.1} s", started.elapsed().as_secs_f64());
        checked.assert_properties();
    }
}
