//! Reads jobs by id and in lists, and parses announcements of ended jobs.

use std::collections::BTreeMap;

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde_json::{Value, value::RawValue};
use sqlx::{PgConnection, Postgres, QueryBuilder, types::Json};
use uuid::Uuid;

use crate::{GroupName, Job, JobId, JobState, Label, Queue, StoredOutcome, Timing};

use super::{artifacts, rows::column};

#[derive(sqlx::FromRow)]
struct JobRow {
    id: JobId,
    operation: String,
    state: JobState,
    attempt: i32,
    created_at: DateTime<Utc>,
    started_at: Option<DateTime<Utc>>,
    ended_at: Option<DateTime<Utc>>,
    outcome: Option<Json<Box<RawValue>>>,
    decode_us: Option<i32>,
    infer_us: Option<i32>,
    transcribed_s: Option<f64>,
    retain_s: Option<i32>,
    group_name: Option<GroupName>,
    labels: Option<Json<BTreeMap<String, String>>>,
}

/// The operations whose outcomes have artifacts.
pub type WithArtifacts = &'static [&'static str];

/// The jobs with these ids, in any order. Ids of no job are left out.
pub async fn find_many(
    db: &mut PgConnection,
    ids: &[JobId],
    with_artifacts: WithArtifacts,
) -> Result<Vec<Job>, sqlx::Error> {
    select(db, ids, None, with_artifacts).await
}

/// A job of this account. `None` if there is no such job or it belongs to another account.
pub async fn find(
    db: &Pool,
    id: JobId,
    account_id: Uuid,
    with_artifacts: WithArtifacts,
) -> Result<Option<Job>, sqlx::Error> {
    let find =
        db.run(move |db| Box::pin(async move { select(db, &[id], Some(account_id), with_artifacts).await }));
    Ok(find.await?.pop())
}

async fn select(
    db: &mut PgConnection,
    ids: &[JobId],
    account_id: Option<Uuid>,
    with_artifacts: WithArtifacts,
) -> Result<Vec<Job>, sqlx::Error> {
    let rows: Vec<JobRow> = sqlx::query_as(
        "select id, operation, state, attempt, created_at, started_at, ended_at, outcome, decode_us, infer_us,
             transcribed_s, retain_s, group_name, labels
         from jobs where id = any($1) and ($2 is null or account_id = $2)",
    )
    .bind(ids.iter().map(|id| id.0).collect::<Vec<_>>())
    .bind(account_id)
    .fetch_all(&mut *db)
    .await?;
    let mut jobs: Vec<Job> = rows.into_iter().map(JobRow::into_job).collect();
    let with_artifacts = jobs.iter_mut().filter(|job| with_artifacts.contains(&job.operation.as_str()));
    let outcomes = with_artifacts.filter_map(|job| Some((job.id, job.outcome.as_mut()?)));
    artifacts::fetch(db, outcomes.collect()).await?;
    Ok(jobs)
}

/// Which jobs of an account a list has. `None` means any.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// The state.
    pub state: Option<JobState>,
    /// The operation.
    pub operation: Option<&'static str>,
    /// Accepted at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Accepted before this time.
    pub until: Option<DateTime<Utc>>,
    /// Accepted before this job. Ids are in the order in which jobs were accepted.
    pub before: Option<JobId>,
    /// In this group.
    pub group: Option<GroupName>,
    /// With this label.
    pub label: Option<Label>,
}

