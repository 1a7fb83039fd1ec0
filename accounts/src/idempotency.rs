//! All SQL on idempotency keys: which job the first request with a key made.

use akhar_platform::database::Pool;
use uuid::Uuid;

/// The most characters of a key.
pub const MAX_KEY_CHARACTERS: usize = 255;

/// The result of a request with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// No request for another job had this key, or its row was deleted since. It belongs to this job. Of an account that is erased,
    /// no key is kept.
    New,
    /// An earlier request had this key and the same fingerprint. This is its job.
    Repeated(Uuid),
    /// An earlier request had this key and another fingerprint.
    Reused,
}

/// Claims a key for a job, or finds the job that has it. The claim is on disk when this returns, if `db` commits
/// durably. Workers delete old keys together with old jobs, because they know how the clock has jumped.
///
/// `fingerprint` is a SHA-256 of everything that decides the outcome of the request.
pub async fn claim(
    db: &Pool,
    account_id: Uuid,
    key: &str,
    fingerprint: &[u8],
    job_id: Uuid,
) -> Result<Claim, sqlx::Error> {
    // The update changes nothing. It makes the statement return the row in every case, and makes a concurrent claim of the
    // same key wait for this one.
    let kept: Option<(Vec<u8>, Uuid)> = sqlx::query_as(
        "insert into idempotency_keys as kept (account_id, key, fingerprint, job_id)
         select $1, $2, $3, $4 where may_write($1)
         on conflict (account_id, key) do update set job_id = kept.job_id returning fingerprint, job_id",
    )
    .bind(account_id)
    .bind(key)
    .bind(fingerprint)
    .bind(job_id)
    .fetch_optional(db)
    .await?;
    let Some((stored, job)) = kept else { return Ok(Claim::New) };
    Ok(if stored != fingerprint {
        Claim::Reused
    } else if job == job_id {
        Claim::New
    } else {
        Claim::Repeated(job)
    })
}
