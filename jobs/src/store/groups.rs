//! Counts jobs in their groups, and reads, cancels and deletes groups. The statements that submit, end, retry and delete jobs count
//! them, so that reading a group does not read its jobs.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

use crate::{GroupName, JobId};

use super::{Deleted, Ending, Guard, delete::delete_these, end};

/// A part of a statement that counts jobs in their groups. `$changed` has the `account_id` and the `group_name` of each job that the
/// statement has changed, and `$before` and `$after` are its states, or `null` if there was or is no job. `$webhook_url` is where
/// the end of the group is announced from now on, or `null`. The row of each group is changed once, in the order of accounts and
/// names, so that no two statements wait for each other.
macro_rules! count_in_groups {
    ($changed:literal, $before:literal, $after:literal) => {
        count_in_groups!($changed, $before, $after, "null")
    };
    ($changed:literal, $before:literal, $after:literal, $webhook_url:literal) => {
        concat!(
            "insert into job_groups as g (account_id, name, n_unended, n_succeeded, n_failed, n_cancelled, last_ended_at, webhook_url)
             select account_id, group_name,
                 count(*) filter (where ", $after, " in ('queued', 'running'))
                     - count(*) filter (where ", $before, " in ('queued', 'running')),
                 count(*) filter (where ", $after, " = 'succeeded') - count(*) filter (where ", $before, " = 'succeeded'),
                 count(*) filter (where ", $after, " = 'failed') - count(*) filter (where ", $before, " = 'failed'),
                 count(*) filter (where ", $after, " = 'cancelled') - count(*) filter (where ", $before, " = 'cancelled'),
                 max(now()) filter (where ", $after, " in ('succeeded', 'failed', 'cancelled')),
                 ", $webhook_url, "
             from ", $changed, " where group_name is not null
             group by account_id, group_name order by account_id, group_name
             on conflict (account_id, name) do update set
                 n_unended = g.n_unended + excluded.n_unended, n_succeeded = g.n_succeeded + excluded.n_succeeded,
                 n_failed = g.n_failed + excluded.n_failed, n_cancelled = g.n_cancelled + excluded.n_cancelled,
                 last_ended_at = coalesce(excluded.last_ended_at, g.last_ended_at),
                 webhook_url = coalesce(excluded.webhook_url, g.webhook_url)"
        )
    };
}
pub(super) use count_in_groups;

/// A group, with the number of its jobs in each state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, sqlx::FromRow)]
pub struct Group {
    /// The name.
    pub name: GroupName,
    /// The number of jobs that wait. The stored end of a group does not have it, because then none waits or runs.
    #[serde(default)]
    pub n_queued: i64,
    /// The number of jobs that run.
    #[serde(default)]
    pub n_running: i64,
    /// The number of jobs that have succeeded.
    pub n_succeeded: i64,
    /// The number of jobs that have failed.
    pub n_failed: i64,
    /// The number of jobs that were cancelled.
    pub n_cancelled: i64,
    /// When the first of the jobs was accepted.
    pub created_at: DateTime<Utc>,
    /// When one of the jobs last ended.
    pub last_ended_at: Option<DateTime<Utc>>,
}

impl Group {
    /// Whether all jobs have ended.
    pub const fn has_ended(&self) -> bool {
        self.n_queued + self.n_running == 0
    }
}

/// Reads groups. Few jobs run at a time, so they are counted: otherwise every claim would change the row of a group. They are found by
/// their workers, because a scan of all index entries would read those of jobs that ran since the last vacuum.
macro_rules! counted {
    ($condition:literal) => {
        concat!(
            "with running as materialized (
                 select account_id, group_name, count(*) as n from workers w cross join lateral (
                     select account_id, group_name from jobs where worker = w.name and state = 'running' offset 0) of_worker
                 group by account_id, group_name)
             select g.name, g.n_unended - coalesce(r.n, 0) as n_queued, coalesce(r.n, 0) as n_running, g.n_succeeded, g.n_failed,
                 g.n_cancelled, g.created_at, g.last_ended_at, a.name as account
             from job_groups g left join running r on r.account_id = g.account_id and r.group_name = g.name
             left join accounts a on a.id = g.account_id
             where ",
            $condition
        )
    };
}

