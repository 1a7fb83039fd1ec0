//! Jobs as the queue stores them, and as the api and the worker read them.

use akhar_jobs::{Artifact, End, Part, StoredOutcome, store::Claimed};

use crate::{MediaType, Operation, Outcome, Parameters, Segment, strokes};

/// A job whose outcome can be read.
pub type Job = akhar_jobs::Job<Operation, Outcome>;

/// The operations whose outcomes have artifacts.
pub const WITH_ARTIFACTS: &[&str] = &[Operation::HandwritingGenerator.name()];

const STROKES: &str = "strokes";
/// JSON text that has no shorter form. Earlier versions stored all strokes so.
const POINTS: &str = "points";
const IMAGE: &str = "image";

/// A stored value that this version does not know, such as an operation of a newer version.
#[derive(Debug, thiserror::Error)]
#[error("unknown {what} {value:?} in the database; a newer version of akhar may have written it")]
pub struct Unreadable {
    what: &'static str,
    value: String,
}

impl Unreadable {
    fn new(what: &'static str, value: impl Into<String>) -> Self {
        Self { what, value: value.into() }
    }
}

/// Reads a job.
pub fn job(stored: akhar_jobs::Job) -> Result<Job, Unreadable> {
    let operation = Operation::ALL.into_iter().find(|operation| operation.name() == stored.operation);
    Ok(Job {
        operation: operation.ok_or_else(|| Unreadable::new("operation", stored.operation))?,
        outcome: stored.outcome.map(outcome).transpose()?,
        id: stored.id,
        state: stored.state,
        attempt: stored.attempt,
        created_at: stored.created_at,
        started_at: stored.started_at,
        ended_at: stored.ended_at,
        timing: stored.timing,
        progress_s: stored.progress_s,
        is_kept_until_delivery: stored.is_kept_until_delivery,
        group: stored.group,
        labels: stored.labels,
    })
}

/// Reads the parameters of a claimed job, and the media type of its upload, if it has one.
pub fn claimed(job: &Claimed) -> Result<(Parameters, Option<MediaType>), Unreadable> {
    let parameters = serde_json::from_str(job.parameters.get());
    let parameters = parameters.map_err(|error| Unreadable::new("parameters", error.to_string()))?;
    let media_type = job.upload.as_ref().map(|upload| {
        let name = &*upload.media_type;
        MediaType::from_name(name).ok_or_else(|| Unreadable::new("media type", name))
    });
    Ok((parameters, media_type.transpose()?))
}

fn outcome(stored: StoredOutcome) -> Result<Outcome, Unreadable> {
    let outcome = serde_json::from_str(stored.document.get());
    let mut outcome = outcome.map_err(|error| Unreadable::new("outcome", error.to_string()))?;
    if let Outcome::Handwriting { points, image, .. } = &mut outcome {
        for Artifact { name, bytes } in stored.artifacts {
            match name.as_str() {
                STROKES => {
                    *points = strokes::read(&bytes).ok_or_else(|| Unreadable::new("artifact", name))?;
                }
                POINTS => *points = bytes,
                IMAGE => *image = Some(bytes),
                _ => return Err(Unreadable::new("artifact", name)),
            }
        }
    }
    Ok(outcome)
}

impl TryFrom<Outcome> for End {
    type Error = serde_json::Error;

    fn try_from(outcome: Outcome) -> serde_json::Result<Self> {
        let document = serde_json::value::to_raw_value(&outcome)?;
        let stored = |artifacts| StoredOutcome { document, artifacts };
        let artifact = |name: &str, bytes| Artifact { name: name.to_owned(), bytes };
        Ok(match outcome {
            Outcome::Handwriting { points, image, .. } => {
                let points = match strokes::store(&points) {
                    Some(strokes) => artifact(STROKES, strokes),
                    None => artifact(POINTS, points),
                };
                let image = image.map(|image| artifact(IMAGE, image));
                Self::Answered(stored([points].into_iter().chain(image).collect()), None)
            }
            Outcome::Predictions { .. } | Outcome::Translation { .. } => {
                Self::Answered(stored(Vec::new()), None)
            }
            Outcome::Transcription { seconds, .. } => Self::Answered(stored(Vec::new()), Some(seconds)),
            Outcome::Rejected { .. } => Self::Rejected(stored(Vec::new())),
            Outcome::Failed => Self::Failed,
        })
    }
}

impl From<Part> for Segment {
    fn from(Part { start_s, end_s, text, channel }: Part) -> Self {
        Self { start: start_s, end: end_s, transcription: text, translation: None, confidence: None, channel }
    }
}

impl From<Segment> for Part {
    fn from(Segment { start, end, transcription, channel, .. }: Segment) -> Self {
        Self { start_s: start, end_s: end, text: transcription, channel }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use akhar_jobs::{Fence, JobId, JobUpload, UploadContent};

    use super::*;
    use crate::SPEECH;

    #[test]
    fn a_claim_that_a_newer_version_has_written_is_unreadable() {
        let claimed = |parameters: &str, media_type: &str| Claimed {
            fence: Fence { job: JobId(uuid::Uuid::nil()), attempt: 1 },
            queue: SPEECH,
            is_last_attempt: false,
            is_suspect: false,
            account_id: uuid::Uuid::nil(),
            parameters: serde_json::from_str(parameters).unwrap(),
            upload: Some(JobUpload {
                media_type: media_type.to_owned(),
                content: UploadContent::Row(bytes::Bytes::new()),
            }),
            recording_url: None,
            request_id: String::new(),
            is_asynchronous: false,
            traceparent: None,
            has_webhook: false,
            waited: Duration::ZERO,
        };
        let known = r#"{"operation":"digit-recognition","top-k":3}"#;
        assert_eq!(super::claimed(&claimed(known, "image/png")).unwrap().1, Some(MediaType::Png));
        for (parameters, media_type) in [(known, "audio/new"), (r#"{"operation":"new"}"#, "image/png")] {
            let error = super::claimed(&claimed(parameters, media_type)).unwrap_err().to_string();
            assert!(error.contains("a newer version of akhar may have written it"), "{error}");
        }
    }
}
