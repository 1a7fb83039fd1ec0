//! A job: one accepted request, from its acceptance to its end.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::{
    group::GroupName,
    outcome::{StoredOutcome, Timing},
    queue::Queue,
    recording_url::RecordingUrl,
    upload::JobUpload,
};

/// A job's id: a UUIDv7, so ids sort by the time of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, sqlx::Type)]
#[sqlx(transparent)]
#[serde(transparent)]
pub struct JobId(pub Uuid);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Uploads larger than this are on disk when `submit` returns, so that the api need not keep them in memory. Waiting for
/// the disk takes about a millisecond, which matters less the larger the upload is.
const MAX_UNFLUSHED_BYTES: usize = 64 * 1024;

/// What is to be done. Only its worker reads the parameters.
#[derive(Debug, Clone)]
pub struct Work {
    /// The queue that the job waits in.
    pub queue: Queue,
    /// The name of the operation, by which jobs are listed and counted.
    pub operation: &'static str,
    /// JSON.
    pub parameters: Box<RawValue>,
}

/// A job about to be submitted.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Chosen by the api, so that it can wait for the job's end before it submits the job.
    pub id: JobId,
    /// The account that owns it.
    pub account_id: Uuid,
    /// What is to be done.
    pub work: Work,
    /// The caller's file, if the work needs one.
    pub upload: Option<JobUpload>,
    /// The id of the upload, if the caller has written it to the bucket. It can be that of one job only.
    pub reserved_upload: Option<Uuid>,
    /// Where a worker fetches the recording, if the caller has not sent it.
    pub recording_url: Option<RecordingUrl>,
    /// The request's id, which every log line about the job contains.
    pub request_id: String,
    /// The W3C trace context (`traceparent`) of the request.
    pub traceparent: Option<String>,
    /// Whether the caller gets a 202 at once instead of waiting for the outcome. An asynchronous job has a lower
    /// priority than a job that a caller waits for. It is flushed to disk before `submit` returns, because its caller
    /// learns of it before it ends.
    pub asynchronous: bool,
    /// Where the end of the job is announced. `None` if nowhere. Such a job is flushed to disk like an asynchronous one,
    /// because its receiver learns of its end.
    pub webhook_url: Option<Arc<str>>,
    /// How long the job is kept after its end, seconds; 0 until its outcome is delivered. `None` for as long as the server
    /// keeps jobs.
    pub retain_s: Option<i32>,
    /// The group of the account's jobs in which it is counted.
    pub group: Option<GroupName>,
    /// Where the end of the group is announced, from now on. `None` changes nothing.
    pub group_webhook_url: Option<Arc<str>>,
    /// Its labels, by their keys.
    pub labels: BTreeMap<String, String>,
    /// How many jobs of the account may wait in the queue, this one included. `None` for as many as its share.
    pub max_queued: Option<i64>,
}

impl NewJob {
    /// The queue that the job waits in.
    pub const fn queue(&self) -> Queue {
        self.work.queue
    }

    /// 1 if a caller waits for the job, 0 if it is asynchronous.
    pub(crate) const fn priority(&self) -> i16 {
        if self.asynchronous { 0 } else { 1 }
    }

    /// The bytes of the upload that are written to the job's row.
    pub(crate) fn n_row_bytes(&self) -> usize {
        self.upload.as_ref().and_then(JobUpload::row).map_or(0, Bytes::len)
    }

    /// Whether the job is on disk when `submit` returns. If not, a crash of Postgres can lose it, and whoever waits for
    /// it must keep it and submit it again. A job whose upload is outside the database is always on disk, because its
    /// object counts as left behind while no row names it.
    pub fn is_flushed(&self) -> bool {
        self.asynchronous
            || self.webhook_url.is_some()
            || self.n_row_bytes() > MAX_UNFLUSHED_BYTES
            || self.upload.as_ref().and_then(JobUpload::object).is_some()
    }
}

/// A fencing token: identifies one claim of one job. Every write of an attempt carries it, so that an attempt whose
/// claim is no longer current changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, sqlx::FromRow)]
pub struct Fence {
    /// The job.
    pub job: JobId,
    /// The number of the claim, starting at 1.
    pub attempt: i32,
}

/// The state of a job. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Waiting for a worker.
    Queued,
    /// Claimed by a worker.
    Running,
    /// Ended with a result.
    Succeeded,
    /// Ended without a result: the input was rejected, or the service failed.
    Failed,
    /// Cancelled by its caller before it ended.
    Cancelled,
}

impl JobState {
    /// Every state, in the order of a job's life.
    pub const ALL: [Self; 5] = [Self::Queued, Self::Running, Self::Succeeded, Self::Failed, Self::Cancelled];

    /// The name in rows and in responses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether the job has ended. Its state does not change after that, unless an operator retries a job that failed.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// The part of a job that its caller may see. As it is stored, its operation is a name and its outcome is not read.
#[derive(Debug, Clone)]
pub struct Job<Op = String, Out = StoredOutcome> {
    /// The job's id.
    pub id: JobId,
    /// The operation.
    pub operation: Op,
    /// The state.
    pub state: JobState,
    /// The number of claims so far.
    pub attempt: i32,
    /// When the job was accepted.
    pub created_at: DateTime<Utc>,
    /// When the job was last claimed.
    pub started_at: Option<DateTime<Utc>>,
    /// When the job ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// The outcome. `None` until the job ends, and for a cancelled job.
    pub outcome: Option<Out>,
    /// The durations of the last attempt.
    pub timing: Option<Timing>,
    /// Seconds of the input that the last attempt has processed so far. `None` if its work is not followed.
    pub progress_s: Option<f64>,
    /// Whether the job is to be deleted when its outcome is delivered.
    pub is_kept_until_delivery: bool,
    /// The group in which it is counted.
    pub group: Option<GroupName>,
    /// Its labels, by their keys.
    pub labels: BTreeMap<String, String>,
}
