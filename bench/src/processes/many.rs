//! Growing numbers of apis and workers on one Postgres: what they cost it while they are idle, and how many digits they
//! recognise together.

use std::time::{Duration, Instant};

use akhar_tests::{
    Cluster, Form, Process, http, images::fixture_of, process::command, stack::base_environment,
};
use reqwest::RequestBuilder;
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{task::JoinSet, time::sleep};

use super::{cluster, stop};
use crate::{
    clients::{Sample, closed_loop},
    cpu::{ms, own, server},
    report::{Report, count, number, quantiles},
    statements,
};

/// The numbers of apis and workers.
const PROCESSES: [[usize; 2]; 5] = [[1, 1], [1, 3], [2, 8], [4, 16], [4, 32]];
const N_CLIENTS: usize = 32;
/// The time after the start in which processes may settle.
const SETTLE: Duration = Duration::from_secs(5);

/// Measures each number of processes for `seconds` without requests, and again with requests.
pub(crate) async fn run(seconds: u64) -> Report {
    let about = format!(
        "{seconds} s idle, then {seconds} s with {N_CLIENTS} closed-loop clients for digits; processor time of all cores, in \
         percent of one core"
    );
    let mut report = Report::new("processes", about);
    let cluster = cluster().await;
    let database = cluster.database().await;
    let db =
        PgPoolOptions::new().max_connections(1).connect_with(database.clone()).await.expect("it answers");
    statements::enable(&db).await;
    let mut environment = base_environment(&database);
    environment.retain(|(name, _)| name != "AKHAR_DATABASE_CONNECTIONS"); // the product's default
    let key = command(&["keys", "create", "--name", "processes"], &environment).output().await;
    let key = String::from_utf8(key.expect("akhar keys runs").stdout).expect("UTF-8").trim().to_owned();
    for [n_apis, n_workers] in PROCESSES {
        let (mut apis, mut requests) = (Vec::new(), Vec::new());
        for _ in 0..n_apis {
            let mut api = Process::start("api", &environment);
            requests.push(digit(&api.first_line().await, &key));
            apis.push(api);
        }
        let mut workers = Vec::new();
        for _ in 0..n_workers {
            let mut worker = Process::start("worker", &environment);
            worker.first_line().await;
            workers.push(worker);
        }
        sleep(SETTLE).await;
        let idle = idle(&cluster, &db, (&apis, &workers), seconds).await;
        let name = format!("{n_apis} apis, {n_workers} workers");
        println!("  {name}: {idle:?}");
        let load = load(&db, &requests, seconds).await;
        println!("  {name}: {load:?}");
        report.row(&format!("{name}, idle"), idle);
        report.row(&format!("{name}, digits"), load);
        stop(apis.into_iter().chain(workers).collect()).await;
    }
    report
}

/// A digit for the api that printed this line.
fn digit(line: &str, key: &str) -> RequestBuilder {
    let base = line.strip_prefix("listening on ").unwrap_or_else(|| panic!("first line: {line}"));
    let image = fixture_of("੫");
    let form = Form::upload(&image.bytes);
    let request = http::client().post(format!("{base}/v1/models/{}", image.operation)).bearer_auth(key);
    request.header("content-type", form.content_type()).body(form.body())
}

async fn n_connections(db: &PgPool) -> f64 {
    let statement = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    let n: i64 = sqlx::query_scalar(statement).fetch_one(db).await.expect("a count");
    count(usize::try_from(n).unwrap_or_default())
}

/// What the processes cost without requests.
async fn idle(
    cluster: &Cluster,
    db: &PgPool,
    (apis, workers): (&[Process], &[Process]),
    seconds: u64,
) -> Vec<(&'static str, f64)> {
    let postmaster = cluster.postmaster().as_raw_nonzero().get();
    let of = |processes: &[Process]| processes.iter().map(|process| own(process.id())).sum::<u64>();
    let ticks = || [server(postmaster), of(apis), of(workers)];
    statements::reset(db).await;
    let (before, started) = (ticks(), Instant::now());
    sleep(Duration::from_secs(seconds)).await;
    let (after, took) = (ticks(), started.elapsed().as_secs_f64());
    let n_calls: i64 = statements::read(db).await.iter().map(|statement| statement.calls).sum();
    let percent = |nth: usize| ms(after[nth].saturating_sub(before[nth])) / took / 10.0;
    let resident = workers.iter().map(|worker| worker.memory_kib().0).sum::<u64>() / 1024;
    vec![
        ("connections", n_connections(db).await),
        ("statements_per_s", count(usize::try_from(n_calls).unwrap_or_default()) / took),
        ("postgres_percent", percent(0)),
        ("apis_percent", percent(1)),
        ("workers_percent", percent(2)),
        ("workers_rss_mib", count(usize::try_from(resident).unwrap_or_default())),
    ]
}

/// Recognises digits, with the clients divided among the apis.
async fn load(db: &PgPool, requests: &[RequestBuilder], seconds: u64) -> Vec<(&'static str, f64)> {
    let began = Instant::now();
    let end = began + Duration::from_secs(seconds);
    let mut loads = JoinSet::new();
    for request in requests {
        let request = request.try_clone().expect("bytes");
        let n = N_CLIENTS / requests.len();
        loads.spawn(async move { closed_loop(&request, n, end).await });
    }
    sleep(Duration::from_secs(seconds / 2)).await;
    let n_connections = n_connections(db).await;
    let samples: Vec<Sample> = loads.join_all().await.into_iter().flatten().collect();
    let n_good = samples.iter().filter(|sample| sample.status == Some(200)).count();
    assert_eq!(n_good, samples.len(), "some answers were not 200");
    let quantiles = quantiles(&samples.iter().map(|sample| sample.took).collect::<Vec<_>>());
    vec![
        ("per_s", count(n_good) / began.elapsed().as_secs_f64()),
        ("p50_ms", number(&quantiles, "p50_ms")),
        ("p99_ms", number(&quantiles, "p99_ms")),
        ("connections", n_connections),
    ]
}
