//! The jobs of a page, and where it begins.

use akhar_jobs::{JobId, JobState};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

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
    /// Seconds since the last progress of a job that runs, or since its claim if there was none.
    pub progress_age_s: Option<f64>,
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
    /// How long a job that runs has not progressed, seconds, if that is a minute or more.
    pub fn stalled_s(&self) -> Option<f64> {
        self.progress_age_s.filter(|age_s| *age_s >= 60.0)
    }

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
