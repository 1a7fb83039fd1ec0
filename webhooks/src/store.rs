//! The statements on deliveries: leases those that are due, and writes the results of their attempts. The end of a job or of a
//! group writes its delivery, and the deletion of the job or the group deletes it.

use std::time::Duration;

use akhar_jobs::{JobId, store::Group};
use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use sqlx::{FromRow, Row as _, postgres::PgRow, types::Json};
use uuid::Uuid;

/// How long an attempt has to write its result. After that the delivery is due again, because the attempt's process may
/// have died.
const LEASE: Duration = Duration::from_secs(60);

/// The most due deliveries that one lease looks at.
const WINDOW: i64 = 256;

/// The count of due deliveries ends here.
pub const MAX_DUE_COUNTED: i64 = 10_000;

/// The state of a delivery. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum DeliveryState {
    /// It will be attempted again.
    Pending,
    /// The receiver has accepted it.
    Delivered,
    /// It was given up.
    Dead,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Dead];

    /// The name in rows and lists.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }
}

/// A leased delivery, to be attempted now.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Delivery {
    /// The id of the webhook: that of the job, or one of its own.
    pub id: Uuid,
    /// What has ended.
    #[sqlx(flatten)]
    pub ended: Ended,
    /// The account that owns it.
    pub account_id: Uuid,
    /// Where to send it.
    pub url: String,
    /// Host and port of the URL.
    pub host: String,
    /// The number of the attempt, starting at 1.
    pub attempt: i32,
    /// The W3C trace context (`traceparent`) of the job. A webhook about a group has none.
    pub traceparent: Option<String>,
    /// When it was leased.
    pub leased_at: DateTime<Utc>,
}

impl Delivery {
    /// The URL without its query, which may be another one for each job.
    pub fn receiver(&self) -> &str {
        self.url.split_once('?').map_or(&*self.url, |(receiver, _)| receiver)
    }
}

/// What a webhook announces the end of.
#[derive(Debug, Clone)]
pub enum Ended {
    /// A job.
    Job {
        /// The job.
        id: JobId,
        /// The id of the request that made it.
        request_id: String,
    },
    /// A group, with its counts when its end was found.
    Group(Group),
}

impl FromRow<'_, PgRow> for Ended {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        match row.try_get("group_end")? {
            Some(Json(group)) => Ok(Self::Group(group)),
            None => Ok(Self::Job { id: row.try_get("job_id")?, request_id: row.try_get("request_id")? }),
        }
    }
}

/// How many deliveries may be leased, and which attempts are running.
#[derive(Debug, Clone, Default)]
pub struct LeaseLimits {
    /// The most deliveries to lease.
    pub n_free: i64,
    /// The most attempts at a time for one host. A receiver gets another one only while it has less than a third of what the others
    /// leave.
    pub per_host: i64,
    /// The most attempts at a time for one account.
    pub per_account: i64,
    /// The number of running attempts of each host.
    pub hosts: Vec<(String, i64)>,
    /// The number of running attempts of each receiver, and its host.
    pub receivers: Vec<(String, String, i64)>,
    /// The number of running attempts of each account.
    pub accounts: Vec<(Uuid, i64)>,
}

impl LeaseLimits {
    /// The receivers that have as many running attempts as they may have.
    fn full_receivers(&self) -> Vec<&str> {
        let of_host = |host: &str| self.hosts.iter().find(|(of, _)| of == host).map_or(0, |(_, n)| *n);
        let is_full =
            |(_, host, n): &&(String, String, i64)| 3 * (n + 1) > self.per_host - (of_host(host) - n);
        self.receivers.iter().filter(is_full).map(|(receiver, _, _)| &**receiver).collect()
    }
}

