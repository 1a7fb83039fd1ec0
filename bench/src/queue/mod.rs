//! Empty jobs through queues on one Postgres, 100 at a time: how many a second are worked off when all lie
//! there already (drain), and when they are put in meanwhile, 100 a call (flow).

mod akhar;
mod hand_written;
mod node;

use akhar_tests::Cluster;

use crate::{
    peers::medians_of,
    report::{Figure, Report, count, number},
};

/// Jobs put in by one call, and taken by one.
pub(crate) const AT_A_TIME: usize = 100;

/// What is measured in one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every job lies there before the first is taken.
    Drain,
    /// Jobs are put in while others are worked.
    Flow,
}

impl Mode {
    const ALL: [Self; 2] = [Self::Drain, Self::Flow];

    /// Its name in the table, and to the Node.js programs.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Flow => "flow",
        }
    }
}

/// How one turn went.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// Putting the jobs in, s.
    pub(crate) insert_s: f64,
    /// From the start of the work until the last job is finished in the database, s.
    pub(crate) work_s: f64,
}

/// A queue that runs empty jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contender {
    /// Ours, which the others are compared with.
    Akhar,
    HandWritten,
    GraphileWorker,
    /// With its documentation's local queue of 500 jobs.
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

    /// `n` empty jobs on a database of their own.
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

/// Jobs/s of each, medians over `n_rounds` turns of `n` jobs.
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
