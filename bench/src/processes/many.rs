//! Growing numbers of apis and workers on one Postgres: what they cost it while they are idle, and how many digits they
//! recognise together.

use std::time::{Duration, Instant};

use akhar_platform::database::Pool;
use akhar_tests::{
    Cluster, Form, Process, Stack,
    ends::n_of,
    figures::{Row, count, number, response_times},
    http::client,
    images::fixture_of,
    load::{Load, n_good},
    process::stop_all,
};
use reqwest::RequestBuilder;
use tokio::time::sleep;

use crate::{cpu, load::digit, machine::Machine, report::Report, statements};

/// The numbers of apis and workers.
const PROCESSES: [[usize; 2]; 5] = [[1, 1], [1, 3], [2, 8], [4, 16], [4, 32]];
const N_CLIENTS: usize = 32;
/// The time after the start in which processes may settle.
const SETTLE: Duration = Duration::from_secs(5);

/// Measures each number of processes for `seconds` without requests, and again with requests.
pub(crate) async fn run(machine: Machine, seconds: u64) -> Report {
    let about = format!(
        "{seconds} s idle, then {seconds} s with {N_CLIENTS} closed-loop clients for digits; processor time of all cores, in \
         percent of one core"
    );
    let mut report = Report::new(machine, "processes", about);
    let cluster = statements::cluster().await;
    for [n_apis, n_workers] in PROCESSES {
        report.machine.rest().await;
        let connections = "AKHAR_DATABASE_CONNECTIONS"; // the product's default
        let mut stack = Stack::with().on(&cluster).without(connections).start().await;
        for _ in 1..n_workers {
            stack.add_worker().await;
        }
        statements::enable(&stack.db).await;
        let mut requests = vec![digit(&stack)];
        let mut apis = Vec::new();
        for _ in 1..n_apis {
            let (api, base) = stack.start_api().await;
            let image = fixture_of("੫");
            let request =
                client().post(format!("{base}/v1/models/{}", image.operation)).bearer_auth(&stack.key);
            requests.push(Form::upload(&image.bytes).send_with(request));
            apis.push(api);
        }
        apis.push(stack.api);
        sleep(SETTLE).await;
        let name = format!("{n_apis} apis, {n_workers} workers");
        let idle = idle(&cluster, &stack.db, (&apis, &stack.workers), seconds).await;
        report.row(&format!("{name}, idle"), idle);
        report.row(&format!("{name}, digits"), load(&stack.db, &requests, seconds).await);
        stop_all(apis.into_iter().chain(stack.workers)).await;
    }
    report
}

/// The number of connections of the processes. One more is the measurement's own.
async fn n_connections(db: &Pool) -> f64 {
    let rows = "pg_stat_activity where datname = current_database() and application_name like 'akhar-%'";
    count(n_of(db, rows).await)
}

/// What the processes cost without requests.
async fn idle(cluster: &Cluster, db: &Pool, (apis, workers): (&[Process], &[Process]), seconds: u64) -> Row {
    statements::reset(db).await;
    let started = Instant::now();
    let percent = cpu::percent_of(cluster, [apis, workers], seconds).await;
    let took = started.elapsed().as_secs_f64();
    let n_calls: i64 = statements::read(db).await.iter().map(|statement| statement.calls).sum();
    let mut row = vec![
        ("connections", n_connections(db).await),
        ("statements_per_s", count(usize::try_from(n_calls).unwrap_or_default()) / took),
    ];
    row.extend(percent);
    row.push(("workers_rss_mib", workers.iter().map(|worker| worker.memory_mib().0).sum()));
    row
}

/// Recognises digits, with the clients divided among the apis.
async fn load(db: &Pool, requests: &[RequestBuilder], seconds: u64) -> Row {
    let began = Instant::now();
    let loads: Vec<_> =
        requests.iter().map(|request| Load::measure(request, N_CLIENTS / requests.len())).collect();
    sleep(Duration::from_secs(seconds / 2)).await;
    let n_connections = n_connections(db).await;
    sleep(Duration::from_secs(seconds - seconds / 2)).await;
    let mut samples = Vec::new();
    for load in loads {
        samples.extend(load.stop().await);
    }
    assert_eq!(n_good(&samples), samples.len(), "some answers were not 200");
    let times = response_times(&samples);
    vec![
        ("per_s", count(samples.len()) / began.elapsed().as_secs_f64()),
        ("p50_ms", number(&times, "p50_ms")),
        ("p99_ms", number(&times, "p99_ms")),
        ("connections", n_connections),
    ]
}
