//! Opens groups, finds those that have ended, and reads, cancels and deletes groups. Their jobs are counted when somebody asks: the
//! statements that submit, claim and end jobs change no group, but the first job of a group opens it.

use std::time::Duration;

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{GroupName, JobId, Queue};

use super::{
    Deleted, Ending, Guard, delete::delete_these, end, rows::column, submissions::wait_for_submissions,
};

/// The webhook of a group is sent this long after its end was found. If the group gets another job before, the webhook is not sent: a
/// caller that submits one job after the other gets one webhook, not one for each job that ends before the next.
const WEBHOOK_DELAY: Duration = Duration::from_secs(2);

/// A group, with the number of its jobs in each state.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, sqlx::FromRow)]
pub struct Group {
    /// The name.
    pub name: GroupName,
    /// The number of jobs that wait.
    pub n_queued: i64,
    /// The number of jobs that run.
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

/// A group that a job is submitted to: its account, its name, and where its end is announced from now on, if the job says so.
pub(super) type OfJob<'a> = (Uuid, &'a str, Option<&'a str>);

/// Opens groups that are new or have ended, and changes where their ends are announced. Call it in the transaction that has submitted
/// or retried their jobs, after that: the transaction then has the locks that [`find_ends`] waits for, so this statement sees each
/// end that was found before. A group that is open already is not written, so that no two submissions wait for its row.
pub(super) async fn open_groups(
    db: &mut PgConnection,
    mut groups: Vec<OfJob<'_>>,
) -> Result<(), sqlx::Error> {
    if groups.is_empty() {
        return Ok(());
    }
    groups.sort_unstable_by(|one, other| other.cmp(one)); // of one group, the first has a URL if any has
    groups.dedup_by_key(|(account_id, name, _)| (*account_id, *name));
    sqlx::query(
        "insert into job_groups as g (account_id, name, webhook_url)
         select * from unnest($1::uuid[], $2::text[], $3::text[]) as new (account_id, name, webhook_url)
         where not exists (
             select from job_groups g where g.account_id = new.account_id and g.name = new.name and g.ended_at is null
                 and (new.webhook_url is null or g.webhook_url = new.webhook_url))
         order by account_id, name
         on conflict (account_id, name) do update set
             ended_at = null, webhook_url = coalesce(excluded.webhook_url, g.webhook_url)",
    )
    .bind(column(&groups, |(account_id, ..)| *account_id))
    .bind(column(&groups, |(_, name, _)| *name))
    .bind(column(&groups, |(.., url)| *url))
    .execute(db)
    .await?;
    Ok(())
}

/// Whether a job of the group `g` waits or runs.
macro_rules! is_unended {
    () => {
        "exists (select from jobs j where j.account_id = g.account_id and j.group_name = g.name and j.ended_as is null)"
    };
}

/// The number of the jobs of the group `g` in each state, and when one of them last ended, from an index that has only these. It does
/// not say which of those that have not ended run: there are few, and they are counted beside. `offset 0` keeps the planner from looking
/// for them among all jobs of the group.
macro_rules! counts {
    () => {
        "cross join lateral (
             select of_group.*, n_running, n_unended - n_running as n_queued
             from (
                 select count(*) as n, count(*) filter (where ended_as is null) as n_unended,
                     count(*) filter (where ended_as = 'succeeded') as n_succeeded, count(*) filter (where ended_as = 'failed') as n_failed,
                     count(*) filter (where ended_as = 'cancelled') as n_cancelled, max(ended_at) as last_ended_at
                 from jobs j where j.account_id = g.account_id and j.group_name = g.name) of_group
             cross join lateral (
                 select case when n_unended > 0 then (
                     select count(*) from (select account_id, group_name from running_jobs() offset 0) r
                     where r.account_id = g.account_id and r.group_name = g.name) else 0 end as n_running offset 0) running) counts"
    };
}

/// Finds the open groups none of whose jobs waits or runs any more, marks them as ended, and writes the deliveries of their webhooks.
/// Every api process calls it again and again. A group that another one has marked in the meantime is not announced twice.
pub async fn find_ends(db: &Pool, queues: &'static [Queue]) -> Result<(), sqlx::Error> {
    let open = concat!(
        "select account_id, array_agg(name) from job_groups g where ended_at is null and not ",
        is_unended!(),
        " group by account_id"
    );
    let found: Vec<(Uuid, Vec<GroupName>)> = sqlx::query_as(open).fetch_all(db).await?;
    for (account_id, names) in found {
        mark_ends(db, queues, account_id, names).await?;
    }
    Ok(())
}

