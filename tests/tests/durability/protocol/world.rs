//! What the exploration explores: callers with their apis, workers, the rows, and what each can do.

use akhar_jobs::MAX_ATTEMPTS;

use super::{End, Jobs, Row, State, Statement, UNSPENT_DEATHS};

/// One caller holds its connection open, and one wants a 202 at once.
pub(super) const N_JOBS: usize = 2;
const IS_ASYNCHRONOUS: [bool; N_JOBS] = [false, true];
pub(super) const N_WORKERS: usize = 3;

/// How often each fault can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Faults {
    /// A worker is killed.
    pub(super) deaths: u8,
    /// A worker stands still, and may go on later.
    pub(super) hangs: u8,
    /// An attempt fails.
    pub(super) failures: u8,
    /// A worker is told to stop.
    pub(super) stops: u8,
    /// Postgres dies and forgets what is not on the disk.
    pub(super) crashes: u8,
    /// An operator retries a dead job.
    pub(super) retries: u8,
    /// The retention time of an outcome passes.
    pub(super) expiries: u8,
    /// A statement that submits a job takes so long that its api dies meanwhile.
    pub(super) slow_submissions: u8,
    /// A caller whose api died, or that was refused, sends its request again, with the same idempotency key.
    pub(super) repetitions: u8,
}

impl Faults {
    /// Whether a job can die of them.
    pub(super) fn suffice(&self) -> bool {
        let n_lost = i32::from(self.deaths + self.hangs + self.crashes);
        i32::from(self.failures) + (n_lost - UNSPENT_DEATHS).max(0) >= MAX_ATTEMPTS
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    /// What the statements read.
    pub(super) rows: Jobs<N_JOBS>,
    /// What is left of it after a crash.
    pub(super) disk: Jobs<N_JOBS>,
    pub(super) workers: [Worker; N_WORKERS],
    pub(super) callers: [Caller; N_JOBS],
    /// Whether a statement that submits the job has begun and is not committed.
    pub(super) is_being_submitted: [bool; N_JOBS],
    /// Whether the job was deleted because its retention time was over.
    pub(super) has_expired: [bool; N_JOBS],
    /// The attempts of each job whose work failed since it was submitted or retried.
    pub(super) failed: [i32; N_JOBS],
    /// Its attempts that were lost since it was submitted: their workers were killed or stood still, or a crash forgot their ends.
    pub(super) lost: [i32; N_JOBS],
    pub(super) left: Faults,
}

/// A worker with one place. One that is killed is replaced at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(super) struct Worker {
    /// The job and the attempt that it works on.
    pub(super) held: Option<(usize, i32)>,
    pub(super) is_hung: bool,
}

