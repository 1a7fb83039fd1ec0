//! What is searched for, and the jobs of a page.

use std::{fmt, time::Duration};

use akhar_jobs::{GroupName, JobId, JobState, Operation, Queue};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Which jobs an operator means. `None` means any.
#[derive(Debug, Clone, Default)]
pub struct JobSearch {
    /// One of these jobs.
    pub ids: Option<Vec<JobId>>,
    /// The state.
    pub state: Option<JobState>,
    /// The queue.
    pub queue: Option<Queue>,
    /// The operation.
    pub operation: Option<Operation>,
    /// The account that owns the job.
    pub account_id: Option<Uuid>,
    /// The group. Other accounts can have groups of the same name.
    pub group: Option<GroupName>,
    /// The id of the request that made the job.
    pub request_id: Option<String>,
    /// The whole error of the last failed attempt.
    pub error: Option<String>,
    /// Accepted at least this long ago.
    pub older_than: Option<Duration>,
    /// Ended at least this long ago.
    pub ended_before: Option<Duration>,
}

impl JobSearch {
    /// Whether all jobs are meant.
    pub fn is_all(&self) -> bool {
        self.conditions().next().is_none()
    }

    /// The conditions, each with its name.
    fn conditions(&self) -> impl Iterator<Item = (&'static str, String)> {
        let Self {
            ids,
            state,
            queue,
            operation,
            account_id,
            group,
            request_id,
            error,
            older_than,
            ended_before,
        } = self;
        let ids = ids.as_ref().map(|ids| ids.iter().map(JobId::to_string).collect::<Vec<_>>().join(","));
        let age = |age: &Option<Duration>| age.map(|age| format!("{}s", age.as_secs()));
        let conditions = [
            ("id", ids),
            ("state", state.map(|state| state.name().to_owned())),
            ("queue", queue.map(|queue| queue.name().to_owned())),
            ("operation", operation.map(|operation| operation.name().to_owned())),
            ("account", account_id.map(|id| id.to_string())),
            ("group", group.clone().map(String::from)),
            ("request", request_id.clone()),
            ("error", error.clone()),
            ("older-than", age(older_than)),
            ("ended-before", age(ended_before)),
        ];
        conditions.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// The conditions as the audit trail has them, such as `state=failed queue=quick`.
impl fmt::Display for JobSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions: Vec<_> = self.conditions().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(if conditions.is_empty() { "all" } else { "" })?;
        f.write_str(&conditions.join(" "))
    }
}

/// A job of any account, without what its caller sent and got.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminJob)]
pub struct JobRow {
    /// The job's id.
    #[schema(value_type = Uuid)]
    pub id: JobId,
    /// The operation's name.
    pub operation: String,
    /// The queue's name.
    pub queue: String,
    /// The state.
    #[schema(value_type = akhar_client::JobState)]
    pub state: JobState,
    /// The number of claims so far.
    pub attempt: i32,
    /// How often the job may be claimed.
    pub max_attempts: i32,
    /// 1 if a caller waits for the job, 0 if it is asynchronous.
    pub priority: i16,
    /// The account that owns it.
    pub account_id: Uuid,
    /// The name of the account.
    pub account: Option<String>,
    /// The group that its request named.
    pub group: Option<String>,
    /// The id of the request that made the job.
    pub request_id: String,
    /// The worker that runs the job.
    pub worker: Option<String>,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// It is not claimed before this time.
    pub run_at: DateTime<Utc>,
    /// When it was last claimed.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Microseconds of decoding in the last attempt.
    pub decode_us: Option<i32>,
    /// Microseconds of inference in the last attempt.
    pub infer_us: Option<i32>,
    /// Seconds of its recording that the last attempt has transcribed so far.
    pub transcribed_s: Option<f64>,
    /// Why the last failed attempt failed.
    pub last_error: Option<String>,
    /// Why the input was rejected.
    pub rejection: Option<String>,
    /// The size of the upload, bytes.
    pub upload_bytes: Option<i64>,
    /// Whether the service failed to process the job, so that it can be retried.
    pub can_be_retried: bool,
}

impl JobRow {
    /// Why the job or its last failed attempt failed.
    pub fn reason(&self) -> Option<&str> {
        self.rejection.as_deref().or(self.last_error.as_deref())
    }
}

/// Where a page begins, in the order of its search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageStart {
    /// After this job, in the order of acceptance.
    Job(JobId),
    /// After this job, which ended at this time.
    Ended(DateTime<Utc>, JobId),
    /// After so many jobs.
    Nth(u32),
}

impl PageStart {
    /// The text that [`PageStart::parse`] reads.
    pub fn text(self) -> String {
        match self {
            Self::Job(id) => id.to_string(),
            Self::Ended(at, id) => format!("{}.{id}", at.timestamp_micros()),
            Self::Nth(n) => n.to_string(),
        }
    }

    /// The start that a page's link has. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((micros, id)) = text.split_once('.') {
            let at = DateTime::from_timestamp_micros(micros.parse().ok()?)?;
            return Some(Self::Ended(at, JobId(Uuid::try_parse(id).ok()?)));
        }
        Uuid::try_parse(text).map(|id| Self::Job(JobId(id))).or_else(|_| text.parse().map(Self::Nth)).ok()
    }
}

/// The jobs of a page.
#[derive(Debug)]
pub struct JobPage {
    /// The jobs.
    pub jobs: Vec<JobRow>,
    /// Where the next page begins. `None` if this is the last one.
    pub next: Option<PageStart>,
    /// How many rows were read, if that ended the page before it was full.
    pub n_read: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_page_is_read_from_its_text() {
        let id = JobId(Uuid::now_v7());
        let at = DateTime::from_timestamp_micros(1_700_000_000_123_456).unwrap();
        for start in [PageStart::Job(id), PageStart::Ended(at, id), PageStart::Nth(50)] {
            assert_eq!(PageStart::parse(&start.text()), Some(start));
        }
        for odd in ["", "x", "-1", "1.2", ".", "99999999999999999999.x"] {
            assert_eq!(PageStart::parse(odd), None, "{odd}");
        }
    }
}
