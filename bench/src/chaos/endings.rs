//! How requests ended, as their clients saw it.

use std::time::Duration;

use super::{cases::Seen, traffic::Plan};

/// One request and its ending.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) plan: Plan,
    pub(super) operation: &'static str,
    pub(super) ending: Ending,
    /// The time from sending to the ending.
    pub(super) took: Duration,
}

/// The ending of a request.
#[derive(Debug)]
pub(super) enum Ending {
    /// It was answered with a result, at once or after a 202.
    Answered { seen: Seen, after_202: bool },
    /// It was not accepted, or its job failed: the status and the type of the problem.
    Refused { status: u16, slug: String },
    /// The job of a 202 was gone or cancelled.
    Lost(#[expect(dead_code, reason = "shown by Debug")] String),
    /// The connection was refused or broke before an answer.
    Cut,
    /// The client hung up, as planned.
    HungUp,
    /// There was no answer or no end within the limit.
    Stuck(#[expect(dead_code, reason = "shown by Debug")] &'static str),
}

impl Ending {
    /// The name in the report.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Answered { after_202: false, .. } => "answered",
            Self::Answered { after_202: true, .. } => "answered_after_202",
            Self::Refused { .. } => "refused",
            Self::Lost(_) => "lost",
            Self::Cut => "cut",
            Self::HungUp => "hung_up",
            Self::Stuck(_) => "stuck",
        }
    }
}
