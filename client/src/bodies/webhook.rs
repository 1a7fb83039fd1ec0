//! The bodies of webhooks, which announce the end of a job or of a group.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{group::GroupBody, job::JobBody};

/// The end of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Webhook))]
pub struct WebhookBody {
    /// How the job has ended.
    #[serde(rename = "type")]
    pub event: WebhookEvent,
    /// When the job has ended.
    pub timestamp: DateTime<Utc>,
    /// The job, as `GET /v1/jobs/{id}` returns it. If the whole body would have more than 20,000 bytes, `result` is left
    /// out and `result_url` says where it is.
    pub data: JobBody,
}

/// How a job has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum WebhookEvent {
    /// With a result.
    #[serde(rename = "job.succeeded")]
    JobSucceeded,
    /// With an error.
    #[serde(rename = "job.failed")]
    JobFailed,
    /// Cancelled before it ended.
    #[serde(rename = "job.cancelled")]
    JobCancelled,
}

/// The end of a group.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = GroupWebhook))]
pub struct GroupWebhookBody {
    /// What has happened.
    #[serde(rename = "type")]
    pub event: GroupWebhookEvent,
    /// When the last job of the group has ended.
    pub timestamp: DateTime<Utc>,
    /// The group at that time.
    pub data: GroupBody,
}

/// What has happened to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum GroupWebhookEvent {
    /// None of its jobs waits or runs any more.
    #[serde(rename = "group.ended")]
    GroupEnded,
}
