//! A job as its caller sees it, with its result or error once it has ended.

use std::borrow::Cow;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    handwriting::{HandwritingBody, Png},
    predictions::PredictionsBody,
    problem::ProblemBody,
    transcription::TranscriptionBody,
};

/// A job as its caller sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Job))]
pub struct JobBody {
    /// Its id, a `UUIDv7`.
    pub id: Uuid,
    /// The operation, as its path names it.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "digit-recognition"))]
    pub operation: Cow<'static, str>,
    /// Its state.
    pub state: JobState,
    /// How often a worker has started it.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub attempt: i32,
    /// When it was accepted.
    pub created_at: DateTime<Utc>,
    /// When a worker last started it.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Seconds of the recording transcribed so far; only for speech recognition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0))]
    pub transcribed_s: Option<f64>,
    /// What is unusual about the recording, such as a last frame that is cut off.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub warnings: Vec<String>,
    /// The operation's own response as a document, once the job has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub result: Option<JobResultBody>,
    /// What was wrong, once the job has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub error: Option<ProblemBody>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum JobState {
    /// Waiting for a worker.
    Queued,
    /// Being worked on.
    Running,
    /// Ended with a result.
    Succeeded,
    /// Ended with an error.
    Failed,
    /// Cancelled by its caller before it started.
    Cancelled,
}

/// The operation's own response, as a document.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = JobResult))]
pub enum JobResultBody {
    /// Of a recognition.
    Predictions(PredictionsBody),
    /// Of the handwriting generator.
    Handwriting(HandwritingBody),
    /// Of a speech recognition.
    Transcription(TranscriptionBody),
}

impl JobResultBody {
    /// The picture, where the result has one.
    pub const fn picture(&self) -> Option<&Png> {
        match self {
            Self::Handwriting(handwriting) => handwriting.image.as_ref(),
            Self::Predictions(_) | Self::Transcription(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_job_reads_back_as_it_was_written() {
        for (result, is_expected) in [
            (
                json!({"predictions": [{"label": "੫", "score": 0.5}]}),
                (|r| matches!(r, JobResultBody::Predictions(_))) as fn(&JobResultBody) -> bool,
            ),
            (json!({"points": {"x": [[1.0, 2.0]], "y": [[1.0, 2.0]]}}), |r| {
                matches!(r, JobResultBody::Handwriting(_))
            }),
            (json!({"transcription": "", "timestamps": []}), |r| {
                matches!(r, JobResultBody::Transcription(_))
            }),
        ] {
            let job = json!({
                "id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition", "state": "succeeded",
                "attempt": 1, "created_at": "2026-11-21T09:00:00Z", "started_at": "2026-11-21T09:00:00.002Z",
                "ended_at": "2026-11-21T09:00:00.006Z", "result": result,
            });
            let read: JobBody = serde_json::from_value(job.clone()).unwrap();
            assert!(read.result.as_ref().is_some_and(is_expected), "{read:?}");
            assert_eq!(serde_json::to_value(&read).unwrap(), job);
        }
    }
}
