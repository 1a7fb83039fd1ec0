//! Measures submissions, claims and the operations page with 1,000,000 finished and 200,000 waiting jobs. Submissions and
//! claims are measured in turns with an empty table of the same server.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_jobs::{
    AdmittedJob, Fence, JobId, JobUpload, MediaType, NewJob, Outcome, Parameters, Queue, TopK, UploadContent,
    store::{self, Ending, Guard},
};
use akhar_platform::database::Database;
use akhar_tests::{Answer, Stack, images::fixture_of, ops::Operator, queue};
use sqlx::postgres::PgConnectOptions;
use tokio::time::sleep;
use uuid::Uuid;

use super::fill::{copy, vacuum};
use crate::{
    report::{Figure, Report, count, median},
    statements,
};

/// Finished jobs: what they ended with, and how many.
const SUCCEEDED: i64 = 940_000;
const FAILED: i64 = 50_000;
const CANCELLED: i64 = 10_000;
const WAITING: i64 = 200_000;
/// The errors of the failed jobs.
const ERRORS: [&str; 5] = [
    "the attempt took longer than 30s",
    "the job's worker died or lost the job, and no attempts are left",
    "the model failed: out of memory",
    "the upload is lost: no such object",
    "the attempt panicked: index out of bounds",
];

/// Turns of each table, and jobs in one turn.
const ROUNDS: usize = 5;
const PER_TURN: usize = 200;
/// How often each page is read.
const READS: usize = 20;

/// The page whose numbers are read once a second at most, and how long it is left alone so that they are read again.
const OVERVIEW: &str = "/ops";
const OVERVIEW_INTERVAL: Duration = Duration::from_secs(1);

const HALF_A_DAY_S: f64 = 12.0 * 3600.0;
const AN_HOUR_S: f64 = 3600.0;

/// A database, and times of its statements so far, ms.
struct Table {
    db: Database,
    submit: [Vec<f64>; 2],
    claim: [Vec<f64>; 2],
}

/// Measures everything.
pub(crate) async fn run() -> Report {
    let about = format!(
        "{SUCCEEDED} succeeded, {FAILED} failed, {CANCELLED} cancelled and {WAITING} waiting jobs, in turns with an empty \
         table; {ROUNDS} turns of {PER_TURN} jobs, one after another; times of one statement from its client, on one connection"
    );
    let mut report = Report::new("full-table", about);
    let cluster = statements::cluster().await;
    let mut stack = Stack::with().on(&cluster).set("AKHAR_MAX_WAITING", 10_000_000).start().await;
    statements::enable(&stack.db).await;
    fill(&mut stack).await;
    let full = (*stack.db.connect_options()).clone();
    let mut tables = [Table::open(&cluster.database().await).await, Table::open(&full).await];
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
            let what = format!("{statement}, {kind} job");
            report.row(&what, vec![("empty_ms", empty), ("full_ms", full), ("ratio", full / empty)]);
            let what = format!("{what}, full / empty table");
            report.figure(Figure { what, unit: "ms", ours: full, other: Some(empty), reach: "≤ 1.5 ×" });
        }
    }
    pages(&stack, &mut report).await;
    report
}

/// Fills the table with copies of jobs that ended in each way and of one that waits.
async fn fill(stack: &mut Stack) {
    let image = fixture_of("੫");
    let succeeded = stack.recognise(image.operation, &image.bytes).await.header("akhar-job").to_owned();
    let succeeded: Uuid = succeeded.parse().expect("the id of a job");
    stack.workers.remove(0).kill().await;
    copy(&stack.db, succeeded, SUCCEEDED, HALF_A_DAY_S).await;
    let per_error = FAILED / i64::try_from(ERRORS.len()).expect("a few");
    for error in ERRORS {
        let job = accept(stack).await;
        end(stack, Some(Outcome::Failed), Some(error)).await;
        copy(&stack.db, job, per_error - 1, HALF_A_DAY_S).await;
    }
    let job = accept(stack).await;
    end(stack, None, None).await;
    copy(&stack.db, job, CANCELLED - 1, HALF_A_DAY_S).await;
    let job = accept(stack).await;
    copy(&stack.db, job, WAITING - 1, AN_HOUR_S).await;
    vacuum(&stack.db).await;
    println!("the table is filled");
}

/// Submits an asynchronous job. It stays queued, because there is no worker.
async fn accept(stack: &Stack) -> Uuid {
    let request = stack.request("POST", "/v1/models/handwriting-generator").header("prefer", "respond-async");
    let answer: Answer = akhar_tests::http::send(request.json(&serde_json::json!({"text": "ਕਲਮ"}))).await;
    answer.job()
}

/// Claims the waiting job and ends it.
async fn end(stack: &Stack, outcome: Option<Outcome>, error: Option<&str>) {
    let claimed = store::claim(&stack.db, "bench", &[(Queue::Quick, 1)]).await.expect("a claim");
    let error = error.map(str::to_owned);
    let guard = Guard::Claimed(claimed[0].fence);
    let ending = Ending { guard, outcome, timing: None, error, may_have_webhook: false };
    assert!(queue::end(&stack.db, &[ending]).await.expect("a write").any());
}

impl Table {
    async fn open(database: &PgConnectOptions) -> Self {
        // As in the product, whose connections plan in their own way.
        let db = Database::connect("akhar-bench", database, 4).await.expect("it answers");
        Self { db, submit: Default::default(), claim: Default::default() }
    }

