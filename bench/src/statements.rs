//! The SQL statements that a server has run, by `pg_stat_statements`.

use akhar_platform::database::Pool;
use akhar_tests::Cluster;

/// The numbers of one statement since the last [`reset`].
#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct Statement {
    /// The text, with constants replaced.
    pub(crate) query: String,
    /// The number of calls.
    pub(crate) calls: i64,
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
    let query = "select s.query, s.calls, s.mean_exec_time as mean_ms, s.max_exec_time as max_ms
        from pg_stat_statements s join pg_database d on d.oid = s.dbid
        where d.datname = current_database() and s.query not like '%pg_stat_statements%'
        order by s.calls desc, s.query";
    sqlx::query_as(query).fetch_all(db).await.expect("statements")
}

impl Statement {
    /// The beginning of the text on one line, at most `n_chars` characters.
    pub(crate) fn start(&self, n_chars: usize) -> String {
        let line = self.query.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(n_chars).collect()
    }
}
