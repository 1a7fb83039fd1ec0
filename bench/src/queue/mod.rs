//! Measures queues on one Postgres with empty jobs, 100 at a time: the jobs per second when all jobs are
//! queued before (drain), and when they are submitted at the same time, 100 in each call (flow).

mod akhar;
mod hand_written;
mod node;

use akhar_tests::Cluster;

use crate::{
    peers::medians_of,
    report::{Figure, Report, count, number},
};

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
    const ALL: [Self; 2] = [Self::Drain, Self::Flow];

    /// The name in the report's table, and for the Node.js programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Flow => "flow",
        }
    }
}

/// The times of one turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// The time to submit the jobs, s.
    pub(crate) insert_s: f64,
    /// The time from the start of the worker until the last job is finished in the database, s.
    pub(crate) work_s: f64,
}

/// A queue that runs empty jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    /// Akhar, with which the others are compared.
    Akhar,
    HandWritten,
    GraphileWorker,
    /// graphile-worker with a local queue of 500 jobs, as in its documentation.
    GraphileWorker500,
    PgBoss,
}

impl Contender {
    const ALL: [Self; 5] =
        [Self::Akhar, Self::HandWritten, Self::GraphileWorker, Self::GraphileWorker500, Self::PgBoss];

    const fn name(self) -> &'static str {
        match self {
            Self::Akhar => "Akhar",
            Self::HandWritten => "hand-written SKIP LOCKED",
            Self::GraphileWorker => "graphile-worker",
            Self::GraphileWorker500 => "graphile-worker, 500 at a time",
            Self::PgBoss => "pg-boss",
        }
    }

    /// Runs `n` empty jobs on a new database.
    async fn turn(self, cluster: &Cluster, mode: Mode, n: usize) -> Took {
        let database = match self {
            Self::Akhar => cluster.database().await,
            _ => cluster.empty_database().await,
        };
        match self {
            Self::Akhar => akhar::turn(&database, mode, n).await,
            Self::HandWritten => hand_written::turn(&database, mode, n).await,
            Self::GraphileWorker => node::turn(&database, "graphile-worker", AT_A_TIME, mode, n).await,
            Self::GraphileWorker500 => node::turn(&database, "graphile-worker", 500, mode, n).await,
            Self::PgBoss => node::turn(&database, "pg-boss", AT_A_TIME, mode, n).await,
        }
    }
}

/// Measures the jobs/s of each queue: medians of `n_rounds` turns of `n` jobs.
pub(crate) async fn run(n: usize, n_rounds: usize) -> Report {
    let cluster = Cluster::own();
    let about = format!(
        "empty jobs/s, {AT_A_TIME} at a time, {n} jobs a turn, medians of {n_rounds} turns; drain: worked off after they were \
         put in; flow: put in and worked at once"
    );
    let mut report = Report::new("queue", about);
    let mut rows = vec![Vec::new(); Contender::ALL.len()];
    for _ in 0..n_rounds {
        for (contender, rows) in Contender::ALL.iter().zip(&mut rows) {
            let mut row = Vec::new();
            for mode in Mode::ALL {
                let took = contender.turn(&cluster, mode, n).await;
                row.push((
                    if mode == Mode::Drain { "drain_per_s" } else { "flow_per_s" },
                    count(n) / took.work_s,
                ));
                if mode == Mode::Drain {
                    row.push(("insert_per_s", count(n) / took.insert_s));
                }
            }
            println!("{}: {row:?}", contender.name());
            rows.push(row);
        }
    }
    let medians: Vec<_> = rows.iter().map(|rows| medians_of(rows)).collect();
    for (contender, row) in Contender::ALL.iter().zip(&medians) {
        report.row(contender.name(), row.clone());
    }
    for (contender, row) in Contender::ALL.iter().zip(&medians).skip(1) {
        for (what, column) in [("drain", "drain_per_s"), ("flow", "flow_per_s")] {
            report.figure(Figure {
                what: format!("empty jobs, {AT_A_TIME} at a time, {what}, beside {}", contender.name()),
                unit: "jobs/s",
                ours: number(&medians[0], column),
                other: Some(number(row, column)),
                reach: "≥ 1 ×",
            });
        }
    }
    report
}