/// At most `limit` jobs of an account, newest first. Only failed jobs have their outcomes. The statement has only the conditions that
/// are given: its plan is made without their values. So a state is a part of its text, for the indexes that have a condition: that of
/// jobs that have not ended has `coalesce`.
pub async fn of_account(
    db: &Pool,
    account_id: Uuid,
    queues: &[Queue],
    filter: &JobFilter,
    limit: i64,
) -> Result<Vec<Job>, sqlx::Error> {
    let JobFilter { state, operation, since, until, before, group, label } = filter;
    let mut query = QueryBuilder::<Postgres>::new(
        "select id, operation, state, attempt, created_at, started_at, ended_at,
             case when state = 'failed' then outcome end as outcome, decode_us, infer_us, transcribed_s, retain_s, group_name, labels
         from jobs where account_id = ",
    );
    query.push_bind(account_id);
    if let Some(state) = state {
        match state {
            JobState::Queued | JobState::Running => {
                query.push(" and queue = any(").push_bind(column(queues, |queue| queue.name()));
                query.push(") and coalesce(ended_at, 'infinity') = 'infinity' and state = '")
            }
            JobState::Succeeded | JobState::Failed | JobState::Cancelled => query.push(" and ended_as = '"),
        };
        query.push(state.name()).push("'");
    }
    if let Some(operation) = operation {
        query.push(" and operation = ").push_bind(*operation);
    }
    if let Some(since) = since {
        query.push(" and created_at >= ").push_bind(since);
    }
    if let Some(until) = until {
        query.push(" and created_at < ").push_bind(until);
    }
    if let Some(before) = before {
        query.push(" and id < ").push_bind(before);
    }
    if let Some(group) = group {
        query.push(" and group_name = ").push_bind(group);
    }
    if let Some(Label { key, value }) = label {
        query.push(" and labels @> ").push_bind(Json(BTreeMap::from([(key, value)])));
    }
    query.push(" order by id desc limit ").push_bind(limit);
    let rows: Vec<JobRow> = query.build_query_as().fetch_all(db).await?;
    Ok(rows.into_iter().map(JobRow::into_job).collect())
}

/// The parameters of a job. `None` if there is no such job.
pub async fn parameters(db: &Pool, id: JobId) -> Result<Option<Value>, sqlx::Error> {
    let parameters = sqlx::query_scalar("select parameters from jobs where id = $1").bind(id);
    let parameters: Option<Json<Value>> = parameters.fetch_optional(db).await?;
    Ok(parameters.map(|parameters| parameters.0))
}

/// What a log line about the end of a job says of it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct EndedFacts {
    /// The job.
    pub id: JobId,
    /// The account that owns it.
    pub account_id: Uuid,
    /// The name of the operation, as stored.
    pub operation: String,
    /// The id of the request.
    pub request_id: String,
    /// The number of claims.
    pub attempt: i32,
    /// Milliseconds from the acceptance to the last claim, or to the end if there was no claim.
    pub wait_ms: i64,
    /// Milliseconds from the last claim to the end. 0 if there was no claim.
    pub run_ms: i64,
}

/// What log lines about the ends of these jobs say of them.
pub async fn ended_facts(db: &Pool, ids: &[JobId]) -> Result<Vec<EndedFacts>, sqlx::Error> {
    sqlx::query_as(
        "select id, account_id, operation, request_id, attempt,
             (1000 * extract(epoch from coalesce(started_at, ended_at, now()) - created_at))::int8 as wait_ms,
             (1000 * extract(epoch from coalesce(ended_at - started_at, '0')))::int8 as run_ms
         from jobs where id = any($1)",
    )
    .bind(column(ids, |id| id.0))
    .fetch_all(db)
    .await
}

impl JobRow {
    fn into_job(self) -> Job {
        let timing =
            self.decode_us.zip(self.infer_us).map(|(decode_us, infer_us)| Timing { decode_us, infer_us });
        Job {
            id: self.id,
            operation: self.operation,
            state: self.state,
            attempt: self.attempt,
            created_at: self.created_at,
            started_at: self.started_at,
            ended_at: self.ended_at,
            outcome: self.outcome.map(|o| StoredOutcome { document: o.0, artifacts: Vec::new() }),
            timing,
            progress_s: self.transcribed_s,
            is_kept_until_delivery: self.retain_s == Some(0),
            group: self.group_name,
            labels: self.labels.map(|labels| labels.0).unwrap_or_default(),
        }
    }
}

/// Parses an announcement of ended jobs (see [`JOBS_ENDED`](super::JOBS_ENDED)). What is no id is left out.
pub fn ended(payload: &str) -> impl Iterator<Item = JobId> {
    payload.split(',').filter_map(|id| Uuid::try_parse(id).ok()).map(JobId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_announcement_has_ids_only() {
        let ids = ["019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c12"];
        let announced: Vec<String> = ended(&ids.join(",")).map(|id| id.to_string()).collect();
        assert_eq!(announced, ids);
        for odd in ["", "[", "[{}]", "x,y"] {
            assert_eq!(ended(odd).count(), 0, "{odd}");
        }
    }
}
