//! The document about a job, with its result or error when it has ended.

use std::{borrow::Cow, collections::BTreeMap};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    handwriting::HandwritingBody, predictions::PredictionsBody, problem::ProblemBody,
    transcription::TranscriptionBody, translation::TranslationBody, warnings::ProbablyWrongBody,
};

/// A job as its caller sees it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Job))]
pub struct JobBody {
    /// The job's id, a `UUIDv7`.
    pub id: Uuid,
    /// The operation's name, as in its path.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "digit-recognition"))]
    pub operation: Cow<'static, str>,
    /// The job's state.
    pub state: JobState,
    /// The name of the group in which the job is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub group: Option<String>,
    /// The labels that the request gave the job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub labels: BTreeMap<String, String>,
    /// The number of times that a worker has started the job.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub attempt: i32,
    /// When the job was accepted.
    pub created_at: DateTime<Utc>,
    /// When a worker last started the job.
    pub started_at: Option<DateTime<Utc>>,
    /// When the job ended.
    pub ended_at: Option<DateTime<Utc>>,
    /// Seconds of the recording that are transcribed so far. Present only for speech recognition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0))]
    pub transcribed_s: Option<f64>,
    /// What is unusual about the recording, such as a last frame that is cut off, and which parts of the transcription
    /// are probably wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub warnings: Vec<String>,
    /// The parts of the recording of which a text is probably wrong, in order, first of the transcription. `warnings` has a
    /// sentence about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub probably_wrong: Vec<ProbablyWrongBody>,
    /// The expected share of the transcription's letters that are right, or the `confidence` of a translation, to three decimals.
    /// Present only if there are letters, and if the model tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0, maximum = 1, example = 0.94))]
    pub confidence: Option<f64>,
    /// The operation's response as a JSON document. Present only if the job has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub result: Option<JobResultBody>,
    /// The path of the operation's response. Present only in a webhook, in place of a `result` that is too large for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub result_url: Option<String>,
    /// The error document. Present only if the job has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub error: Option<ProblemBody>,
}

/// A list of jobs.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Jobs))]
pub struct JobsBody {
    /// The jobs, newest first, without their results.
    pub jobs: Vec<JobBody>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub next: Option<Uuid>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum JobState {
    /// Waiting for a worker.
    Queued,
    /// Processed by a worker.
    Running,
    /// Ended with a result.
    Succeeded,
    /// Ended with an error.
    Failed,
    /// Cancelled by its caller before it ended.
    Cancelled,
}

/// The operation's response, as a JSON document.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = JobResult))]
pub enum JobResultBody {
    /// The response of alphabet or digit recognition.
    Predictions(PredictionsBody),
    /// The response of the handwriting generator.
    Handwriting(HandwritingBody),
    /// The response of speech recognition.
    Transcription(TranscriptionBody),
    /// The response of translation.
    Translation(TranslationBody),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_parsed_job_is_written_unchanged() {
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
            (json!({"translation": "Hello", "language": "pa", "confidence": 0.9}), |r| {
                matches!(r, JobResultBody::Translation(_))
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
