//! The operations page on a full table.

use std::time::{Duration, Instant};

use akhar_tests::{
    Stack,
    figures::{self, count, median, quantiles},
    ops::{Operator, record_day},
};
use tokio::time::sleep;
use uuid::Uuid;

use super::fill::ERRORS;
use crate::{report::Report, statements, targets};

/// How often each page is read, and how often the overview is.
const READS: usize = 20;
const OVERVIEW_READS: usize = 100;

/// The page whose numbers are read once a second at most, and how long it is left alone so that they are read again.
const OVERVIEW: &str = "/ops";
const OVERVIEW_INTERVAL: Duration = Duration::from_secs(1);

/// Reads every page of `/ops`, and adds its time and that of each of its statements.
pub(super) async fn measure(stack: &Stack, report: &mut Report) {
    record_day(&stack.db).await;
    let operator = Operator::signed_in(stack).await;
    let mut slowest_statement: f64 = 0.0;
    for (name, path) in paths(stack).await {
        operator.get(&path).await;
        statements::reset(&stack.db).await;
        let mut times = Vec::new();
        let is_overview = path == OVERVIEW;
        for _ in 0..if is_overview { OVERVIEW_READS } else { READS } {
            if is_overview {
                sleep(OVERVIEW_INTERVAL).await;
            }
            let started = Instant::now();
            let answer = operator.get(&path).await;
            times.push(started.elapsed().as_secs_f64() * 1e3);
            assert_eq!(answer.status, 200, "{path}");
        }
        if is_overview {
            let took = quantiles(times.iter().map(|ms| Duration::from_secs_f64(ms / 1e3)));
            report.figure(
                "/ops, p99, full table and a day of minutes",
                "ms",
                figures::number(&took, "p99_ms"),
                None,
                targets::OPS,
            );
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
    report.figure("the slowest statement of /ops, full table", "ms", slowest_statement, None, targets::OPS);
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
