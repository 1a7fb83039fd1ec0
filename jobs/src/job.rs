//! A job: what a caller asked for, from acceptance to its end.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Operation, Outcome, Parameters, Timing, Upload};

/// A job's identity: a UUIDv7, so ids sort by the time of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, sqlx::Type)]
#[sqlx(transparent)]
#[serde(transparent)]
pub struct JobId(pub Uuid);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A job about to be submitted.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Made by the api, so that it can wait before the job exists.
    pub id: JobId,
    /// The account that owns it.
    pub account_id: Uuid,
    /// What to do.
    pub parameters: Parameters,
    /// What to do it on.
    pub upload: Option<Upload>,
    /// The request's id, for every log line about the job.
    pub request_id: String,
    /// W3C trace context of the request.
    pub traceparent: Option<String>,
    /// Nobody holds a connection open for it: it yields to jobs somebody waits for, and is told to its caller
    /// before it ends, so it is flushed to disk before `submit` returns.
    pub asynchronous: bool,
}

/// One claim of one job. Every write of an attempt names it, so that a late attempt changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The job.
    pub job: JobId,
    /// The number of the claim, from 1.
    pub attempt: i32,
}

/// Where a job is in its life. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Waiting for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// Ended with an answer.
    Succeeded,
    /// Ended without one: the input was refused or the service failed.
    Failed,
    /// Ended before it started, by its caller.
    Cancelled,
}

impl JobState {
    /// The stored and public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Nothing changes after this.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// A job as its caller may see it.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its identity.
    pub id: JobId,
    /// What it does.
    pub operation: Operation,
    /// Where it is.
    pub state: JobState,
    /// Claims so far.
    pub attempt: i32,
    /// Acceptance.
    pub created_at: DateTime<Utc>,
    /// Last claim.
    pub started_at: Option<DateTime<Utc>>,
    /// End.
    pub ended_at: Option<DateTime<Utc>>,
    /// How it ended; none while it has not, and none when cancelled.
    pub outcome: Option<Outcome>,
    /// What its last attempt took.
    pub timing: Option<Timing>,
    /// Seconds of its recording that are transcribed, while and after it runs.
    pub transcribed_s: Option<f64>,
}
