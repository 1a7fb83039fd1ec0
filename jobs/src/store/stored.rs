//! How many bytes of each account's jobs are stored. They are estimated from a part of the table, so that no statement of a
//! job has to count them, and the work is the same however many jobs there are.

use std::collections::HashMap;

use akhar_platform::database::Pool;
use uuid::Uuid;

use super::find::WithArtifacts;

/// Pages of 8 KiB that are read of the table of jobs. A smaller table is read whole.
const MAX_PAGES: i64 = 2000;

/// What a job takes beside its upload and its outcome, with its entries in the indexes: measured with 150,000 jobs, rounded up.
const BYTES_OF_JOB: i64 = 1280;

/// How many standard deviations an estimate is lowered by, so that chance makes no account appear to have more than it has.
const DEVIATIONS: f64 = 3.0;

/// The bytes in the database of each account's jobs: uploads of those that have not ended, streams, and outcomes. An estimate that is
/// hardly ever too high: of a large table, an account of which few pages are read seems to have less than it has.
pub async fn stored_bytes(
    db: &Pool,
    with_artifacts: WithArtifacts,
) -> Result<HashMap<Uuid, u64>, sqlx::Error> {
    let n_pages: i64 =
        sqlx::query_scalar("select pg_relation_size('jobs') / current_setting('block_size')::int8")
            .fetch_one(db)
            .await?;
    #[expect(clippy::cast_precision_loss, reason = "a table has fewer than 2^32 pages")]
    let share = if n_pages > MAX_PAGES { MAX_PAGES as f64 / n_pages as f64 } else { 1.0 };
    let rows: Vec<(Uuid, f64)> = sqlx::query_as(
        "with pages as (
             select account_id, sum($3 + coalesce(pg_column_size(outcome), 0) + coalesce((
                 select sum(octet_length(bytes)) from artifacts where job_id = jobs.id and jobs.operation = any($4)), 0)
                 + coalesce((select sum(octet_length(bytes)) from stream_inputs where job_id = jobs.id), 0)
                 + coalesce((select sum(pg_column_size(event)) from stream_outputs where job_id = jobs.id), 0))::float8 as bytes
             from jobs tablesample system ($1 * 100) group by account_id, (ctid::text::point)[0]),
         kept as (
             select account_id, greatest(0, sum(bytes) - $2 * sqrt(sum(bytes * bytes) * (1 - $1))) / $1 as bytes
             from pages group by account_id),
         uploads as (
             select account_id, sum(octet_length(upload)) as bytes from jobs where ended_at is null group by account_id)
         select account_id, coalesce(kept.bytes, 0) + coalesce(uploads.bytes, 0)::float8
         from kept full join uploads using (account_id)",
    )
    .bind(share)
    .bind(DEVIATIONS)
    .bind(BYTES_OF_JOB)
    .bind(with_artifacts)
    .fetch_all(db)
    .await?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
    Ok(rows.into_iter().map(|(account, bytes)| (account, bytes as u64)).collect())
}
