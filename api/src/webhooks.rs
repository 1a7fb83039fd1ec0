//! The bodies of webhooks: a job or a group that has ended comes in, the JSON document comes out.

use akhar_client::{GroupWebhookBody, GroupWebhookEvent, WebhookBody, WebhookEvent};
use akhar_jobs::{
    JobId, JobState,
    store::{self, Group},
};
use akhar_requests::{Job, QUEUES, WITH_ARTIFACTS};
use akhar_webhooks::{Bodies, Body, Deliver, Failure};
use serde_json::Error;
use uuid::Uuid;

use crate::{
    app::App, groups::get::body as document_of_group, http::public_path::PublicPath, outcomes::document,
    waiting::deliveries::Delivery,
};

/// A body with more bytes is sent without the job's result. It is the most that the specification recommends.
const MAX_BYTES: usize = 20_000;

/// Sends webhooks until the process stops.
pub(crate) async fn deliver(app: App) {
    let deliver = Deliver {
        db: app.database.pool.clone(),
        queues: &QUEUES,
        rules: app.url_rules.clone(),
        due: app.webhooks_due.clone(),
        tasks: app.tasks.clone(),
        draining: app.shutdown.soft.clone(),
        bodies: app,
    };
    akhar_webhooks::deliver(deliver).await;
}

impl Bodies for App {
    async fn of_job(&self, job: JobId, account_id: Uuid, request_id: &str) -> Result<Body, Failure> {
        let job = store::find(&self.database.pool, job, account_id, WITH_ARTIFACTS).await?;
        let job = job.ok_or_else(|| Failure::Never("the job does not exist any more".to_owned()))?;
        // Another api may be of the version that can read it.
        let job = akhar_requests::job(job).map_err(|error| sqlx::Error::Decode(error.into()))?;
        let of_outcome = self.deliveries.of(&job);
        let EventBody { bytes, is_whole } =
            body(job, request_id, &self.public_path())
                .map_err(unwritable)?
                .ok_or_else(|| Failure::Never("the job has not ended".to_owned()))?;
        // A job that is kept until its outcome is delivered is deleted, if the body has the whole outcome.
        let of_outcome = of_outcome.filter(|_| is_whole);
        Ok(Body { bytes, delivered: Box::new(|| of_outcome.into_iter().for_each(Delivery::complete)) })
    }

    fn of_group(&self, group: &Group) -> Result<Body, Failure> {
        let bytes = group_body(group.clone()).map_err(unwritable)?;
        Ok(Body { bytes, delivered: Box::new(|| ()) })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes the value")]
fn unwritable(error: Error) -> Failure {
    Failure::Never(format!("the body cannot be written: {error}"))
}

/// The body of a webhook.
struct EventBody {
    bytes: Vec<u8>,
    /// Whether it has all that its receiver can get of the job.
    is_whole: bool,
}

/// The body about a job that has ended. `None` if it has not. `request_id` is the request that made the job.
fn body(job: Job, request_id: &str, public: &PublicPath) -> Result<Option<EventBody>, Error> {
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
fn group_body(group: Group) -> Result<Vec<u8>, Error> {
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
