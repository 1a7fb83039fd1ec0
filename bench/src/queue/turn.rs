//! One turn of a queue, and its times.

use std::time::Instant;

use tokio::join;

/// The number of jobs in one call that submits jobs, and in one call that claims them.
pub(crate) const AT_A_TIME: usize = 100;

/// The kind of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All jobs are queued before the first one is claimed.
    Drain,
    /// Jobs are submitted while others run.
    Flow,
}

impl Mode {
    /// The name in the arguments of other programs.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Flow => "flow",
        }
    }
}

/// The times of one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    /// The time to submit the jobs, s.
    pub(super) insert_s: f64,
    /// The time from the start of the worker until the last job is finished in the database, s.
    pub(super) work_s: f64,
}

impl Took {
    /// Runs a turn: `insert` submits all jobs, and `work` ends when all are finished.
    pub(super) async fn of(mode: Mode, insert: impl AsyncFnOnce(), work: impl AsyncFnOnce()) -> Self {
        let mut started = Instant::now();
        let insert = async move {
            insert().await;
            started.elapsed().as_secs_f64()
        };
        let insert_s = match mode {
            Mode::Drain => {
                let insert_s = insert.await;
                started = Instant::now();
                work().await;
                insert_s
            }
            Mode::Flow => join!(insert, work()).0,
        };
        Self { insert_s, work_s: started.elapsed().as_secs_f64() }
    }
}
