//! All SQL on idempotency keys: which job the first request with a key made.

use sqlx::PgPool;
use uuid::Uuid;

/// Hours for which a key is kept. After that, the same key makes a new job.
pub const KEPT_HOURS: i32 = 24;

/// The most characters of a key.
pub const MAX_KEY_CHARACTERS: usize = 255;

/// The result of a request with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// No request of the last 24 hours had this key. It now belongs to the new job.
    New,
    /// An earlier request had this key and the same fingerprint. This is its job.
    Repeated(Uuid),
    /// An earlier request had this key and another fingerprint.
    Reused,
}

/// Claims a key for a job, or finds the job that has it. The claim is on disk when this returns, if `db` commits
/// durably. Also deletes a few expired keys, so that the table stays small.
///
/// `fingerprint` is a SHA-256 of everything that decides the outcome of the request.
pub async fn claim(
    db: &PgPool,
    account_id: Uuid,
    key: &str,
    fingerprint: &[u8],
    job_id: Uuid,
) -> Result<Claim, sqlx::Error> {
    // The update changes nothing unless the key has expired. It makes the statement return the row in every case, and
    // makes a concurrent claim of the same key wait for this one.
    let (stored, job): (Vec<u8>, Uuid) = sqlx::query_as(
        "with expired as (
             delete from idempotency_keys where ctid in (
                 select ctid from idempotency_keys
                 where created_at < now() - make_interval(hours => $5) and (account_id, key) <> ($1, $2)
                 order by created_at limit 4 for update skip locked))
         insert into idempotency_keys as kept (account_id, key, fingerprint, job_id) values ($1, $2, $3, $4)
         on conflict (account_id, key) do update set
             fingerprint = case when kept.created_at < now() - make_interval(hours => $5)
                 then excluded.fingerprint else kept.fingerprint end,
             job_id = case when kept.created_at < now() - make_interval(hours => $5)
                 then excluded.job_id else kept.job_id end,
             created_at = case when kept.created_at < now() - make_interval(hours => $5)
                 then excluded.created_at else kept.created_at end
         returning fingerprint, job_id",
    )
    .bind(account_id)
    .bind(key)
    .bind(fingerprint)
    .bind(job_id)
    .bind(KEPT_HOURS)
    .fetch_one(db)
    .await?;
    Ok(if job == job_id {
        Claim::New
    } else if stored == fingerprint {
        Claim::Repeated(job)
    } else {
        Claim::Reused
    })
}