    /// Submits, claims and ends jobs one after another. On the full table, a claim can take one of the waiting jobs.
    async fn turn(&mut self, is_asynchronous: bool) {
        let kind = usize::from(is_asynchronous);
        let mut db = self.db.volatile.acquire().await.expect("a connection");
        for _ in 0..PER_TURN {
            let job = AdmittedJob { job: Arc::new(job(is_asynchronous)), turn: 0 };
            let started = Instant::now();
            store::submit(&mut db, &[job]).await.expect("a submission");
            self.submit[kind].push(started.elapsed().as_secs_f64() * 1e3);
            let started = Instant::now();
            let claimed = store::claim(&mut *db, "bench", &[(Queue::Quick, 1)]).await.expect("a claim");
            self.claim[kind].push(started.elapsed().as_secs_f64() * 1e3);
            let fences: Vec<Fence> = claimed.iter().map(|claimed| claimed.fence).collect();
            assert_eq!(fences.len(), 1, "a claim takes one job");
            let endings: Vec<Ending> = fences.into_iter().map(succeeded).collect();
            assert!(store::end(&mut db, &endings).await.expect("a write").any());
        }
    }
}

fn job(asynchronous: bool) -> NewJob {
    let bytes = fixture_of("੫").bytes.into();
    NewJob {
        id: JobId(Uuid::now_v7()),
        account_id: Uuid::nil(),
        parameters: Parameters::DigitRecognition { top_k: TopK::default() },
        upload: Some(JobUpload { media_type: MediaType::Png, content: UploadContent::Row(bytes) }),
        request_id: Uuid::now_v7().to_string(),
        traceparent: None,
        asynchronous,
        webhook_url: None,
        max_queued: None,
    }
}

fn succeeded(fence: Fence) -> Ending {
    let outcome = Some(Outcome::Predictions { predictions: Vec::new() });
    Ending { guard: Guard::Claimed(fence), outcome, timing: None, error: None, may_have_webhook: false }
}

/// Reads every page of `/ops`, and adds its time and that of each of its statements.
async fn pages(stack: &Stack, report: &mut Report) {
    let operator = Operator::signed_in(stack).await;
    let mut slowest_statement: f64 = 0.0;
    for (name, path) in paths(stack).await {
        operator.get(&path).await;
        statements::reset(&stack.db).await;
        let mut times = Vec::new();
        for _ in 0..READS {
            if path == OVERVIEW {
                sleep(OVERVIEW_INTERVAL).await;
            }
            let started = Instant::now();
            let answer = operator.get(&path).await;
            times.push(started.elapsed().as_secs_f64() * 1e3);
            assert_eq!(answer.status, 200, "{path}");
        }
        let slowest_page = times.iter().copied().fold(0.0, f64::max);
        let ran = statements::read(&stack.db).await;
        let slowest = ran.iter().max_by(|a, b| a.max_ms.total_cmp(&b.max_ms)).expect("a statement");
        println!("  {name}: {:.2} ms: {}", slowest.max_ms, slowest.start(100));
        slowest_statement = slowest_statement.max(slowest.max_ms);
        let row = vec![
            ("page_p50_ms", median(times)),
            ("page_max_ms", slowest_page),
            ("slowest_statement_mean_ms", slowest.mean_ms),
            ("slowest_statement_max_ms", slowest.max_ms),
            ("statements", count(ran.len())),
        ];
        report.row(&format!("/ops: {name}"), row);
    }
    let what = "the slowest statement of /ops, full table".to_owned();
    report.figure(Figure { what, unit: "ms", ours: slowest_statement, other: None, reach: "≤ 100" });
}

/// The pages, with each filter and search that they have.
async fn paths(stack: &Stack) -> Vec<(String, String)> {
    let one = async |state: &str, column: &str| -> String {
        let query = format!(
            "select {column}::text from jobs where state = '{state}' order by id limit 1 offset 5000"
        );
        sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&stack.db).await.expect("a job")
    };
    let mut paths: Vec<(String, String)> = [
        ("overview", OVERVIEW.to_owned()),
        ("errors", "/ops/errors".to_owned()),
        ("keys", "/ops/keys".to_owned()),
        ("all jobs", "/ops/jobs".to_owned()),
        ("waiting jobs of the speech queue", "/ops/jobs?state=queued&queue=speech".to_owned()),
        ("page 21 of the waiting jobs", "/ops/jobs?state=queued&from=1000".to_owned()),
        ("failed jobs of the speech queue", "/ops/jobs?state=failed&queue=speech".to_owned()),
        ("an old page", format!("/ops/jobs?from={}", one("succeeded", "id").await)),
        ("an account", format!("/ops/jobs?by=account&q={}", &stack.key[3..11])),
        ("failed jobs of an account", format!("/ops/jobs?state=failed&by=account&q={}", &stack.key[3..11])),
        ("an error", format!("/ops/jobs?by=error&q={}", ERRORS[1].replace(' ', "+"))),
        ("an error that is not there", "/ops/jobs?by=error&q=nothing".to_owned()),
        ("a request id of the api", format!("/ops/jobs?by=request&q={}", Uuid::now_v7())),
        ("an old request id of the api", format!("/ops/jobs?by=request&q={}", one("failed", "id").await)),
        ("a request id of a caller", "/ops/jobs?by=request&q=order-4711".to_owned()),
        ("a waiting job", format!("/ops/jobs/{}", one("queued", "id").await)),
        ("a failed job", format!("/ops/jobs/{}", one("failed", "id").await)),
    ]
    .map(|(name, path)| (name.to_owned(), path))
    .into();
    for state in ["queued", "running", "succeeded", "failed", "cancelled"] {
        paths.push((format!("{state} jobs"), format!("/ops/jobs?state={state}")));
    }
    paths
}
