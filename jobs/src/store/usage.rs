//! How much an account uses in a day, as seconds of its inputs: its jobs reserve what they may need, and the end of a job adds what
//! it was (see [`super::end`]).

use std::time::Duration;

use akhar_platform::database::Pool;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::JobId;

/// What a job that is about to be submitted may use.
#[derive(Debug, Clone, Copy)]
pub struct Reservation {
    /// The job.
    pub job: JobId,
    /// The account that owns it.
    pub account_id: Uuid,
    /// The greatest amount that it can use, seconds.
    pub seconds: f64,
    /// What the account may use in a day, seconds.
    pub quota_s: f64,
}

/// What an account uses today, apart from a job that is about to be submitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// What its jobs have used, seconds.
    pub used_s: f64,
    /// The most that those that wait or run can use, seconds.
    pub reserved_s: f64,
    /// Whether the job may be submitted: the account has any time left, or the job is submitted already.
    pub is_accepted: bool,
    /// The time until the day ends, which is a day in UTC.
    pub day_ends_in: Duration,
}

/// Reserves an amount for a job, if its account has any left, or more for one that has some already. Until the transaction ends, it keeps the row of the account's day
/// locked, so that no two jobs get the same time. Writes nothing for an account that is erased, whose job is not submitted either.
pub async fn reserve_amount(db: &Pool, reservation: Reservation) -> Result<Usage, sqlx::Error> {
    db.transaction(move |transaction| Box::pin(reserve(transaction, reservation))).await
}

async fn reserve(transaction: &mut PgConnection, reservation: Reservation) -> Result<Usage, sqlx::Error> {
    let Reservation { job, account_id, seconds, quota_s } = reservation;
    let used_s: Option<f64> = sqlx::query_scalar(
        "insert into audio_usage (account_id, day, seconds) select $1, (now() at time zone 'utc')::date, 0 where may_write($1)
         on conflict (account_id, day) do update set seconds = audio_usage.seconds
         returning seconds",
    )
    .bind(account_id)
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(used_s) = used_s else {
        return Ok(Usage { used_s: 0.0, reserved_s: 0.0, is_accepted: true, day_ends_in: Duration::ZERO });
    };
    let (reserved_s, is_accepted, left_s): (f64, bool, f64) = sqlx::query_as(
        "with others as (
             select coalesce(sum(r.seconds), 0) as reserved_s
             from audio_reservations r left join jobs j on j.id = r.job_id
             where r.account_id = $1 and r.job_id <> $2 and (j.state in ('queued', 'running')
                 or j.id is null and r.reserved_at > now() - interval '1 minute')),
         usage as (
             select reserved_s, $4 + reserved_s < $5 or exists (select from jobs where id = $2) as is_accepted
             from others),
         reserved as (
             insert into audio_reservations (job_id, account_id, seconds)
             select $2, $1, $3 from usage where is_accepted
             on conflict (job_id) do update set seconds = greatest(audio_reservations.seconds, excluded.seconds))
         select reserved_s, is_accepted, extract(epoch from utc::date + interval '1 day' - utc)::float8,
             set_config('synchronous_commit', 'off', true)
         from usage, (select now() at time zone 'utc' as utc) today",
    )
    .bind(account_id)
    .bind(job)
    .bind(seconds)
    .bind(used_s)
    .bind(quota_s)
    .fetch_one(&mut *transaction)
    .await?;
    let day_ends_in = Duration::from_secs_f64(left_s.clamp(0.0, 86_400.0));
    Ok(Usage { used_s, reserved_s, is_accepted, day_ends_in })
}
