//! Counts the SQL statements per request with `pg_stat_statements`, by kind and by text.

use akhar_platform::database::Pool;
use akhar_tests::{Cluster, Stack, figures::count, load::n_good};

use crate::{
    load::{for_seconds, warm_stack},
    machine::Machine,
    report::Report,
    targets,
};

/// The numbers of one statement since the last [`reset`].
#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct Statement {
    /// The text, with constants replaced.
    pub(crate) query: String,
    /// The number of calls.
    pub(crate) calls: i64,
    /// The number of rows that all calls returned or changed.
    pub(crate) rows: i64,
    /// The mean time of a call in the server, ms, without the flush of its commit.
    pub(crate) mean_ms: f64,
    /// The longest time of a call, in the same way.
    pub(crate) max_ms: f64,
}

/// Starts a cluster whose server loads `pg_stat_statements` and has connections for many processes.
pub(crate) async fn cluster() -> Cluster {
    let cluster = Cluster::own();
    cluster
        .configure(&[("shared_preload_libraries", "pg_stat_statements"), ("max_connections", "1000")])
        .await;
    cluster
}

/// Enables `pg_stat_statements` in a database of a cluster made by [`cluster`].
pub(crate) async fn enable(db: &Pool) {
    let create = "create extension pg_stat_statements";
    sqlx::query(create).execute(db).await.expect("Debian's postgresql has it");
}

/// Sets the counts back to zero.
pub(crate) async fn reset(db: &Pool) {
    sqlx::query("select pg_stat_statements_reset()").execute(db).await.expect("a reset");
}

/// The statements in this database since the last reset, the most frequent first.
pub(crate) async fn read(db: &Pool) -> Vec<Statement> {
    let query = "select s.query, s.calls, s.rows, s.mean_exec_time as mean_ms, s.max_exec_time as max_ms
        from pg_stat_statements s join pg_database d on d.oid = s.dbid
        where d.datname = current_database() and s.query not like '%pg_stat_statements%'
        order by s.calls desc, s.query";
    sqlx::query_as(query).fetch_all(db).await.expect("statements")
}

impl Statement {
    /// The kind of the statement, found from words in its text that do not depend on details of the schema.
    pub(crate) fn kind(&self) -> &'static str {
        let text = self.query.to_lowercase();
        let has = |words: &str| text.contains(words);
        if has("skip locked") && has("attempt + ") {
            "claim"
        } else if has("insert into jobs") {
            "submit"
        } else if has("update jobs") {
            "finish"
        } else if has("heartbeat") || has("workers") {
            "heartbeat"
        } else if ["begin", "commit", "rollback", "start transaction"].iter().any(|w| text.starts_with(w)) {
            "transaction"
        } else if has("from jobs") {
            "look"
        } else if has("api_keys") || has("accounts") {
            "key"
        } else {
            "other"
        }
    }

    /// The beginning of the text on one line, at most `n_chars` characters.
    pub(crate) fn start(&self, n_chars: usize) -> String {
        let line = self.query.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(n_chars).collect()
    }
}

/// The mean server time of one kind of statement per call and per row, ms.
pub(crate) fn cost(statements: &[Statement], kind: &str) -> (f64, f64) {
    let of_kind = || statements.iter().filter(|s| s.kind() == kind);
    let sum = |value: fn(&Statement) -> f64| of_kind().map(value).sum::<f64>();
    let total_ms = sum(|s| s.mean_ms * whole(s.calls));
    (total_ms / sum(|s| whole(s.calls)), total_ms / sum(|s| whole(s.rows)))
}

fn whole(n: i64) -> f64 {
    f64::from(i32::try_from(n).unwrap_or(i32::MAX))
}

/// Counts the statements per synchronous digit request, with 1 client and with 32.
pub(crate) async fn run(machine: Machine, seconds: u64) -> Report {
    let about = format!(
        "statements per synchronous digit request, from pg_stat_statements, {seconds} s each; those of timers included"
    );
    let mut report = Report::new(machine, "statements", about);
    report.machine.rest().await;
    let cluster = cluster().await;
    let (stack, request) = warm_stack(&cluster).await;
    enable(&stack.db).await;
    for n_clients in [1, 32] {
        let clients = if n_clients == 1 { "1 client".to_owned() } else { format!("{n_clients} clients") };
        let (n, statements) = count_under(&stack, &request, n_clients, seconds).await;
        let per_request = |calls: i64| whole(calls) / count(n);
        let all = per_request(statements.iter().map(|s| s.calls).sum());
        report.row(&format!("{clients}, all"), vec![("per_request", all), ("requests", count(n))]);
        for kind in KINDS {
            let calls = statements.iter().filter(|s| s.kind() == kind).map(|s| s.calls).sum();
            let (per_call, _) = cost(&statements, kind);
            if calls > 0 {
                let row = vec![("per_request", per_request(calls)), ("mean_ms", per_call)];
                report.row(&format!("{clients}, {kind}"), row);
            }
        }
        for s in statements.iter().filter(|s| per_request(s.calls) >= 0.005) {
            let row = vec![("per_request", per_request(s.calls)), ("mean_ms", s.mean_ms)];
            report.row(&format!("{clients}, {}: {}", s.kind(), s.start(90)), row);
        }
        let what = format!("statements per synchronous digit job, {clients}");
        report.figure(what, "statements", all, None, targets::NONE);
    }
    report
}

/// The kinds, in the order in which a request uses them.
const KINDS: [&str; 8] = ["submit", "claim", "finish", "look", "transaction", "heartbeat", "key", "other"];

async fn count_under(
    stack: &Stack,
    request: &reqwest::RequestBuilder,
    n_clients: usize,
    seconds: u64,
) -> (usize, Vec<Statement>) {
    reset(&stack.db).await;
    let samples = for_seconds(request, n_clients, seconds).await;
    assert_eq!(n_good(&samples), samples.len(), "some answers were not 200");
    (samples.len(), read(&stack.db).await)
}
