//! What operators see and change: accounts, keys, queues, workers, jobs of all accounts, and the audit trail.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::job::JobState;

/// An account, with its quotas and its jobs that have not ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminAccount))]
pub struct AdminAccountBody {
    /// Its id.
    pub id: Uuid,
    /// The name that the operator gave it.
    pub name: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The number of its keys that work.
    pub n_keys: i64,
    /// Requests in a minute, in each api process.
    pub rpm: Option<i32>,
    /// Jobs that may wait in each queue.
    pub max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC).
    pub audio_minutes: Option<i32>,
    /// Megabytes of uploads and results that may be stored. `null` for as many as the server allows.
    #[serde(default)]
    pub stored_mb: Option<i32>,
    /// Seconds for which ended jobs are kept if a request does not say so.
    pub retain_s: Option<i32>,
    /// The most seconds for which a request may have its job kept.
    pub max_retain_s: Option<i32>,
    /// Where the ends of its jobs are announced if a request does not say so.
    pub webhook_url: Option<String>,
    /// The number of its jobs that wait: 1,001 if there are more than 1,000.
    pub queued: i64,
    /// The number of its jobs that run.
    pub running: i64,
}

/// A page of accounts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminAccounts))]
pub struct AdminAccountsBody {
    /// The accounts, the newest first.
    pub accounts: Vec<AdminAccountBody>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<Uuid>,
}

/// A key, with the quotas and the webhook of its account. The key itself is not known.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminKey))]
pub struct AdminKeyBody {
    /// The key's id.
    pub id: Uuid,
    /// The 8 characters after `ak_`.
    pub prefix: String,
    /// The name that the operator gave it.
    pub name: String,
    /// The account that it belongs to.
    pub account_id: Uuid,
    /// What it may do as an operator's: `view`, `operate` or `admin`. `null` if it is only a caller's.
    pub role: Option<String>,
    /// `works`, `expired` or `revoked`.
    pub state: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When a request last had it, to a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it stops working. `null` if it works until it is revoked.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// Whether rotation made another key in its place.
    pub is_replaced: bool,
    /// Requests in a minute, in each api process.
    pub rpm: Option<i32>,
    /// Jobs that may wait in each queue.
    pub max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC).
    pub audio_minutes: Option<i32>,
    /// Megabytes of uploads and results that may be stored. `null` for as many as the server allows.
    #[serde(default)]
    pub stored_mb: Option<i32>,
    /// Seconds for which ended jobs are kept if a request does not say so.
    pub retain_s: Option<i32>,
    /// The most seconds for which a request may have its job kept.
    pub max_retain_s: Option<i32>,
    /// Where the ends of the account's jobs are announced if a request does not say so.
    pub webhook_url: Option<String>,
}

/// A page of keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminKeys))]
pub struct AdminKeysBody {
    /// The keys, the newest first.
    pub keys: Vec<AdminKeyBody>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<Uuid>,
}

/// A new key.
#[derive(Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminNewKey))]
pub struct AdminNewKeyBody {
    /// The key. This is its only copy.
    pub key: String,
    /// The 8 characters after `ak_`, by which it is named from now on.
    pub prefix: String,
}

impl fmt::Debug for AdminNewKeyBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdminNewKeyBody").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// A queue.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminQueue))]
pub struct AdminQueueBody {
    /// `quick` or `speech`.
    pub queue: String,
    /// `open`, `paused` or `draining`.
    pub mode: String,
    /// When an operator last set the mode.
    pub changed_at: Option<DateTime<Utc>>,
    /// The number of jobs in each state.
    pub jobs: AdminQueueJobsBody,
}

/// The number of jobs of a queue in each state.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminQueueJobs))]
#[expect(missing_docs, reason = "each is a state")]
pub struct AdminQueueJobsBody {
    pub queued: i64,
    pub running: i64,
    pub succeeded: i64,
    pub failed: i64,
    pub cancelled: i64,
}

/// All queues.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminQueues))]
pub struct AdminQueuesBody {
    /// The queues.
    pub queues: Vec<AdminQueueBody>,
}

/// What happens in a queue now.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminQueueLoad))]
pub struct AdminQueueLoadBody {
    /// `quick` or `speech`.
    pub queue: String,
    /// `open`, `paused` or `draining`.
    pub mode: String,
    /// The number of jobs that wait: 10,001 if there are more.
    pub queued: i64,
    /// The number of jobs that run: 10,001 if there are more.
    pub running: i64,
    /// How long the oldest waiting job has waited, seconds.
    pub oldest_s: Option<f64>,
    /// How many jobs ended in a minute, by the last minute or a shorter time.
    pub ended_per_minute: f64,
    /// How many of them failed.
    pub failed_per_minute: f64,
}

/// What happens now.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminLoad))]
pub struct AdminLoadBody {
    /// The queues.
    pub queues: Vec<AdminQueueLoadBody>,
    /// The workers.
    pub workers: Vec<AdminWorkerBody>,
}

