//! Returns jobs that the service failed to process to their queues.

use sqlx::{PgConnection, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::{GroupName, JobId};

use super::{announcements::JOBS_QUEUED, groups::open_groups, rows::column};

/// How often a job that is retried may be claimed again.
const MORE_ATTEMPTS: i32 = crate::MAX_ATTEMPTS;

/// The condition that a row `j` is a job that the service failed to process and whose upload is kept, if it had
/// one: then it has a media type. It may be null.
pub const CAN_BE_RETRIED: &str = "j.ended_as = 'failed' and j.outcome->>'kind' = 'failed'
    and (j.upload is not null or j.upload_url is not null or j.recording_url is not null or j.media_type is null)";

/// Returns those of these jobs that can be retried to their queues, as asynchronous ones. Returns their number.
pub async fn retry(db: &mut PgConnection, jobs: &[JobId]) -> Result<usize, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new(
        "with found as (select j.id, j.queue, j.account_id from jobs j where j.id = any(",
    );
    query.push_bind(column(jobs, |id| id.0)).push(") and ").push(CAN_BE_RETRIED);
    query.push(
        " order by j.id for update),
         asynchronous as (
             select array_agg(id order by id) as ids, array_agg(queue order by id) as queues,
                 array_agg(0::int2) as priorities, array_agg(account_id order by id) as accounts from found),
         given as (
             select new.* from asynchronous a, unnest(a.ids, next_turns(a.queues, a.priorities, a.accounts)) as new (id, turn)),
         retried as (
             update jobs j set state = 'queued', outcome = null, ended_at = null, started_at = null, priority = 0, turn = given.turn,
                 acknowledged = true, run_at = now(), max_attempts = j.attempt + ",
    );
    query.push_bind(MORE_ATTEMPTS).push(
        " from given where j.id = given.id and given.turn is not null returning j.queue, j.account_id, j.group_name),
         notified as (select pg_notify(",
    );
    query.push_bind(JOBS_QUEUED).push(
        ", string_agg(distinct queue, ',')) from retried having count(*) > 0)
         select account_id, group_name from retried, notified",
    );
    let retried: Vec<(Uuid, Option<GroupName>)> = query.build_query_as().fetch_all(&mut *db).await?;
    let in_groups =
        retried.iter().filter_map(|(account_id, name)| Some((*account_id, name.as_ref()?.as_str(), None)));
    open_groups(db, in_groups.collect()).await?;
    Ok(retried.len())
}