/// A group of this account. `None` if none of its jobs is in the group.
pub async fn find_group(db: &Pool, account_id: Uuid, name: &GroupName) -> Result<Option<Group>, sqlx::Error> {
    let group = counted!(
        "g.account_id = $1 and g.name = $2 and g.n_unended + g.n_succeeded + g.n_failed + g.n_cancelled > 0"
    );
    sqlx::query_as(group).bind(account_id).bind(name).fetch_optional(db).await
}

/// At most `limit` groups of this account, in the order of their names: those after this one, if one is given.
pub async fn list_groups(
    db: &Pool,
    account_id: Uuid,
    after: Option<&GroupName>,
    limit: i64,
) -> Result<Vec<Group>, sqlx::Error> {
    let groups = counted!(
        "g.account_id = $1 and ($2 is null or g.name > $2) and g.n_unended + g.n_succeeded + g.n_failed + g.n_cancelled > 0
         order by g.name limit $3"
    );
    sqlx::query_as(groups).bind(account_id).bind(after).bind(limit).fetch_all(db).await
}

/// A group with the account that owns it.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct AccountGroup {
    /// The name of the account.
    pub account: Option<String>,
    /// The group.
    #[sqlx(flatten)]
    pub group: Group,
}

/// The groups of all accounts that have jobs which have not ended: the `limit` newest ones.
pub async fn unended_groups(db: &Pool, limit: i64) -> Result<Vec<AccountGroup>, sqlx::Error> {
    let groups = counted!("g.n_unended > 0 order by g.created_at desc, g.name limit $1");
    sqlx::query_as(groups).bind(limit).fetch_all(db).await
}

/// Forgets at most `limit` groups that have no jobs any more and whose end is not to be announced. Returns their number.
pub(super) async fn forget_empty_groups(db: &Pool, limit: i64) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query(
        "delete from job_groups where ctid = any(array(
             select ctid from job_groups g where n_unended + n_succeeded + n_failed + n_cancelled = 0
                 and not exists (
                     select from webhook_deliveries w
                     where w.account_id = g.account_id and w.group_name = g.name and w.state = 'pending')
             limit $1 for update of g skip locked))",
    );
    Ok(forgotten.bind(limit).execute(db).await?.rows_affected())
}

/// The most jobs of a group that one statement cancels or deletes. Their rows are locked for some hundredths of a second, and each
/// statement waits for the disk once.
const AT_A_TIME: usize = 2_000;

/// The jobs of a group that were cancelled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cancelled {
    /// The jobs.
    pub jobs: Vec<JobId>,
    /// The addresses of the objects that have their uploads and that nobody needs any more.
    pub objects: Vec<String>,
}

/// Cancels the jobs of a group that have not ended, some at a time.
pub async fn cancel_group(db: &Pool, account_id: Uuid, name: &GroupName) -> Result<Cancelled, sqlx::Error> {
    let unended = "select id from jobs
        where account_id = $1 and group_name = $2 and (state = 'queued' or state = 'running') order by id";
    let jobs: Vec<JobId> = sqlx::query_scalar(unended).bind(account_id).bind(name).fetch_all(db).await?;
    let mut cancelled = Cancelled::default();
    for batch in jobs.chunks(AT_A_TIME) {
        let ending = |&job: &JobId| Ending::cancelled(Guard::Unended { job, account_id });
        let endings: Vec<_> = batch.iter().map(ending).collect();
        let ends = db.run(move |db| Box::pin(async move { end(db, &endings).await })).await?;
        cancelled.jobs.extend(batch.iter().zip(ends.met).filter_map(|(job, is_met)| is_met.then_some(*job)));
        cancelled.objects.extend(ends.objects);
    }
    Ok(cancelled)
}

/// Deletes the jobs of a group that have ended, some at a time, and the webhook of its end.
pub async fn delete_group(
    db: &Pool,
    account_id: Uuid,
    name: &GroupName,
) -> Result<Vec<Deleted>, sqlx::Error> {
    let ended =
        "select id from jobs where account_id = $1 and group_name = $2 and ended_at is not null order by id";
    let jobs: Vec<Uuid> = sqlx::query_scalar(ended).bind(account_id).bind(name).fetch_all(db).await?;
    let mut deleted = Vec::new();
    for batch in jobs.chunks(AT_A_TIME) {
        let batch = batch.to_vec();
        deleted.extend(db.run(move |db| Box::pin(delete_these(db, batch))).await?);
    }
    let webhook = "delete from webhook_deliveries where account_id = $1 and group_name = $2";
    sqlx::query(webhook).bind(account_id).bind(name).execute(db).await?;
    Ok(deleted)
}
