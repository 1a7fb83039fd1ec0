//! Numbers for the operations page: the load of queues, jobs by state, and what accounts use. Each statement reads a limited
//! number of rows, so the numbers have upper limits. What ended in a minute and what accounts use include deleted jobs.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::Queue;

use super::QueueMode;

/// Counts of waiting or failed jobs end here.
pub const MAX_COUNTED: i64 = 10_000;

/// Waiting jobs are counted by account among this number of them. As many may wait with the default settings.
const MAX_WAITING_READ: i64 = 2_000;

/// The oldest waiting job of a queue is among this number of jobs that are claimed next: accounts take turns, and the jobs of
/// an account are in their order of acceptance.
pub(super) const NEXT_READ: i64 = 500;

/// What happens in a queue.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct QueueLoad {
    /// The name of the queue, as stored.
    pub queue: String,
    /// The mode that an operator has set.
    pub mode: QueueMode,
    /// The number of jobs that wait: [`MAX_COUNTED`] + 1 if there are more.
    pub n_queued: i64,
    /// The number of jobs that run.
    pub n_running: i64,
    /// How long the oldest of them has waited, seconds. `None` if no job waits.
    pub oldest_s: Option<f64>,
    /// How many jobs ended in a minute, by the last minute or a shorter time.
    pub ended_per_minute: f64,
    /// How many of them failed.
    pub failed_per_minute: f64,
}

/// What happens in each queue.
pub async fn queue_loads(db: &Pool) -> Result<Vec<QueueLoad>, sqlx::Error> {
    sqlx::query_as(
        "with ended as materialized (
             (select queue, state, ended_at from jobs where ended_at > now() - interval '1 minute'
              order by ended_at desc limit $2)
             union all
             (select queue, state, ended_at from deleted_jobs where ended_at > now() - interval '1 minute'
              order by ended_at desc limit $2)
             order by ended_at desc limit $2),
         measured as (
             select case when count(*) < $2 then 60 else greatest(extract(epoch from now() - min(ended_at)), 1) end::float8
                 as over_s from ended)
         select q.queue, coalesce(c.mode, 'open') as mode,
             (select count(*) from (
                 select from jobs where queue = q.queue and state = 'queued' limit $2 + 1) as waiting) as n_queued,
             (select count(*) from (
                 select from jobs where state = 'running' and queue = q.queue limit $2 + 1) as running) as n_running,
             (select extract(epoch from now() - min(created_at))::float8 from (
                 (select created_at from jobs where queue = q.queue and state = 'queued' and priority = 1
                  order by turn, run_at, id limit $3)
                 union all
                 (select created_at from jobs where queue = q.queue and state = 'queued' and priority = 0
                  order by turn, run_at, id limit $3)) as next) as oldest_s,
             coalesce((select count(*) * 60 / over_s from ended, measured where ended.queue = q.queue
                 group by over_s), 0)::float8 as ended_per_minute,
             coalesce((select count(*) * 60 / over_s from ended, measured
                 where ended.queue = q.queue and state = 'failed' group by over_s), 0)::float8 as failed_per_minute
         from unnest($1::text[]) with ordinality as q (queue, nth)
         left join queue_controls c on c.queue = q.queue order by q.nth",
    )
    .bind(Queue::ALL.map(Queue::name))
    .bind(MAX_COUNTED)
    .bind(NEXT_READ)
    .fetch_all(db)
    .await
}

/// Transcriptions in Panjabi are counted among this number of jobs that ended last.
const MAX_ENDED_READ: i64 = 2_000;

/// At most so many transcriptions are counted, because their outcomes can be large.
const MAX_TEXTS_READ: i64 = 100;

/// Transcriptions in Panjabi of the last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct PanjabiTexts {
    /// How many were counted, without those of silence.
    pub n: i64,
    /// How many of them have parts that are probably wrong.
    pub n_probably_wrong: i64,
}