/// What an api has told a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Caller {
    /// Nothing. The api keeps the job, to submit it again if a crash forgets it.
    Waiting,
    /// It was told with a 202 that its job is kept.
    Accepted,
    /// It was told how its job ended, before or after a 202.
    Told { end: End, was_accepted: bool },
    /// It was told with a 503 that the queue is full.
    Refused,
    /// It hung up, or its api died.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Action {
    Submit {
        job: usize,
    },
    /// The statement that submits the job begins.
    BeginSubmission {
        job: usize,
    },
    CommitSubmission {
        job: usize,
    },
    /// The connection of the statement is lost.
    LoseSubmission {
        job: usize,
    },
    /// The queue is full.
    Refuse {
        job: usize,
    },
    /// The caller sends its request again, to another api.
    Repeat {
        job: usize,
    },
    /// The retention time of the outcome is over.
    Expire {
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
    pub(super) fn execute(&mut self, statement: Statement) -> bool {
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
            Statement::Claim { .. }
            | Statement::Requeue { .. }
            | Statement::Purge { .. }
            | Statement::Delete { .. }
            | Statement::Expire { .. } => false,
        };
        if is_flushed {
            self.disk = self.rows;
        }
        true
    }

    /// Submits a job. An asynchronous caller is told, if its api lives.
    pub(super) fn submit(&mut self, job: usize) {
        let is_asynchronous = IS_ASYNCHRONOUS[job];
        self.execute(Statement::Submit { job, is_asynchronous });
        if is_asynchronous && self.callers[job] == Caller::Waiting {
            self.callers[job] = Caller::Accepted;
        }
    }

    /// Ends the claim of a worker and tells the caller.
    pub(super) fn end(&mut self, job: usize, attempt: i32, end: End) {
        if self.execute(Statement::End { job, attempt, end }) {
            self.tell(job, end);
        }
    }

    pub(super) fn tell(&mut self, job: usize, end: End) {
        let caller = &mut self.callers[job];
        if matches!(caller, Caller::Waiting | Caller::Accepted) {
            *caller = Caller::Told { end, was_accepted: *caller == Caller::Accepted };
        }
    }

    /// An attempt that failed, or whose worker died with it or lost it: the job returns to its queue, or has no attempt left.
    pub(super) fn give_up(&mut self, job: usize, attempt: i32, is_death: bool) {
        let Some(row) = self.rows[job].filter(|row| row.is_claim(attempt)) else { return };
        let is_spent = row.is_suspect() || !is_death;
        if is_spent && attempt >= row.max_attempts {
            self.end(job, attempt, End::Dead);
        } else {
            self.execute(Statement::Requeue { job, attempt, is_spent, is_death });
        }
    }

    /// The job of a worker, if it has the current claim.
    pub(super) fn job_of(&self, worker: usize) -> Option<usize> {
        let (job, attempt) = self.workers[worker].held?;
        self.rows[job].is_some_and(|row| row.is_claim(attempt)).then_some(job)
    }

    /// Counts the loss of an attempt against the job of a worker.
    pub(super) fn count_loss(&mut self, worker: usize) {
        if let Some(job) = self.job_of(worker) {
            self.lost[job] += 1;
        }
    }

    /// Gives worlds that differ only in the numbers of workers one form: sorts the workers, and forgets which worker had a
    /// claim that none holds.
    pub(super) fn normalise(&mut self) {
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

    /// Whether the retention time of a job can be over. It is so long that no api waits for the job any more and that Postgres
    /// has written its end to the disk.
    fn can_expire(&self, job: usize, row: &Row) -> bool {
        let is_waited_for = self.callers[job] == Caller::Waiting;
        matches!(row.state, State::Ended(_)) && self.disk[job].as_ref() == Some(row) && !is_waited_for
    }

    pub(super) fn of_worker(&self, worker: usize, actions: &mut Vec<Action>) {
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

    pub(super) fn of_caller(&self, job: usize, actions: &mut Vec<Action>) {
        let row = self.rows[job];
        let is_being_submitted = self.is_being_submitted[job];
        match self.callers[job] {
            // What submits or refuses the job waits for the other statement.
            Caller::Waiting if is_being_submitted => (),
            Caller::Waiting if row.is_none() => {
                actions.push(Action::Submit { job });
                if self.left.slow_submissions > 0 {
                    actions.extend([Action::BeginSubmission { job }, Action::Refuse { job }]);
                }
            }
            Caller::Waiting => actions.push(Action::Acknowledge { job }),
            Caller::Accepted => actions.push(Action::Cancel { job }),
            Caller::Refused | Caller::Gone if self.left.repetitions > 0 => {
                actions.push(Action::Repeat { job });
            }
            Caller::Told { .. } | Caller::Refused | Caller::Gone => (),
        }
        if is_being_submitted {
            actions.extend([Action::CommitSubmission { job }, Action::LoseSubmission { job }]);
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
            if self.can_expire(job, &row) && self.left.expiries > 0 {
                actions.push(Action::Expire { job });
            }
        }
    }
}

impl Caller {
    pub(super) const fn was_accepted(self) -> bool {
        matches!(self, Self::Accepted | Self::Told { was_accepted: true, .. })
    }
}
