//! What comes of a job. Only who runs the job and who asked for it read the documents.

use serde::Deserialize;
use serde_json::value::RawValue;

/// How a job ends.
#[derive(Debug, Clone)]
pub enum End {
    /// With an answer. An amount, such as the seconds of a recording, is added to what its account has used.
    Answered(StoredOutcome, Option<f64>),
    /// Its input is rejected, for the reason that this has.
    Rejected(StoredOutcome),
    /// The service failed to process it: it is dead.
    Failed,
    /// Its caller does not want it any more.
    Cancelled,
}

/// The outcome of a job, as it is stored.
#[derive(Debug, Clone)]
pub struct StoredOutcome {
    /// JSON. That of a dead job is `{"kind": "failed"}`.
    pub document: Box<RawValue>,
    /// Parts that are stored as bytes beside it, so that Postgres need not parse them as JSON.
    pub artifacts: Vec<Artifact>,
}

/// A part of an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name among those of its outcome.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A part of a running job's answer that is finished, so that who follows the job gets it before the rest.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Part {
    /// Where it starts in the input, seconds.
    pub start_s: f64,
    /// Where it ends.
    pub end_s: f64,
    /// The text.
    pub text: String,
    /// The number of its channel, from 1. `None` if the input has no channels of its own.
    pub channel: Option<u8>,
}

/// How long the parts of an attempt took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// Microseconds spent decoding and preparing the input.
    pub decode_us: i32,
    /// Microseconds spent in the model, including the wait for a batch.
    pub infer_us: i32,
}
