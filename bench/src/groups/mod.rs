//! Measures what a group of jobs costs: the ends of its jobs in turns with those of jobs without a group, the statements on a
//! group of 10,000 jobs, and the followers of a large one.

mod followers;

use std::time::Instant;

use akhar_jobs::{
    FreePlaces, GroupName, NewJob,
    store::{self, Ending, Guard},
};
use akhar_platform::database::Database;
use akhar_platform::database::Pool;
use akhar_requests::{QUEUES, QUICK};
use akhar_tests::{Cluster, figures::median};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{machine::Machine, report::Report, targets};
pub(crate) use followers::Followed;

/// Jobs that one statement submits or ends.
const AT_A_TIME: usize = 100;
/// Statements of a turn.
const PER_TURN: usize = 20;
/// Workers that end jobs of one group at the same time.
const N_WORKERS: usize = 4;
/// Jobs of the large group.
const LARGE: usize = 10_000;

/// Measures everything, in this number of turns.
pub(crate) async fn run(machine: Machine, n_rounds: usize, followed: Followed) -> Report {
    let about = format!(
        "asynchronous empty jobs, {AT_A_TIME} in a statement, {PER_TURN} statements a turn, {n_rounds} turns of each; times of one \
         statement from its client; processor time of all cores for {} s in each state, in percent of one core",
        followed.seconds
    );
    let mut report = Report::new(machine, "groups", about);
    report.machine.rest().await;
    let cluster = Cluster::own();
    let database =
        Database::connect("akhar-bench", cluster.database().await.into(), 8).await.expect("it answers");
    let db = &database.pool;
    sqlx::query("insert into workers (name) values ('bench')").execute(db).await.expect("a write");
    ends(db, n_rounds, &mut report).await;
    large(db, &mut report).await;
    database.pool.close();
    drop(cluster);
    report.machine.rest().await;
    followers::measure(&mut report, followed).await;
    report
}

/// The ends of jobs in one group, beside those of jobs without a group.
async fn ends(db: &Pool, n_rounds: usize, report: &mut Report) {
    for (name, n_workers) in [("one worker", 1), ("four workers at the same time", N_WORKERS)] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..n_rounds {
            for (group, times) in [None, GroupName::parse("a-run")].iter().zip(&mut times) {
                let jobs: Vec<_> =
                    (0..n_workers * PER_TURN * AT_A_TIME).map(|_| job(group.as_ref())).collect();
                submit(db, &jobs).await;
                let workers: JoinSet<_> = (0..n_workers).map(|_| claim_and_end(db.clone())).collect();
                times.extend(workers.join_all().await.into_iter().flatten());
            }
        }
        let [without, with] = times.map(median);
        let what = format!("end of {AT_A_TIME} jobs, {name}");
        report.row(&what, vec![("without_ms", without), ("in_a_group_ms", with), ("ratio", with / without)]);
        report.figure(
            format!("{what}, in one group / without"),
            "ms",
            with,
            without,
            targets::END_IN_A_GROUP,
        );
    }
}

/// Claims and ends the jobs of one worker. Returns the times of the ends, ms.
async fn claim_and_end(db: Pool) -> Vec<f64> {
    let mut times = Vec::new();
    let mut db = db.servers().connect().await.expect("a connection");
    for _ in 0..PER_TURN {
        let places = [FreePlaces::any(QUICK, AT_A_TIME)];
        let claimed = store::claim(&mut db, "bench", &places).await.expect("a claim");
        let ending = |claimed: store::Claimed| Ending {
            guard: Guard::Claimed(claimed.fence),
            end: akhar_tests::queue::answer(),
            timing: None,
            error: None,
            may_have_webhook: false,
        };
        let endings: Vec<_> = claimed.into_iter().map(ending).collect();
        let started = Instant::now();
        store::end(&mut db, &endings).await.expect("a write");
        times.push(started.elapsed().as_secs_f64() * 1e3);
    }
    times
}

/// What is asked of and done to a large group, whose jobs wait.
async fn large(db: &Pool, report: &mut Report) {
    let [group, plain] = ["large", "plain"].map(|name| GroupName::parse(name).expect("a valid name"));
    for group in [&group, &plain] {
        submit(db, &(0..LARGE).map(|_| job(Some(group))).collect::<Vec<_>>()).await;
    }
    let account = Uuid::nil();
    let mut counts = Vec::new();
    for _ in 0..100 {
        let started = Instant::now();
        store::find_group(db, account, &group).await.expect("a read").expect("it has jobs");
        counts.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let count = median(counts);
    let update =
        "update jobs set state = 'cancelled', ended_at = now() where account_id = $1 and group_name = $2";
    let started = Instant::now();
    sqlx::query(update).bind(account).bind(&plain).execute(db).await.expect("a write");
    let plain = started.elapsed().as_secs_f64() * 1e3;
    let started = Instant::now();
    store::cancel_group(db, &QUEUES, account, &group).await.expect("a write");
    let cancel = started.elapsed().as_secs_f64() * 1e3;
    let started = Instant::now();
    store::delete_group(db, account, &group).await.expect("a write");
    let delete = started.elapsed().as_secs_f64() * 1e3;
    let what = format!("a group of {LARGE} waiting jobs");
    report.row(
        &what,
        vec![("count_ms", count), ("plain_update_ms", plain), ("cancel_ms", cancel), ("delete_ms", delete)],
    );
    report.figure(format!("counts of {what}"), "ms", count, None, targets::STATEMENT_ON_A_GROUP);
    let beside = "one update of the rows that changes the state and the time of the end only";
    report.figure(
        format!("cancellation of {what}, beside {beside}"),
        "ms",
        cancel,
        plain,
        targets::STATEMENT_ON_A_GROUP,
    );
    report.figure(format!("deletion of {what}"), "ms", delete, None, targets::NONE);
}

async fn submit(db: &Pool, jobs: &[NewJob]) {
    for batch in jobs.chunks(AT_A_TIME) {
        akhar_tests::queue::submit(db, &batch.iter().collect::<Vec<_>>()).await.expect("a write");
    }
}

fn job(group: Option<&GroupName>) -> NewJob {
    NewJob { group: group.cloned(), account_id: Uuid::nil(), ..akhar_tests::queue::new_job() }
}
