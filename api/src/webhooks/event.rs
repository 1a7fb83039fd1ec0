//! The body of a webhook: a job or a group that has ended comes in, the JSON document comes out.

use akhar_client::{GroupWebhookBody, GroupWebhookEvent, WebhookBody, WebhookEvent};
use akhar_jobs::{JobState, store::Group};
use akhar_requests::Job;
use serde_json::Error;

use crate::{groups::get::body as document_of_group, http::public_path::PublicPath, outcomes::document};

/// A body with more bytes is sent without the job's result. It is the most that the specification recommends.
const MAX_BYTES: usize = 20_000;

/// The body of a webhook.
pub(super) struct EventBody {
    pub(super) bytes: Vec<u8>,
    /// Whether it has all that its receiver can get of the job.
    pub(super) is_whole: bool,
}

/// The body about a job that has ended. `None` if it has not. `request_id` is the request that made the job.
pub(super) fn body(job: Job, request_id: &str, public: &PublicPath) -> Result<Option<EventBody>, Error> {
    let (Some(event), Some(timestamp)) = (event(job.state), job.ended_at) else { return Ok(None) };
    let id = job.id;
    let mut webhook = WebhookBody { event, timestamp, data: document::job_body(job, request_id) };
    let whole = serde_json::to_vec(&webhook)?;
    if whole.len() <= MAX_BYTES || webhook.data.result.is_none() {
        return Ok(Some(EventBody { bytes: whole, is_whole: true }));
    }
    webhook.data.result = None;
    webhook.data.probably_wrong = Vec::new(); // `warnings` names the first ones, and the response at the URL more
    webhook.data.result_url = Some(public.of(&document::result_path(id)));
    Ok(Some(EventBody { bytes: serde_json::to_vec(&webhook)?, is_whole: false }))
}

/// The body about a group, as it was when it ended.
pub(super) fn group_body(group: Group) -> Result<Vec<u8>, Error> {
    let timestamp = group.last_ended_at.unwrap_or(group.created_at);
    let data = document_of_group(group);
    serde_json::to_vec(&GroupWebhookBody { event: GroupWebhookEvent::GroupEnded, timestamp, data })
}

const fn event(state: JobState) -> Option<WebhookEvent> {
    match state {
        JobState::Succeeded => Some(WebhookEvent::JobSucceeded),
        JobState::Failed => Some(WebhookEvent::JobFailed),
        JobState::Cancelled => Some(WebhookEvent::JobCancelled),
        JobState::Queued | JobState::Running => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use akhar_jobs::JobId;
    use akhar_platform::public_url::PublicUrl;
    use akhar_requests::{Operation, Outcome};
    use chrono::Utc;
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;

    fn document(state: JobState, outcome: Option<Outcome>) -> Option<Value> {
        let url = PublicUrl::try_from("https://example.org/akhar".to_owned()).unwrap();
        let job = Job {
            id: JobId(Uuid::nil()),
            operation: Operation::SpeechRecognition,
            state,
            attempt: 1,
            created_at: Utc::now(),
            started_at: None,
            ended_at: Some(Utc::now()),
            outcome,
            timing: None,
            progress_s: None,
            is_kept_until_delivery: false,
            group: None,
            labels: BTreeMap::new(),
        };
        let EventBody { bytes, is_whole } = body(job, "a-request", &Some(&url).into()).unwrap()?;
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(is_whole, document["data"]["result_url"].is_null());
        Some(document)
    }

    fn transcribed(transcription: String) -> Outcome {
        Outcome::Transcription {
            transcription,
            translation: None,
            timestamps: None,
            words: None,
            segments: Vec::new(),
            seconds: 1.0,
            warnings: vec!["warning".to_owned()],
            probably_wrong: Vec::new(),
            confidence: None,
            language: None,
            subtitles: akhar_requests::SubtitleSize::default(),
        }
    }

    #[test]
    fn the_type_is_the_end_of_the_job() {
        let succeeded = document(JobState::Succeeded, Some(transcribed("ੳ".to_owned()))).unwrap();
        assert_eq!(succeeded["type"], "job.succeeded");
        assert_eq!(succeeded["timestamp"], succeeded["data"]["ended_at"]);
        assert_eq!(succeeded["data"]["result"]["transcription"], "ੳ");
        let failed = document(JobState::Failed, Some(Outcome::Failed)).unwrap();
        assert_eq!((&failed["type"], &failed["data"]["state"]), (&json!("job.failed"), &json!("failed")));
        assert_eq!(failed["data"]["error"]["request_id"], "a-request");
        assert_eq!(document(JobState::Cancelled, None).unwrap()["type"], "job.cancelled");
        assert_eq!(document(JobState::Running, None), None);
    }

    #[test]
    fn a_large_result_is_left_out() {
        let large = document(JobState::Succeeded, Some(transcribed("ੳ".repeat(MAX_BYTES / 3)))).unwrap();
        assert_eq!(large["data"]["result"], Value::Null);
        assert_eq!(large["data"]["result_url"], format!("/akhar/v1/jobs/{}/result", Uuid::nil()));
        assert_eq!(large["data"]["warnings"], json!(["warning"]));
        let small = document(JobState::Succeeded, Some(transcribed("ੳ".repeat(MAX_BYTES / 4)))).unwrap();
        assert!(small["data"].get("result_url").is_none() && small["data"]["result"].is_object());
    }
}
