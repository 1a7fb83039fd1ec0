//! Measures queues on one Postgres with empty jobs, 100 at a time: the jobs per second when all jobs are
//! queued before (drain), and when they are submitted at the same time, 100 in each call (flow).

mod akhar;
mod hand_written;
mod programs;
mod turn;

use akhar_tests::{
    Cluster,
    figures::{count, number},
};

use crate::{load::medians_of, report::Report};
pub(crate) use akhar::empty_job;
use turn::{AT_A_TIME, Mode, Took};

/// A queue that runs empty jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    /// Akhar, with which the others are compared.
    Akhar,
    HandWritten,
    GraphileWorker,
    /// graphile-worker with a local queue of 500 jobs, as in its documentation.
    GraphileWorker500,
    /// `graphile_worker`, a queue in Rust with the tables of graphile-worker, also with a local queue of 500 jobs.
    GraphileWorkerRust,
    PgBoss,
}

impl Contender {
    const ALL: [Self; 6] = [
        Self::Akhar,
        Self::HandWritten,
        Self::GraphileWorker,
        Self::GraphileWorker500,
        Self::GraphileWorkerRust,
        Self::PgBoss,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Akhar => "Akhar",
            Self::HandWritten => "hand-written SKIP LOCKED",
            Self::GraphileWorker => "graphile-worker",
            Self::GraphileWorker500 => "graphile-worker, 500 at a time",
            Self::GraphileWorkerRust => "graphile_worker in Rust, 500 at a time",
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
            Self::GraphileWorker => programs::node(&database, "graphile-worker", AT_A_TIME, mode, n).await,
            Self::GraphileWorker500 => programs::node(&database, "graphile-worker", 500, mode, n).await,
            Self::GraphileWorkerRust => programs::rust(&database, mode, n).await,
            Self::PgBoss => programs::node(&database, "pg-boss", AT_A_TIME, mode, n).await,
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
            let drain = contender.turn(&cluster, Mode::Drain, n).await;
            let flow = contender.turn(&cluster, Mode::Flow, n).await;
            let per_s = |seconds: f64| count(n) / seconds;
            let row = vec![
                ("drain_per_s", per_s(drain.work_s)),
                ("insert_per_s", per_s(drain.insert_s)),
                ("flow_per_s", per_s(flow.work_s)),
            ];
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
            let what = format!("empty jobs, {AT_A_TIME} at a time, {what}, beside {}", contender.name());
            report.figure(what, "jobs/s", number(&medians[0], column), number(row, column), "≥ 1 ×");
        }
    }
    report
}