/// Counts the transcriptions in Panjabi that ended last, of the last day.
pub async fn panjabi_texts(db: &Pool) -> Result<PanjabiTexts, sqlx::Error> {
    sqlx::query_as(
        "with ended as materialized (
             select operation, state, parameters, outcome from jobs where ended_at > now() - interval '1 day'
             order by ended_at desc limit $1),
         texts as materialized (
             select outcome from ended
             where operation = 'speech-recognition' and state = 'succeeded' and parameters ->> 'lang' = 'pa' limit $2)
         select count(*) as n,
             count(*) filter (where outcome -> 'probably_wrong' @> '[{\"text\": \"transcription\"}]') as n_probably_wrong
         from texts where outcome ->> 'transcription' <> ''",
    )
    .bind(MAX_ENDED_READ)
    .bind(MAX_TEXTS_READ)
    .fetch_one(db)
    .await
}

/// How many jobs wait, run and have failed: [`MAX_COUNTED`] + 1 for more. The table does not count those that have
/// succeeded.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub struct StateCounts {
    /// Jobs that wait.
    pub queued: i64,
    /// Jobs that run.
    pub running: i64,
    /// Jobs that failed.
    pub failed: i64,
}

/// Counts the jobs of the states that an operator looks at.
pub async fn state_counts(db: &Pool) -> Result<StateCounts, sqlx::Error> {
    sqlx::query_as(
        "select (select count(*) from (select from jobs where state = 'queued' limit $1 + 1) as q) as queued,
             (select count(*) from (select from jobs where state = 'running' limit $1 + 1) as r) as running,
             (select count(*) from (select from jobs where state = 'failed' limit $1 + 1) as f) as failed",
    )
    .bind(MAX_COUNTED)
    .fetch_one(db)
    .await
}

/// How large the table is.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub struct Kept {
    /// The number of jobs, if it is at most [`MAX_COUNTED`]. Otherwise about how many it has, as Postgres estimated when it
    /// last vacuumed or analysed it.
    pub n_jobs: i64,
    /// The time by the database's clock.
    pub at: DateTime<Utc>,
}

/// How large the table is. Jobs are not counted if the estimate is far above the number to which they are counted.
pub async fn kept(db: &Pool) -> Result<Kept, sqlx::Error> {
    sqlx::query_as(
        "with counted as materialized (
             select count(*) as n from (select from jobs order by id limit $1 + 1) as first)
         select case when reltuples > 2 * $1 then reltuples::int8
                 else (select case when n > $1 then greatest(n, reltuples::int8) else n end from counted) end as n_jobs,
             now() as at
         from pg_class where oid = 'jobs'::regclass",
    )
    .bind(MAX_COUNTED)
    .fetch_one(db)
    .await
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
pub async fn use_of_accounts(db: &Pool, accounts: &[Uuid]) -> Result<Vec<AccountUse>, sqlx::Error> {
    sqlx::query_as(
        "with waiting as materialized (
             select account_id from jobs where state = 'queued'
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

/// The jobs of an account that have not ended.
#[derive(Debug, Clone, Copy, sqlx::FromRow)]
pub struct AccountJobs {
    /// The account.
    pub account_id: Uuid,
    /// Jobs that wait: 1,001 for more than 1,000.
    pub n_queued: i64,
    /// Jobs that run.
    pub n_running: i64,
}

/// The jobs of these accounts that have not ended.
pub async fn jobs_of_accounts(db: &Pool, accounts: &[Uuid]) -> Result<Vec<AccountJobs>, sqlx::Error> {
    sqlx::query_as(
        "with running as materialized (
             select account_id, count(*) as n from jobs where state = 'running' group by account_id)
         select a.id as account_id,
             (select count(*) from (
                 select from unnest($2::text[]) as q (queue), lateral (
                     select from jobs j where j.queue = q.queue and j.account_id = a.id and j.state like 'queued'
                     limit 1001) as waiting
                 limit 1001) as counted) as n_queued,
             coalesce((select n from running r where r.account_id = a.id), 0) as n_running
         from unnest($1::uuid[]) as a (id)",
    )
    .bind(accounts)
    .bind(Queue::ALL.map(Queue::name))
    .fetch_all(db)
    .await
}

/// The lowest id of a job that was accepted less than an hour ago.
fn hour_ago() -> Uuid {
    let ms = Utc::now().timestamp_millis().saturating_sub(3_600_000);
    Uuid::from_u128(u128::try_from(ms).unwrap_or(0) << 80)
}
