//! All SQL on uploads that callers write to the bucket themselves: how much they may write, and which jobs they are for.

use sqlx::{PgExecutor, PgPool};
use uuid::Uuid;

use crate::JobId;

/// An object that a caller may write to the bucket, for one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReservedUpload {
    /// The id of the upload, and of its job.
    pub id: JobId,
    /// The account that may use it.
    pub account_id: Uuid,
    /// The size that the object must have, bytes.
    pub n_bytes: u32,
}

/// Reserves an upload, if its account has no more than `max_bytes` with it: in uploads of the last day that no job has used yet,
/// and in those whose jobs wait or run. Returns whether it did. A repetition has no further effect. The row of the account is
/// locked meanwhile, so that no two uploads get the same bytes.
pub async fn reserve_upload(
    db: &PgPool,
    upload: ReservedUpload,
    max_bytes: u64,
) -> Result<bool, sqlx::Error> {
    let ReservedUpload { id, account_id, n_bytes } = upload;
    let mut transaction = db.begin().await?;
    sqlx::query("select from accounts where id = $1 for no key update")
        .bind(account_id)
        .execute(&mut *transaction)
        .await?;
    let reserved = sqlx::query(
        "insert into reserved_uploads (id, account_id, n_bytes)
         select $1, $2, $3 where $3 + (
             select coalesce(sum(n_bytes), 0) from reserved_uploads u where account_id = $2 and id <> $1 and (not is_used
                 or exists (select from jobs j where j.id = u.id and j.state in ('queued', 'running')))) <= $4
         on conflict (id) do update set n_bytes = excluded.n_bytes",
    )
    .bind(id)
    .bind(account_id)
    .bind(i64::from(n_bytes))
    .bind(i64::try_from(max_bytes).unwrap_or(i64::MAX))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(reserved.rows_affected() == 1)
}

/// The upload of this account with this id, and whether its job was submitted. `None` if there is none.
pub async fn find_reserved_upload(
    db: impl PgExecutor<'_>,
    id: JobId,
    account_id: Uuid,
) -> Result<Option<(ReservedUpload, bool)>, sqlx::Error> {
    let found: Option<(i64, bool)> =
        sqlx::query_as("select n_bytes, is_used from reserved_uploads where id = $1 and account_id = $2")
            .bind(id)
            .bind(account_id)
            .fetch_optional(db)
            .await?;
    Ok(found.map(|(n_bytes, is_used)| {
        let n_bytes = u32::try_from(n_bytes).unwrap_or(u32::MAX);
        (ReservedUpload { id, account_id, n_bytes }, is_used)
    }))
}

/// Notes that the job of an upload was submitted.
pub async fn use_reserved_upload(db: impl PgExecutor<'_>, id: JobId) -> Result<(), sqlx::Error> {
    sqlx::query("update reserved_uploads set is_used = true where id = $1").bind(id).execute(db).await?;
    Ok(())
}
