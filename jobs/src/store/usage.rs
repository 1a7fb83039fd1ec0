//! Reads how much audio was transcribed for an account. The end of a job adds to it (see [`super::end`]).

use std::time::Duration;

use sqlx::PgPool;
use uuid::Uuid;

/// The audio that was transcribed for an account today.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AudioUsage {
    /// The length of the recordings, seconds.
    pub seconds: f64,
    /// The time until the day ends, which is a day in UTC.
    pub day_ends_in: Duration,
}

/// The audio that was transcribed today for this account.
pub async fn audio_today(db: &PgPool, account_id: Uuid) -> Result<AudioUsage, sqlx::Error> {
    let (seconds, left_s): (f64, f64) = sqlx::query_as(
        "select coalesce((select seconds from audio_usage where account_id = $1 and day = utc::date), 0),
             extract(epoch from utc::date + interval '1 day' - utc)::float8
         from (select now() at time zone 'utc' as utc) today",
    )
    .bind(account_id)
    .fetch_one(db)
    .await?;
    Ok(AudioUsage { seconds, day_ends_in: Duration::from_secs_f64(left_s.clamp(0.0, 86_400.0)) })
}
