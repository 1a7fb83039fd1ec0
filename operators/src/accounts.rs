//! The accounts, and what they use.

use akhar_jobs::Queue;
use akhar_platform::database::Pool;
use akhar_requests::QUEUES;
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::keys::{KeyError, prefix_in, shown};

/// Waiting jobs are counted by account among this number of them. As many may wait with the default settings.
const MAX_WAITING_READ: i64 = 2_000;

/// An account, with its quotas and its jobs that have not ended.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminAccount)]
pub struct Account {
    /// Its id.
    pub id: Uuid,
    /// The name that the operator gave it.
    pub name: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The number of its keys that work.
    pub n_keys: i64,
    /// Requests in a minute, in each api process.
    pub rpm: Option<i32>,
    /// Jobs that may wait in each queue.
    pub max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC).
    pub audio_minutes: Option<i32>,
    /// Megabytes of uploads and results that may be stored. `null` for as many as the server allows.
    pub stored_mb: Option<i32>,
    /// Seconds for which ended jobs are kept if a request does not say so.
    pub retain_s: Option<i32>,
    /// The most seconds for which a request may have its job kept.
    pub max_retain_s: Option<i32>,
    /// Where the ends of its jobs are announced if a request does not say so.
    pub webhook_url: Option<String>,
    /// The number of its jobs that wait: 1,001 if there are more than 1,000.
    pub queued: i64,
    /// The number of its jobs that run.
    pub running: i64,
}

/// At most `limit` accounts, the newest first: those that were made before the account `before`.
pub async fn page(db: &Pool, before: Option<Uuid>, limit: i64) -> Result<Vec<Account>, sqlx::Error> {
    sqlx::query_as(
        "with page as materialized (select * from accounts where $1::uuid is null or id < $1 order by id desc limit $2),
         running as materialized (
             select account_id, count(*) as n from running_jobs() group by account_id)
         select a.id, a.name, a.created_at, a.requests_per_minute as rpm, a.max_queued,
             a.audio_minutes_per_day as audio_minutes, a.stored_mb, a.retain_s, a.max_retain_s, a.webhook_url,
             (select count(*) from api_keys k where k.account_id = a.id and k.revoked_at is null
                 and (k.expires_at is null or k.expires_at > now())) as n_keys,
             (select count(*) from (
                 select from unnest($3::text[]) as q (queue), lateral (
                     select from jobs j where j.queue = q.queue and j.account_id = a.id
                         and coalesce(j.ended_at, 'infinity') = 'infinity' and j.state = 'queued'
                     limit 1001) as waiting
                 limit 1001) as counted) as queued,
             coalesce((select n from running r where r.account_id = a.id), 0) as running
         from page a order by a.id desc",
    )
    .bind(before)
    .bind(limit)
    .bind(QUEUES.map(Queue::name))
    .fetch_all(db)
    .await
}

/// The account with this name or id, or that of a key with this prefix or id, also of a revoked one.
pub async fn find(db: &Pool, entered: &str) -> Result<Uuid, KeyError> {
    let accounts: Vec<Uuid> = sqlx::query_scalar(
        "select account_id from api_keys where prefix = $1 or id = $2
         union select id from accounts where id = $2 or name = $3",
    )
    .bind(prefix_in(entered))
    .bind(Uuid::try_parse(entered).ok())
    .bind(entered)
    .fetch_all(db)
    .await?;
    match accounts[..] {
        [account] => Ok(account),
        [] => Err(KeyError::NoAccount(shown(entered))),
        _ => Err(KeyError::SeveralAccounts(shown(entered))),
    }
}

/// What an account uses.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct AccountUse {
    /// The account.
    pub account_id: Uuid,
    /// Jobs that were accepted in the last hour: 1,001 for more than 1,000.
    pub n_last_hour: i64,
    /// When its newest job was accepted. `None` without a job.
    pub newest_at: Option<DateTime<Utc>>,
    /// Jobs that wait.
    pub n_waiting: i64,
    /// Whether more jobs may wait than were counted, because very many wait.
    pub is_more_waiting: bool,
    /// Seconds of recordings that were transcribed today (UTC).
    pub audio_s: f64,
}

/// What these accounts use.
pub async fn uses(db: &Pool, accounts: &[Uuid]) -> Result<Vec<AccountUse>, sqlx::Error> {
    sqlx::query_as(
        "with waiting as materialized (
             select account_id from jobs where ended_at is null and state = 'queued'
             order by queue, priority desc, turn, run_at, id limit $2),
         by_account as materialized (select account_id, count(*) as n from waiting group by account_id)
         select a.id as account_id,
             (select least(1001, (select count(*) from (
                     select from jobs where account_id = a.id and id > $3 order by id desc limit 1001) as kept)
                 + (select count(*) from (
                     select from deleted_jobs where account_id = a.id and id > $3 order by id desc limit 1001) as deleted))
             ) as n_last_hour,
             greatest(
                 (select created_at from jobs where account_id = a.id order by id desc limit 1),
                 (select created_at from deleted_jobs where account_id = a.id order by id desc limit 1)) as newest_at,
             coalesce((select n from by_account b where b.account_id = a.id), 0) as n_waiting,
             (select count(*) from waiting) >= $2 as is_more_waiting,
             coalesce((select seconds from audio_usage u
                 where u.account_id = a.id and u.day = (now() at time zone 'utc')::date), 0) as audio_s
         from unnest($1::uuid[]) as a (id)",
    )
    .bind(accounts)
    .bind(MAX_WAITING_READ)
    .bind(hour_ago())
    .fetch_all(db)
    .await
}

/// The lowest id of a job that was accepted less than an hour ago.
fn hour_ago() -> Uuid {
    let ms = Utc::now().timestamp_millis().saturating_sub(3_600_000);
    Uuid::from_u128(u128::try_from(ms).unwrap_or(0) << 80)
}
