//! Fills the jobs table with copies of one real row, spread over time. The columns are read from the
//! database, so a new column is copied too.

use akhar_platform::database::Pool;
use sqlx::Connection as _;
use uuid::Uuid;

/// Runs VACUUM ANALYZE, as autovacuum would.
pub(super) async fn vacuum(db: &Pool) {
    sqlx::query("vacuum analyze jobs").execute(db).await.expect("a vacuum");
}

/// Copies the row of `template` `n` times. Each copy has a new id (UUIDv7), and its times are moved back by
/// up to `spread_s` seconds.
pub(super) async fn copy(db: &Pool, template: Uuid, n: i64, spread_s: f64) {
    let columns: Vec<(String, String)> = sqlx::query_as(
        "select column_name::text, data_type::text from information_schema.columns
         where table_schema = 'public' and table_name = 'jobs' and is_generated = 'NEVER' and is_identity = 'NO'
         order by ordinal_position",
    )
    .fetch_all(db)
    .await
    .expect("the columns of jobs");
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let values: Vec<String> = columns.iter().map(|(name, kind)| value(name, kind)).collect();
    let insert = format!(
        "insert into jobs ({}) select {} from jobs t,
             lateral (select i, $3::float8 * i / $2 * interval '1 second' as back from generate_series(1, $2) i) s
         where t.id = $1",
        names.join(", "),
        values.join(", ")
    );
    let mut connection = db.servers().connect().await.expect("a connection");
    let mut tx = connection.begin().await.expect("a transaction");
    // The copies need no triggers, because the original row was already checked and announced.
    sqlx::query("set local session_replication_role = replica").execute(&mut *tx).await.expect("a superuser");
    let insert = sqlx::query(sqlx::AssertSqlSafe(insert)).bind(template).bind(n).bind(spread_s);
    insert.execute(&mut *tx).await.expect("copies of a job");
    tx.commit().await.expect("a commit");
}

/// The SQL expression for a column of a copy.
fn value(name: &str, kind: &str) -> String {
    if name == "id" {
        // The first part is the time in ms; the rest makes the id unique.
        let ms = "lpad(to_hex((extract(epoch from clock_timestamp() - s.back) * 1000)::bigint), 12, '0')";
        format!(
            "({ms} || '7' || substr(md5(random()::text || s.i), 1, 3) || '8' || substr(md5(random()::text || s.i), 4, 15))::uuid"
        )
    } else if kind.starts_with("timestamp") {
        format!("t.\"{name}\" - s.back")
    } else {
        format!("t.\"{name}\"")
    }
}
