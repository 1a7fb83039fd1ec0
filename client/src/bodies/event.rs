//! The events of a job. The data of a `segment` is a [`SegmentBody`](super::transcription::SegmentBody), and that of `done`
//! is a [`JobBody`](super::job::JobBody).

use serde::{Deserialize, Serialize};

use super::job::JobState;

/// The data of a `state` event: the state of a job that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = StateEvent))]
pub struct StateEventBody {
    /// The state.
    pub state: JobState,
    /// The number of times that a worker has started the job.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub attempt: i32,
    /// The job's place in its queue: 1 if it is the next one. Present only while it is queued, and not if 10,000 jobs are
    /// before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 1))]
    pub place: Option<i64>,
}

/// The data of a `progress` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ProgressEvent))]
pub struct ProgressEventBody {
    /// Seconds of the recording that are transcribed so far.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub transcribed_s: f64,
}