/// Marks those of these groups as ended that have ended.
async fn mark_ends(
    db: &Pool,
    queues: &'static [Queue],
    account_id: Uuid,
    names: Vec<GroupName>,
) -> Result<(), sqlx::Error> {
    db.transaction(move |transaction| {
        Box::pin(async move {
            let of_account: Vec<_> = queues.iter().map(|queue| (*queue, account_id)).collect();
            wait_for_submissions(transaction, &of_account).await?;
            sqlx::query(concat!(
                "with ended as (
                     update job_groups g set ended_at = now()
                     where account_id = $1 and name = any($2) and ended_at is null and not ",
                is_unended!(),
                " returning g.*),
                 counted as (
                     select g.account_id, g.name, g.created_at, coalesce(g.webhook_url, a.webhook_url) as url, counts.*
                     from ended g left join accounts a on a.id = g.account_id ",
                counts!(),
                ")
                 insert into webhook_deliveries (account_id, group_name, url, group_end_id, group_end, due_at)
                 select account_id, name, url,
                     -- A UUIDv7, so that lists are in the order of time: bytes 0 to 5 are milliseconds, and 7 is the version.
                     encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
                         placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::int8) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
                     to_jsonb(counted), now() + make_interval(secs => $3)
                 from counted where url is not null order by name
                 on conflict (account_id, group_name) where group_name is not null do update set
                     url = excluded.url, group_end_id = excluded.group_end_id, group_end = excluded.group_end,
                     due_at = excluded.due_at, state = 'pending', attempt = 0, created_at = now(), ended_at = null, last_error = null"
            ))
            .bind(account_id)
            .bind(names)
            .bind(WEBHOOK_DELAY.as_secs_f64())
            .execute(transaction)
            .await?;
            Ok(())
        })
    })
    .await
}

/// A group of this account with its counts. `None` if none of its jobs is in the group. Reads the index entries of all its jobs: about
/// a fifth of a second for a million of them.
pub async fn find_group(db: &Pool, account_id: Uuid, name: &GroupName) -> Result<Option<Group>, sqlx::Error> {
    let group = concat!(
        "select g.name, g.created_at, counts.* from job_groups g ",
        counts!(),
        " where g.account_id = $1 and g.name = $2 and counts.n > 0"
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
    let groups = concat!(
        "select g.name, g.created_at, counts.* from job_groups g ",
        counts!(),
        " where g.account_id = $1 and ($2 is null or g.name > $2) and counts.n > 0 order by g.name limit $3"
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

/// Of the `limit` newest open groups of all accounts, those that have jobs which wait or run.
pub async fn newest_open_groups(db: &Pool, limit: i64) -> Result<Vec<AccountGroup>, sqlx::Error> {
    let groups = concat!(
        "select g.name, g.created_at, counts.*, a.name as account from (
             select * from job_groups where ended_at is null order by created_at desc, name limit $1) g
         left join accounts a on a.id = g.account_id ",
        counts!(),
        " where counts.n_unended > 0 order by g.created_at desc, g.name"
    );
    sqlx::query_as(groups).bind(limit).fetch_all(db).await
}

/// Forgets at most `limit` groups that have ended, have no jobs any more, and whose end is not to be announced. Returns their number.
pub(super) async fn forget_empty_groups(db: &Pool, limit: i64) -> Result<u64, sqlx::Error> {
    let forgotten = sqlx::query(
        "delete from job_groups where ctid = any(array(
             select ctid from job_groups g where ended_at is not null
                 and not exists (select from jobs j where j.account_id = g.account_id and j.group_name = g.name)
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

/// Cancels the jobs of a group that have not ended, some at a time, and marks its end.
pub async fn cancel_group(
    db: &Pool,
    queues: &'static [Queue],
    account_id: Uuid,
    name: &GroupName,
) -> Result<Cancelled, sqlx::Error> {
    let unended = "select id from jobs
        where account_id = $1 and group_name = $2 and ended_as is null order by id";
    let jobs: Vec<JobId> = sqlx::query_scalar(unended).bind(account_id).bind(name).fetch_all(db).await?;
    let mut cancelled = Cancelled::default();
    for batch in jobs.chunks(AT_A_TIME) {
        let ending = |&job: &JobId| Ending::cancelled(Guard::Unended { job, account_id });
        let endings: Vec<_> = batch.iter().map(ending).collect();
        let ends = db.run(move |db| Box::pin(async move { end(db, &endings).await })).await?;
        cancelled.jobs.extend(batch.iter().zip(ends.met).filter_map(|(job, is_met)| is_met.then_some(*job)));
        cancelled.objects.extend(ends.objects);
    }
    mark_ends(db, queues, account_id, vec![name.clone()]).await?;
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
