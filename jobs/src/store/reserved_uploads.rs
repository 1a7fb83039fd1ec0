//! All SQL on uploads that callers write to the bucket themselves: how much they may write, and which jobs they are for.

use std::collections::HashSet;

use akhar_platform::database::Pool;
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::{JobId, NewJob};

use super::uploads::needs_upload;

/// An object that a caller may write to the bucket, for one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservedUpload {
    /// The id of the upload.
    pub id: Uuid,
    /// The account that may use it.
    pub account_id: Uuid,
    /// The size that the object must have, bytes.
    pub n_bytes: u32,
}

/// Reserves an upload, if its account has no more than `max_bytes` with it: in uploads of the last day without a job, and in those
/// whose jobs need them. Each counts at least `least_bytes`, so that their number has a bound too. Returns whether it did. A
/// repetition has no further effect. An account that is erased gets none. The row of the account is locked meanwhile, so that no two uploads get the same bytes.
pub async fn reserve_upload(
    db: &Pool,
    upload: ReservedUpload,
    max_bytes: u64,
    least_bytes: u64,
) -> Result<bool, sqlx::Error> {
    let max_bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let least_bytes = i64::try_from(least_bytes).unwrap_or(i64::MAX);
    db.transaction(move |transaction| Box::pin(reserve(transaction, upload, max_bytes, least_bytes))).await
}

async fn reserve(
    transaction: &mut PgConnection,
    upload: ReservedUpload,
    max_bytes: i64,
    least_bytes: i64,
) -> Result<bool, sqlx::Error> {
    let ReservedUpload { id, account_id, n_bytes } = upload;
    let account = sqlx::query("select from accounts where id = $1 and may_write(id) for no key update");
    if account.bind(account_id).execute(&mut *transaction).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let reserved = sqlx::query(concat!(
        "insert into reserved_uploads (id, account_id, n_bytes)
         select $1, $2, $3 where greatest($3, $5) + (
             select coalesce(sum(greatest(n_bytes, $5)), 0) from reserved_uploads u
             where account_id = $2 and id <> $1 and (job_id is null or ",
        needs_upload!("u.job_id"),
        ")) <= $4
         on conflict (id) do update set n_bytes = excluded.n_bytes"
    ))
    .bind(id)
    .bind(account_id)
    .bind(i64::from(n_bytes))
    .bind(max_bytes)
    .bind(least_bytes)
    .execute(&mut *transaction)
    .await?;
    Ok(reserved.rows_affected() == 1)
}

/// The upload of this account with this id, and its job if that was submitted. `None` if there is none.
pub async fn find_reserved_upload(
    db: impl PgExecutor<'_>,
    id: Uuid,
    account_id: Uuid,
) -> Result<Option<(ReservedUpload, Option<JobId>)>, sqlx::Error> {
    let found: Option<(i64, Option<JobId>)> =
        sqlx::query_as("select n_bytes, job_id from reserved_uploads where id = $1 and account_id = $2")
            .bind(id)
            .bind(account_id)
            .fetch_optional(db)
            .await?;
    Ok(found.map(|(n_bytes, job)| {
        let n_bytes = u32::try_from(n_bytes).unwrap_or(u32::MAX);
        (ReservedUpload { id, account_id, n_bytes }, job)
    }))
}

/// Gives these jobs the uploads that their callers have written. Returns the jobs that got theirs: those whose uploads have no job
/// yet.
pub(super) async fn use_reserved_uploads(
    db: &mut PgConnection,
    jobs: &[&NewJob],
) -> Result<HashSet<JobId>, sqlx::Error> {
    let (uploads, ids): (Vec<_>, Vec<_>) =
        jobs.iter().filter_map(|job| Some((job.reserved_upload?, job.id.0))).unzip();
    let got: Vec<JobId> = sqlx::query_scalar(
        "update reserved_uploads u set job_id = new.job_id from unnest($1, $2) as new (id, job_id)
         where u.id = new.id and u.job_id is null returning u.job_id",
    )
    .bind(uploads)
    .bind(ids)
    .fetch_all(db)
    .await?;
    Ok(got.into_iter().collect())
}
