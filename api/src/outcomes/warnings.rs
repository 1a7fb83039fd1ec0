//! The warnings of an outcome: for the document of its job, and as a header of its response.

use akhar_client::{ProbablyWrongBody, WARNINGS_HEADER, Warnings};
use akhar_requests::{Outcome, ProbablyWrong, TextKind};
use axum::{
    http::{HeaderName, HeaderValue},
    response::Response,
};

const NAME: HeaderName = HeaderName::from_static(WARNINGS_HEADER);

/// The warnings about an outcome. Outcomes of recognition and handwriting have none.
pub(crate) fn warnings(outcome: Option<&Outcome>) -> Warnings {
    match outcome {
        Some(Outcome::Transcription { warnings, probably_wrong, .. }) => Warnings {
            general: warnings.clone(),
            probably_wrong: probably_wrong.iter().copied().map(body).collect(),
            n_more: 0,
        },
        Some(Outcome::Translation { warnings, .. }) => {
            Warnings { general: warnings.clone(), ..Warnings::default() }
        }
        _ => Warnings::default(),
    }
}

/// Adds the header to a response, if there are warnings.
pub(crate) fn with_warnings(mut response: Response, warnings: &Warnings) -> Response {
    if let Some(value) = warnings.header().and_then(|header| HeaderValue::try_from(header).ok()) {
        response.headers_mut().insert(NAME, value);
    }
    response
}

fn body(ProbablyWrong { text, start, end }: ProbablyWrong) -> ProbablyWrongBody {
    let text = match text {
        TextKind::Transcription => akhar_client::TextKind::Transcription,
        TextKind::Translation => akhar_client::TextKind::Translation,
    };
    ProbablyWrongBody { text, start, end }
}
