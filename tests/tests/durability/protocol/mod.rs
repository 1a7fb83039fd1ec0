//! The protocol of the queue as a model: what each statement on jobs does to a few of them. `exploration` checks everything
//! that callers, workers and crashes (`world`) can do with these statements. `statements` runs random ones in Postgres too, and
//! compares the rows. `expiry` checks when outcomes are deleted.

mod expiry;
mod exploration;
mod statements;
mod world;

use akhar_jobs::MAX_ATTEMPTS;

/// How many deaths of its workers cost a job no attempt. From then on it is a suspect.
const UNSPENT_DEATHS: i32 = 2;

/// Whether to check more than `make test` has time for, as `make chaos` does.
fn is_deep() -> bool {
    std::env::var_os("PROTOCOL_DEPTH").is_some_and(|depth| depth == "deep")
}

/// The jobs of a model, by their numbers. `None` if there is no row.
type Jobs<const N: usize> = [Option<Row>; N];

/// A row of the table of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Row {
    state: State,
    /// No caller holds a connection open for it.
    is_asynchronous: bool,
    is_acknowledged: bool,
    attempt: i32,
    max_attempts: i32,
    /// The number of the worker that runs it.
    worker: Option<usize>,
    has_upload: bool,
    /// The workers that have died with it, or lost it.
    deaths: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    Queued,
    Running,
    Ended(End),
}

/// How a job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    /// With a result.
    Answered,
    /// The input is not valid.
    Rejected,
    /// The service failed to process it.
    Dead,
    Cancelled,
}

/// A statement. `job` and `worker` are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Statement {
    Submit {
        job: usize,
        is_asynchronous: bool,
    },
    Acknowledge {
        job: usize,
    },
    Claim {
        job: usize,
        worker: usize,
    },
    /// Ends the claim with this attempt.
    End {
        job: usize,
        attempt: i32,
        end: End,
    },
    /// Cancels the job for its caller.
    Cancel {
        job: usize,
        may_run: bool,
    },
    /// Ends the claim with this attempt and returns the job to its queue.
    Requeue {
        job: usize,
        attempt: i32,
        is_spent: bool,
        is_death: bool,
    },
    Retry {
        job: usize,
    },
    Purge {
        job: usize,
    },
    /// Deletes the job for its caller.
    Delete {
        job: usize,
    },
    /// Deletes the job if its retention time is over.
    Expire {
        job: usize,
    },
}

impl Statement {
    const fn job(self) -> usize {
        match self {
            Self::Submit { job, .. }
            | Self::Acknowledge { job }
            | Self::Claim { job, .. }
            | Self::End { job, .. }
            | Self::Cancel { job, .. }
            | Self::Requeue { job, .. }
            | Self::Retry { job }
            | Self::Purge { job }
            | Self::Delete { job }
            | Self::Expire { job } => job,
        }
    }

    const fn deletes(self) -> bool {
        matches!(self, Self::Purge { .. } | Self::Delete { .. } | Self::Expire { .. })
    }

    /// Changes the row as the statement does. Returns `false` if its conditions are not met, so that it changes nothing.
    fn change(self, place: &mut Option<Row>) -> bool {
        let changed = match *place {
            None => self.submitted(),
            Some(row) => self.changed(row),
        };
        if changed.is_some() {
            *place = changed.filter(|_| !self.deletes());
        }
        changed.is_some()
    }

    /// The row after the statement. That of a deleted job is its last.
    fn changed(self, row: Row) -> Option<Row> {
        let changed = match self {
            Self::Acknowledge { .. } => Row { is_acknowledged: true, ..row },
            Self::Claim { worker, .. } if row.can_be_claimed() => {
                Row { state: State::Running, attempt: row.attempt + 1, worker: Some(worker), ..row }
            }
            Self::End { attempt, end, .. } if row.is_claim(attempt) => row.ended(end),
            Self::Cancel { may_run, .. }
                if row.state == State::Queued || may_run && row.state == State::Running =>
            {
                row.ended(End::Cancelled)
            }
            Self::Requeue { attempt, is_spent, is_death, .. } if row.is_claim(attempt) => Row {
                state: State::Queued,
                worker: None,
                max_attempts: row.max_attempts + i32::from(!is_spent),
                deaths: row.deaths + i32::from(is_death),
                ..row
            },
            Self::Retry { .. } if row.state == State::Ended(End::Dead) => Row {
                state: State::Queued,
                is_asynchronous: true,
                is_acknowledged: true,
                max_attempts: row.attempt + MAX_ATTEMPTS,
                ..row
            },
            Self::Purge { .. } | Self::Delete { .. } | Self::Expire { .. }
                if matches!(row.state, State::Ended(_)) =>
            {
                row
            }
            _ => return None,
        };
        Some(changed)
    }

    fn submitted(self) -> Option<Row> {
        let Self::Submit { is_asynchronous, .. } = self else { return None };
        Some(Row {
            state: State::Queued,
            is_asynchronous,
            is_acknowledged: is_asynchronous,
            attempt: 0,
            max_attempts: MAX_ATTEMPTS,
            worker: None,
            has_upload: true,
            deaths: 0,
        })
    }
}

impl Row {
    fn can_be_claimed(&self) -> bool {
        self.state == State::Queued && self.attempt < self.max_attempts
    }

    const fn is_suspect(&self) -> bool {
        self.deaths >= UNSPENT_DEATHS
    }

    fn is_claim(&self, attempt: i32) -> bool {
        self.state == State::Running && self.attempt == attempt
    }

    const fn ended(self, end: End) -> Self {
        let has_upload = self.has_upload && matches!(end, End::Dead);
        Self { state: State::Ended(end), worker: None, has_upload, ..self }
    }
}