/// Leases due deliveries. Receivers take turns, and the delivery that is due for the longest comes first. Deliveries that another
/// process is leasing are skipped. Hosts, receivers and accounts with as many running attempts as they may have are left out, so
/// call it again until it returns nothing. Leases none if the database is quiet.
pub async fn lease(db: &Pool, limits: &LeaseLimits) -> Result<Vec<Delivery>, sqlx::Error> {
    let (hosts, of_hosts): (Vec<&str>, Vec<i64>) =
        limits.hosts.iter().map(|(host, n)| (host.as_str(), *n)).unzip();
    let (receivers, of_receivers): (Vec<&str>, Vec<i64>) =
        limits.receivers.iter().map(|(receiver, _, n)| (receiver.as_str(), *n)).unzip();
    let (accounts, of_accounts): (Vec<Uuid>, Vec<i64>) = limits.accounts.iter().copied().unzip();
    sqlx::query_as(
        "with candidates as (
             select id, account_id, host, split_part(url, '?', 1) as receiver, due_at from webhook_deliveries
             where state = 'pending' and due_at <= now() and not is_quiet()
                 and host <> all(select h from unnest($1::text[], $2::int8[]) as busy (h, n) where n >= $3)
                 and account_id <> all(select a from unnest($4::uuid[], $5::int8[]) as busy (a, n) where n >= $6)
                 and split_part(url, '?', 1) <> all($10::text[])
             order by due_at limit $7 for update skip locked),
         running as (
             select c.*, coalesce(h.n, 0) as n_host, coalesce(r.n, 0) as n_receiver, coalesce(a.n, 0) as n_account
             from candidates c
             left join unnest($1::text[], $2::int8[]) as h (host, n) on h.host = c.host
             left join unnest($11::text[], $12::int8[]) as r (receiver, n) on r.receiver = c.receiver
             left join unnest($4::uuid[], $5::int8[]) as a (account_id, n) on a.account_id = c.account_id),
         -- The number that each would be of its receiver, and in that order of its host and its account.
         of_receivers as (
             select *, n_receiver + row_number() over (partition by receiver order by due_at) as nth from running),
         of_hosts as (
             select *, n_host + row_number() over (partition by host order by nth, due_at) as nth_of_host from of_receivers),
         of_accounts as (
             select *, n_account + row_number() over (partition by account_id order by nth, due_at) as nth_of_account
             from of_hosts
             where nth_of_host <= $3 and (nth = 1 or 3 * nth <= $3 - (nth_of_host - nth))),
         chosen as (
             select id from of_accounts where nth_of_account <= $6 order by nth, due_at limit $8)
         update webhook_deliveries d set attempt = attempt + 1, due_at = now() + make_interval(secs => $9)
         from chosen where d.id = chosen.id
         returning d.id, d.job_id, d.group_end, d.account_id, d.url, d.host, d.attempt,
             (select request_id from jobs where id = d.job_id) as request_id,
             (select traceparent from jobs where id = d.job_id) as traceparent, now() as leased_at,
             set_config('synchronous_commit', 'off', true)",
    )
    .bind(hosts)
    .bind(of_hosts)
    .bind(limits.per_host)
    .bind(accounts)
    .bind(of_accounts)
    .bind(limits.per_account)
    .bind(WINDOW)
    .bind(limits.n_free)
    .bind(LEASE.as_secs_f64())
    .bind(limits.full_receivers())
    .bind(receivers)
    .bind(of_receivers)
    .fetch_all(db)
    .await
}

/// The deliveries that are due and that no process attempts.
#[derive(Debug, Clone, Copy, PartialEq, sqlx::FromRow)]
pub struct DueDeliveries {
    /// Their number: [`MAX_DUE_COUNTED`] + 1 if there are more.
    pub n: i64,
    /// How long the oldest has been due, seconds. 0 without one.
    pub oldest_s: f64,
}

/// Counts the deliveries that are due.
pub async fn due(db: &Pool) -> Result<DueDeliveries, sqlx::Error> {
    sqlx::query_as(
        "select count(*) as n, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest_s from (
             select due_at from webhook_deliveries where state = 'pending' and due_at <= now()
             order by due_at limit $1 + 1) as due",
    )
    .bind(MAX_DUE_COUNTED)
    .fetch_one(db)
    .await
}

/// The result of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempted {
    /// The receiver has accepted it.
    Delivered,
    /// It failed and is to be repeated after this time.
    Failed(String, Duration),
    /// It failed and is not to be repeated.
    Dead(String),
}

/// Writes the result of an attempt. Returns `false` if the delivery has been leased again or does not exist any more;
/// then nothing was changed.
pub async fn settle(db: &Pool, delivery: &Delivery, attempted: &Attempted) -> Result<bool, sqlx::Error> {
    let (state, error, delay) = match attempted {
        Attempted::Delivered => (DeliveryState::Delivered, None, Duration::ZERO),
        Attempted::Failed(error, delay) => (DeliveryState::Pending, Some(error), *delay),
        Attempted::Dead(error) => (DeliveryState::Dead, Some(error), Duration::ZERO),
    };
    let settled = sqlx::query(
        "update webhook_deliveries set state = $1, last_error = $2, due_at = now() + make_interval(secs => $3),
             ended_at = case when $1 <> 'pending' then now() end
         where id = $4 and attempt = $5 and state = 'pending'
         returning set_config('synchronous_commit', 'off', true)",
    )
    .bind(state.name())
    .bind(error)
    .bind(delay.as_secs_f64())
    .bind(delivery.id)
    .bind(delivery.attempt)
    .execute(db)
    .await?;
    Ok(settled.rows_affected() > 0)
}

/// Whether the group of a delivery has got no other job since its end. If it has, the delivery is deleted, because the next end of
/// the group has one of its own.
pub async fn is_still_ended(db: &Pool, delivery: &Delivery) -> Result<bool, sqlx::Error> {
    let is_still_ended = sqlx::query_scalar(
        "with withdrawn as (
             delete from webhook_deliveries d using job_groups g
             where d.id = $1 and g.account_id = d.account_id and g.name = d.group_name and g.ended_at is null
             returning d.id)
         select exists (select from webhook_deliveries where id = $1) and not exists (select from withdrawn)",
    );
    is_still_ended.bind(delivery.id).fetch_one(db).await
}
