//! Measures submissions and claims with many finished jobs, and with 200,000 waiting ones in addition, in turns with an
//! empty table of the same server; then the operations page on the full table.

mod copies;
mod fill;
mod pages;
mod size;
mod table;

use akhar_tests::{Stack, figures::median};
use sqlx::postgres::PgConnectOptions;

use crate::{machine::Machine, report::Report, statements, targets};
use fill::{CANCELLED, FAILED, WAITING};
use size::Size;
use table::{PER_TURN, Table};

/// Turns of each table.
const ROUNDS: usize = 5;

/// Measures everything, with this number of finished jobs.
pub(crate) async fn run(machine: Machine, n_finished: usize) -> Report {
    let about = format!(
        "{n_finished} finished jobs, of which {FAILED} % failed and {CANCELLED} % were cancelled, and {WAITING} waiting ones, in \
         turns with an empty table; {ROUNDS} turns of {PER_TURN} jobs, one after another; times of one statement from its client, \
         on one connection"
    );
    let mut report = Report::new(machine, "full-table", about);
    report.machine.rest().await;
    let cluster = statements::cluster().await;
    let mut stack = Stack::with().on(&cluster).set("AKHAR_MAX_WAITING", 10_000_000).start().await;
    statements::enable(&stack.db).await;
    let full = stack.db.servers().options()[0].clone();
    fill::finished(&mut stack, n_finished).await;
    Size::of(&stack.db).await.report(&mut report, "finished jobs", n_finished);
    beside_empty(&mut report, "finished jobs", &cluster.database().await, &full).await;
    fill::waiting(&stack).await;
    beside_empty(&mut report, "full", &cluster.database().await, &full).await;
    pages::measure(&stack, &mut report).await;
    report
}

/// Measures a table, which has this name, in turns with an empty one.
async fn beside_empty(report: &mut Report, name: &str, empty: &PgConnectOptions, full: &PgConnectOptions) {
    let mut tables = [Table::open(empty).await, Table::open(full).await];
    for _ in 0..ROUNDS {
        for table in &mut tables {
            for is_asynchronous in [false, true] {
                table.turn(is_asynchronous).await;
            }
        }
    }
    let [empty, full] = &tables;
    for (nth, kind) in ["synchronous", "asynchronous"].into_iter().enumerate() {
        for (statement, empty, full) in [
            ("submit", &empty.submit[nth], &full.submit[nth]),
            ("claim", &empty.claim[nth], &full.claim[nth]),
        ] {
            let [empty, full] = [empty, full].map(|times| median(times.iter().copied()));
            let what = format!("{statement}, {kind} job, {name}");
            report.row(&what, vec![("empty_ms", empty), ("full_ms", full), ("ratio", full / empty)]);
            report.figure(format!("{what} / empty table"), "ms", full, empty, targets::FULL_TABLE);
        }
    }
}
