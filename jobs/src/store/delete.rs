//! Deletes jobs that have ended, with everything that belongs to them: outcomes, uploads in rows, artifacts, segments, failed
//! attempts, webhooks, the keys of their requests and their reservations. No other statement deletes a job. Uploads
//! outside the database are deleted by whoever gets their addresses, or by the search for objects without a job.

use std::time::Duration;

use akhar_platform::database::{Pool, check_writable};
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::JobId;

use super::{Clock, rows::column};

/// A statement that deletes the jobs whose ids `$doomed` selects and locks, and returns the addresses of their uploads. A job
/// that is deleted before the retention time of the server leaves its times in `deleted_jobs`, which `$leaves_times` says.
///
/// A reservation that is locked is being deleted by another statement, so this one need not wait for it.
macro_rules! deletion {
    ($doomed:literal, $leaves_times:literal) => {
        concat!(
            "with doomed as materialized (",
            $doomed,
            "),
             deleted as (
                 delete from jobs j using doomed where j.id = doomed.id
                 returning j.id, j.account_id, j.operation, j.queue, j.state, j.created_at, j.started_at, j.ended_at, j.upload_url,
                     case state when 'cancelled' then transcribed_s else (outcome->>'seconds')::float8 end as audio_s),
             forgotten_keys as (
                 delete from idempotency_keys where job_id = any(array(select id from deleted))),
             forgotten_reservations as (
                 delete from audio_reservations where ctid = any(array(
                     select ctid from audio_reservations where job_id = any(array(select id from deleted))
                     for update skip locked))),
             left_times as (
                 insert into deleted_jobs (id, account_id, operation, queue, state, created_at, started_at, ended_at, audio_s)
                 select id, account_id, operation, queue, state, created_at, started_at, ended_at, audio_s
                 from deleted where ",
            $leaves_times,
            " order by id
                 on conflict (id) do update set state = excluded.state, created_at = excluded.created_at,
                     started_at = excluded.started_at, ended_at = excluded.ended_at, deleted_at = now(),
                     audio_s = excluded.audio_s)
             select upload_url from deleted"
        )
    };
}

/// A job that was deleted for its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// The address of the object that may still have its upload.
    pub object: Option<String>,
}

/// Deletes a job of this account that has ended. `None` if there is no such job, or it has not ended.
pub async fn delete(db: &Pool, job: JobId, account_id: Uuid) -> Result<Option<Deleted>, sqlx::Error> {
    let deleted = sqlx::query_scalar(deletion!(
        "select id from jobs where id = $1 and account_id = $2 and ended_at is not null for update",
        "true"
    ));
    let object = deleted.bind(job).bind(account_id).fetch_optional(db).await?;
    Ok(object.map(|object| Deleted { object }))
}

/// Deletes those of these jobs that have ended and that no other statement has locked.
pub async fn delete_these(db: &mut PgConnection, jobs: Vec<Uuid>) -> Result<Vec<Deleted>, sqlx::Error> {
    let deleted = sqlx::query_scalar(deletion!(
        "select id from jobs where id = any($1) and ended_at is not null for update skip locked",
        "true"
    ));
    let objects: Vec<Option<String>> = deleted.bind(jobs).fetch_all(db).await?;
    Ok(objects.into_iter().map(|object| Deleted { object }).collect())
}

/// Deletes at most `limit` jobs that ended before `until`, and dead jobs that ended before `dead_until`. Returns their number.
pub(super) async fn delete_ended_before(
    db: &Pool,
    until: DateTime<Utc>,
    dead_until: DateTime<Utc>,
    limit: i64,
) -> Result<u64, sqlx::Error> {
    let deleted = sqlx::query(deletion!(
        "select id from jobs where ended_at < greatest($1, $2)
             and ended_at < case when state = 'failed' and outcome->>'kind' = 'failed' then $2 else $1 end
         order by ended_at limit $3 for update skip locked",
        "false"
    ));
    Ok(deleted.bind(until).bind(dead_until).bind(limit).execute(db).await?.rows_affected())
}

/// The times for which jobs that have ended are kept, if that is not the time of the server and not until their delivery. Reads
/// one row for each.
const RETENTIONS: &str = "with recursive kept as (
         (select retain_s from jobs where retain_s > 0 and ended_at is not null order by retain_s limit 1)
         union all
         select (select retain_s from jobs where retain_s > kept.retain_s and retain_s > 0 and ended_at is not null
                 order by retain_s limit 1)
         from kept where retain_s is not null)
     select retain_s from kept where retain_s is not null";

/// Deletes at most `limit` jobs whose own retention time is over and whose webhooks are not to be sent any more. Returns their
/// number.
pub(super) async fn delete_retained(db: &Pool, clock: &Clock, limit: i64) -> Result<u64, sqlx::Error> {
    let retentions: Vec<i32> = sqlx::query_scalar(RETENTIONS).fetch_all(db).await?;
    let until = |retain_s: &i32| clock.ago(Duration::from_secs(u64::from(retain_s.unsigned_abs())));
    let deleted = sqlx::query(deletion!(
        "select due.id from unnest($1::int4[], $2::timestamptz[]) as kept (retain_s, until) cross join lateral (
             select id from jobs j
             where j.retain_s = kept.retain_s and j.retain_s > 0 and j.ended_at is not null and j.ended_at < kept.until
                 and not exists (select from webhook_deliveries w where w.job_id = j.id and w.state = 'pending')
             order by j.ended_at limit $3 for update skip locked) as due
         limit $3",
        "true"
    ));
    let untils = column(&retentions, until);
    Ok(deleted.bind(&retentions).bind(untils).bind(limit).execute(db).await?.rows_affected())
}

/// Deletes a job that was to be kept until its outcome is delivered. If its webhook is still to be sent, the job is only marked,
/// and deleted by the sweep after that. `None` if the job was not deleted.
pub async fn delete_delivered(db: &Pool, job: JobId) -> Result<Option<Deleted>, sqlx::Error> {
    let deleted = sqlx::query_scalar(deletion!(
        "select id from jobs where id = $1 and retain_s = 0 and ended_at is not null
             and not exists (select from webhook_deliveries w where w.job_id = $1 and w.state = 'pending')
         for update",
        "true"
    ));
    if let Some(object) = deleted.bind(job).fetch_optional(db).await? {
        return Ok(Some(Deleted { object }));
    }
    let mark = "update jobs set retain_s = 1 where id = $1 and retain_s = 0 and ended_at is not null";
    sqlx::query(mark).bind(job).execute(db).await?;
    Ok(None)
}

/// Whether a job was deleted before the retention time of the server. `None` for the account means any account. Only a server
/// that takes changes can say so: a replica, or a former primary, may not have heard of the job.
pub async fn is_deleted(db: &Pool, job: JobId, account_id: Option<Uuid>) -> Result<bool, sqlx::Error> {
    check_writable(db).await?;
    let deleted = sqlx::query_scalar(
        "select exists (select from deleted_jobs where id = $1 and ($2 is null or account_id = $2))",
    );
    deleted.bind(job).bind(account_id).fetch_one(db).await
}

/// Forgets at most `limit` deleted jobs that ended before `until`. Returns their number.
pub(super) async fn forget_deleted(db: &Pool, until: DateTime<Utc>, limit: i64) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query(
        "delete from deleted_jobs where ctid = any(array(
             select ctid from deleted_jobs where ended_at < $1
             order by ended_at limit $2 for update skip locked))",
    );
    Ok(forgotten.bind(until).bind(limit).execute(db).await?.rows_affected())
}
