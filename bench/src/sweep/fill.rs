//! Many jobs at once: one real row of the jobs table comes in; copies of it, spread over time, lie in the
//! table. The columns are read from the database, so a new column is copied too.

use sqlx::{Connection as _, PgPool};
use uuid::Uuid;

/// Copies the row of `template` `n` times, each with an id of its own (UUIDv7) and all its times moved back by
/// up to `spread_s` seconds; then cleans up as autovacuum would.
pub(super) async fn fill(db: &PgPool, template: Uuid, n: i64, spread_s: f64) {
    if n == 0 {
        return;
    }
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
    let mut connection = db.acquire().await.expect("a connection");
    let mut tx = connection.begin().await.expect("a transaction");
    // Copies of one accepted row need no trigger to check or announce them.
    sqlx::query("set local session_replication_role = replica").execute(&mut *tx).await.expect("a superuser");
    let insert = sqlx::query(sqlx::AssertSqlSafe(insert)).bind(template).bind(n).bind(spread_s);
    insert.execute(&mut *tx).await.expect("copies of a job");
    tx.commit().await.expect("a commit");
    sqlx::query("vacuum analyze jobs").execute(&mut *connection).await.expect("a vacuum");
}

/// What a copy has in a column.
fn value(name: &str, kind: &str) -> String {
    if name == "id" {
        // The time in ms, then what makes it unique.
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