/// A worker process.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminWorker))]
pub struct AdminWorkerBody {
    /// Its name.
    pub name: String,
    /// `works`, `draining`, `drained` or `silent`.
    pub state: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// The time of its last heartbeat.
    pub seen_at: DateTime<Utc>,
    /// Whether its heartbeats come.
    pub is_alive: bool,
    /// Whether an operator decided that it claims no more jobs.
    pub is_draining: bool,
    /// The number of jobs that it runs.
    pub n_jobs: i64,
}

/// All workers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminWorkers))]
pub struct AdminWorkersBody {
    /// The workers.
    pub workers: Vec<AdminWorkerBody>,
}

/// A model that workers serve.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminModel))]
pub struct AdminModelBody {
    /// The operation in its manifest.
    pub operation: String,
    /// The language for which it is chosen. `null` if the operation has one model for all.
    pub language: Option<String>,
    /// Its id.
    pub id: String,
    /// Its version: the start of the SHA-256 of the hashes of its files.
    pub version: String,
    /// The names of the workers that serve it.
    pub workers: Vec<String>,
    /// When the first of them loaded it.
    pub since: DateTime<Utc>,
    /// Whether other workers serve the same operation and language with another model or version.
    pub is_mixed: bool,
}

/// The models that workers serve.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminModels))]
pub struct AdminModelsBody {
    /// The models, by operation and language.
    pub models: Vec<AdminModelBody>,
}

/// A job of any account, without what its caller sent and got.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminJob))]
pub struct AdminJobBody {
    /// The job's id.
    pub id: Uuid,
    /// The operation's name.
    pub operation: String,
    /// The queue's name.
    pub queue: String,
    /// The state.
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

/// A page of jobs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminJobs))]
pub struct AdminJobsBody {
    /// The jobs. It may have none although there is a next page: a page reads a limited number of jobs.
    pub jobs: Vec<AdminJobBody>,
    /// The value of `from` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<String>,
}

/// An attempt that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminAttempt))]
pub struct AdminAttemptBody {
    /// The number of the claim.
    pub attempt: i32,
    /// The worker that had claimed the job.
    pub worker: Option<String>,
    /// When the job was claimed.
    pub started_at: Option<DateTime<Utc>>,
    /// When the failure was recorded.
    pub ended_at: DateTime<Utc>,
    /// Why it failed.
    pub error: String,
}

/// A job with the attempts that failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminJobLife))]
pub struct AdminJobLifeBody {
    /// The job.
    pub job: AdminJobBody,
    /// Its failed attempts, in order.
    pub failed_attempts: Vec<AdminAttemptBody>,
}

/// Jobs of one account, operation and state.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminJobGroup))]
pub struct AdminJobGroupBody {
    /// The name of the account.
    pub account: Option<String>,
    /// The operation's name.
    pub operation: String,
    /// The state.
    pub state: JobState,
    /// The number of jobs.
    pub n_jobs: i64,
    /// The age of the oldest of them, seconds.
    pub oldest_s: f64,
}

/// The numbers of jobs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminJobCounts))]
pub struct AdminJobCountsBody {
    /// The jobs by account, operation and state, the most numerous first.
    pub groups: Vec<AdminJobGroupBody>,
}

/// What a change of jobs did.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminChanged))]
pub struct AdminChangedBody {
    /// How many jobs were changed.
    pub n_changed: usize,
}

/// A webhook that announces the end of a job or a group.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminWebhook))]
pub struct AdminWebhookBody {
    /// The id of the webhook, which is that of the job, or of the end of the group.
    pub id: Uuid,
    /// The group that has ended. `null` if a job has.
    pub group: Option<String>,
    /// The account that owns the job or the group.
    pub account_id: Uuid,
    /// Where it is sent.
    pub url: String,
    /// `pending`, `delivered` or `dead`.
    pub state: String,
    /// The number of attempts so far.
    pub attempts: i32,
    /// When the job or the group ended.
    pub created_at: DateTime<Utc>,
    /// When the next attempt is due.
    pub due_at: Option<DateTime<Utc>>,
    /// When it was delivered or given up.
    pub ended_at: Option<DateTime<Utc>>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

/// A page of webhooks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminWebhooks))]
pub struct AdminWebhooksBody {
    /// The webhooks, the newest first.
    pub webhooks: Vec<AdminWebhookBody>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<Uuid>,
}

/// The webhooks that are sent again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminRedelivered))]
pub struct AdminRedeliveredBody {
    /// Their number.
    pub n_redelivered: usize,
    /// The ids in the request that no webhook has.
    pub unknown: Vec<Uuid>,
}

/// A change that an operator made.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminAuditRow))]
pub struct AdminAuditRowBody {
    /// The id of the row.
    pub id: Uuid,
    /// When the change began.
    pub at: DateTime<Utc>,
    /// What was done, such as `queue.pause`.
    pub action: String,
    /// On what.
    pub target: String,
    /// How many of them were changed.
    pub n_changed: i64,
    /// The name of the operator's key, or the user who ran the command.
    pub actor: String,
    /// The prefix of that key. `null` for a command.
    pub key_prefix: Option<String>,
    /// Where the request came from. `null` for a command.
    pub address: Option<String>,
}

/// A page of the audit trail.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AdminAudit))]
pub struct AdminAuditBody {
    /// The changes, the newest first.
    pub rows: Vec<AdminAuditRowBody>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<Uuid>,
}
