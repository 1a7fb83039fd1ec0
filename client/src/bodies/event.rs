//! The events of a job and of a group. The data of a `segment` is a [`SegmentBody`](super::transcription::SegmentBody), and that of
//! `done` is a [`JobBody`](super::job::JobBody). That of a group's events is a [`GroupBody`](super::group::GroupBody).

use serde::{Deserialize, Serialize};

use super::job::JobState;

/// An event of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = JobEvent))]
pub struct JobEventBody {
    /// What has happened.
    pub event: JobEventName,
    /// The number of the attempt, a point and the number of segments so far; `end` for the last event.
    #[cfg_attr(feature = "schema", schema(pattern = "^(end|[0-9]{1,9}\\.[0-9]{1,9})$", example = "1.5"))]
    pub id: String,
    /// JSON: a `StateEvent`, `ProgressEvent`, `Segment` or `Job`.
    #[cfg_attr(feature = "schema", schema(schema_with = data))]
    pub data: String,
    /// Milliseconds after which to connect again if the stream breaks. Present only in the first event.
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0))]
    pub retry: Option<u32>,
}

/// The schema of the data, which is JSON in a text.
#[cfg(feature = "schema")]
fn data() -> utoipa::openapi::schema::Object {
    use serde_json::{Value, json};
    use utoipa::openapi::{
        extensions::Extensions,
        schema::{ObjectBuilder, Type},
    };
    let content: Vec<Value> = ["StateEvent", "ProgressEvent", "Segment", "Job"]
        .map(|name| json!({"$ref": format!("#/components/schemas/{name}")}))
        .into();
    ObjectBuilder::new()
        .schema_type(Type::String)
        .content_media_type("application/json")
        .examples([r#"{"start":0.24,"end":1.36,"transcription":"ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}"#])
        // The library has no member for the schema of the content.
        .extensions(Some(Extensions::from_iter([("contentSchema", json!({"anyOf": content}))])))
        .build()
}

/// What has happened to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EventName, rename_all = "lowercase"))]
pub enum JobEventName {
    /// Its state or its place in the queue has changed.
    State,
    /// More of the recording is transcribed.
    Progress,
    /// A segment is finished.
    Segment,
    /// The job has ended.
    Done,
}

impl JobEventName {
    /// The name in the stream.
    pub const fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Progress => "progress",
            Self::Segment => "segment",
            Self::Done => "done",
        }
    }
}

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

/// An event of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = GroupEvent))]
pub struct GroupEventBody {
    /// What has happened.
    pub event: GroupEventName,
    /// The numbers of queued, running, succeeded, failed and cancelled jobs.
    #[cfg_attr(
        feature = "schema",
        schema(pattern = "^[0-9]{1,18}(\\.[0-9]{1,18}){4}$", example = "9120.4.873.3.0")
    )]
    pub id: String,
    /// JSON: a `Group`.
    #[cfg_attr(
        feature = "schema",
        schema(
            example = r#"{"name":"calls-2026-11-26","has_ended":false,"queued":9120,"running":4,"succeeded":873,"failed":3,"cancelled":0,"created_at":"2026-11-26T09:00:00Z","last_ended_at":"2026-11-26T09:14:21.120Z"}"#
        )
    )]
    pub data: String,
    /// Milliseconds after which to connect again if the stream breaks. Present only in the first event.
    #[cfg_attr(feature = "schema", schema(nullable = false, minimum = 0))]
    pub retry: Option<u32>,
}

/// What has happened to a group whose events are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(rename_all = "lowercase"))]
pub enum GroupEventName {
    /// The number of jobs in a state has changed.
    Counts,
    /// No job waits or runs any more.
    Ended,
}

impl GroupEventName {
    /// The name in the stream.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Ended => "ended",
        }
    }
}
