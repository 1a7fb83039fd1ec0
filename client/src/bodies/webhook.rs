//! The body of a webhook, which announces the end of a job.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::job::JobBody;

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
