//! Measures queues on one Postgres with empty jobs, 100 at a time: the jobs per second when all jobs are
//! queued before (drain), and when they are submitted at the same time, 100 in each call (flow).

mod akhar;
mod programs;
mod turn;

use akhar_tests::{
    Cluster,
    figures::{Row, count, number},
};
use clap::ValueEnum;

use crate::{
    load::{medians_of, range_of},
    machine::Machine,
    report::Report,
    targets::{self, Target},
};
use turn::{AT_A_TIME, Mode, Took};

/// A queue that runs empty jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contender {
    /// Akhar, with which the others are compared
    Akhar,
    /// Akhar with places for 500 jobs, with which those that have a local queue of 500 are compared
    #[value(name = "akhar-500")]
    Akhar500,
    /// graphile-worker with a local queue of 100 jobs
    GraphileWorker,
    /// graphile-worker with a local queue of 500 jobs, as in its documentation
    #[value(name = "graphile-worker-500")]
    GraphileWorker500,
    /// `graphile_worker`, a queue in Rust with the tables of graphile-worker, also with a local queue of 500 jobs
    #[value(name = "graphile_worker")]
    GraphileWorkerRust,
}

impl Contender {
    const fn name(self) -> &'static str {
        match self {
            Self::Akhar => "Akhar",
            Self::Akhar500 => "Akhar, 500 at a time",
            Self::GraphileWorker => "graphile-worker",
            Self::GraphileWorker500 => "graphile-worker, 500 at a time",
            Self::GraphileWorkerRust => "graphile_worker in Rust, 500 at a time",
        }
    }

    /// What Akhar should reach beside this queue, drained and flowing.
    const fn targets(self) -> [Target; 2] {
        match self {
            Self::Akhar | Self::Akhar500 | Self::GraphileWorker => targets::JOBS_BESIDE_GRAPHILE_WORKER,
            Self::GraphileWorker500 | Self::GraphileWorkerRust => targets::JOBS_BESIDE_LOCAL_QUEUES_OF_500,
        }
    }

    /// What this queue is compared with. `None` if it is Akhar.
    const fn peer(self) -> Option<Self> {
        match self {
            Self::Akhar | Self::Akhar500 => None,
            Self::GraphileWorker => Some(Self::Akhar),
            Self::GraphileWorker500 | Self::GraphileWorkerRust => Some(Self::Akhar500),
        }
    }

    /// Runs `n` empty jobs on a new database.
    async fn turn(self, cluster: &Cluster, mode: Mode, n: usize) -> Took {
        let database = match self {
            Self::Akhar | Self::Akhar500 => cluster.database().await,
            _ => cluster.empty_database().await,
        };
        match self {
            Self::Akhar => akhar::turn(&database, AT_A_TIME, mode, n).await,
            Self::Akhar500 => akhar::turn(&database, 500, mode, n).await,
            Self::GraphileWorker => programs::node(&database, AT_A_TIME, mode, n).await,
            Self::GraphileWorker500 => programs::node(&database, 500, mode, n).await,
            Self::GraphileWorkerRust => programs::rust(&database, mode, n).await,
        }
    }
}

/// Measures the jobs/s of these queues, or of all: medians of `n_rounds` turns, with each number of jobs in a turn.
pub(crate) async fn run(machine: Machine, sizes: &[usize], n_rounds: usize, only: &[Contender]) -> Report {
    let contenders = if only.is_empty() { Contender::value_variants() } else { only };
    let about = format!(
        "empty jobs/s, {AT_A_TIME} at a time, medians and ranges of {n_rounds} turns; drain: worked off after they were \
         put in; flow: put in and worked at once"
    );
    let mut report = Report::new(machine, "queue", about);
    let cluster = Cluster::own();
    for &n in sizes {
        let mut rows = vec![Vec::new(); contenders.len()];
        for _ in 0..n_rounds {
            for (contender, rows) in contenders.iter().zip(&mut rows) {
                report.machine.rest().await;
                let row = round(*contender, &cluster, n).await;
                println!("{}, {n} jobs: {row:?}", contender.name());
                rows.push(row);
            }
        }
        for (contender, rows) in contenders.iter().zip(&rows) {
            report.row(&format!("{}, {n} jobs", contender.name()), with_ranges(rows));
        }
        add_figures(&mut report, n, contenders, &rows);
    }
    report
}

/// Both turns of a queue.
async fn round(contender: Contender, cluster: &Cluster, n: usize) -> Row {
    let drain = contender.turn(cluster, Mode::Drain, n).await;
    let flow = contender.turn(cluster, Mode::Flow, n).await;
    let per_s = |seconds: f64| count(n) / seconds;
    vec![
        ("drain_per_s", per_s(drain.work_s)),
        ("insert_per_s", per_s(drain.insert_s)),
        ("flow_per_s", per_s(flow.work_s)),
    ]
}

/// The medians of the rounds, with the slowest and the fastest turn.
fn with_ranges(rows: &[Row]) -> Row {
    let mut row = medians_of(rows);
    for (column, [slowest, fastest]) in
        [("drain_per_s", ["drain_min", "drain_max"]), ("flow_per_s", ["flow_min", "flow_max"])]
    {
        let [min, max] = range_of(rows, column);
        row.extend([(slowest, min), (fastest, max)]);
    }
    row
}

/// Compares Akhar with each other queue, as far as it was measured.
fn add_figures(report: &mut Report, n: usize, contenders: &[Contender], rows: &[Vec<Row>]) {
    let medians: Vec<_> = contenders.iter().zip(rows.iter().map(|rows| medians_of(rows))).collect();
    for (contender, theirs) in &medians {
        let peer = contender.peer();
        let Some((ours, akhar)) = medians.iter().find(|(other, _)| Some(**other) == peer) else { continue };
        let modes = [("drain", "drain_per_s"), ("flow", "flow_per_s")];
        for ((mode, column), target) in modes.into_iter().zip(contender.targets()) {
            let what = format!("{}: {n} empty jobs, {mode}, beside {}", ours.name(), contender.name());
            report.figure(what, "jobs/s", number(akhar, column), number(theirs, column), target);
        }
    }
}
