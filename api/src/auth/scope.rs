//! What a token may be used for: requests of one operation and of the jobs whose ids its page knows, from pages of one origin.

use akhar_accounts::{PresentedKey, tokens::Scope};
use akhar_requests::Operation;
use axum::{
    extract::{MatchedPath, Query},
    http::{HeaderMap, Uri, header, request::Parts, uri::Authority},
};

use crate::{
    http::{group, webhook},
    problems::{Problem, ProblemType},
};

/// The query parameter that holds a token in place of a header, which `EventSource` cannot send.
pub(crate) const TOKEN: &str = "token";

/// The origin of a token that is not for web pages alone.
pub(crate) const ANY_ORIGIN: &str = "*";

const SOCKETS: [&str; 2] = ["/v1/realtime", "/v1/realtime/translations"];
const EVENTS: &str = "/v1/jobs/{id}/events";
const JOB: [&str; 3] = ["/v1/jobs/{id}", "/v1/jobs/{id}/result", EVENTS];
const SPEECH: [&str; 3] = ["/v1/audio/transcriptions", "/v1/audio/translations", "/v1/uploads"];

/// The token in the query string of a request for events without Authorization header. A key is not accepted there, because
/// addresses get into logs and histories.
pub(super) fn in_query(parts: &Parts) -> Option<PresentedKey> {
    if route(parts) != EVENTS || parts.headers.contains_key(header::AUTHORIZATION) {
        return None;
    }
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).ok()?.0;
    let (_, token) = pairs.into_iter().find(|(name, _)| name == TOKEN)?;
    PresentedKey::parse(&token).filter(|token| token.is_token)
}

/// Refuses a request that a token is not for.
pub(super) fn check(scope: &Scope, parts: &Parts) -> Result<(), Problem> {
    let refuse = |detail: String| Err(Problem::of(ProblemType::OutOfScope).with_detail(detail));
    let Scope { operation, origin, .. } = scope;
    if origin != ANY_ORIGIN && !is_from(&parts.headers, origin) {
        return refuse(format!(
            "The token is for pages of {origin}, and the request does not come from one."
        ));
    }
    if !is_of(route(parts), operation) {
        return refuse(format!(
            "The token is for {operation} and its jobs, and the request is for something else."
        ));
    }
    let refused = [webhook::OF_JOB, webhook::OF_GROUP, group::GROUP, group::LABEL].map(|header| header.name);
    if let Some(name) = refused.into_iter().find(|name| parts.headers.contains_key(*name)) {
        return refuse(format!("A request with a token cannot have the header {name}."));
    }
    Ok(())
}

/// Whether a request opens a socket.
pub(super) fn is_socket(parts: &Parts) -> bool {
    SOCKETS.contains(&route(parts))
}

fn route(parts: &Parts) -> &str {
    parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str)
}

fn is_of(route: &str, operation: &str) -> bool {
    JOB.contains(&route)
        || route.strip_prefix("/v1/models/") == Some(operation)
        || (SPEECH.contains(&route) && operation == Operation::SpeechRecognition.name())
        || (SOCKETS.contains(&route)
            && [Operation::SpeechRecognition, Operation::LiveTranscription]
                .map(Operation::name)
                .contains(&operation))
}

/// Whether a request comes from a page of this origin. Browsers leave the header Origin out of requests that read from the
/// origin of the page itself.
fn is_from(headers: &HeaderMap, origin: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(sent) = text(header::ORIGIN.as_str()) {
        return sent == origin;
    }
    let authority = origin.parse::<Uri>().ok().and_then(|origin| origin.into_parts().authority);
    text("sec-fetch-site") == Some("same-origin")
        && text(header::HOST.as_str()) == authority.as_ref().map(Authority::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_for_its_operation_and_for_jobs() {
        let speech = "speech-recognition";
        for route in [
            "/v1/models/speech-recognition",
            "/v1/audio/transcriptions",
            "/v1/uploads",
            "/v1/jobs/{id}",
            EVENTS,
        ] {
            assert!(is_of(route, speech), "{route}");
        }
        for route in
            ["/v1/models/digit-recognition", "/v1/models/{id}", "/v1/models", "/v1/jobs", "/v1/tokens", ""]
        {
            assert!(!is_of(route, speech), "{route}");
        }
        assert!(SPEECH.iter().chain(&SOCKETS).all(|route| !is_of(route, "digit-recognition")));
        assert!(SOCKETS.iter().all(|route| is_of(route, speech) && is_of(route, "live-transcription")));
        assert!(!is_of("/v1/models/speech-recognition", "live-transcription"));
    }

    #[test]
    fn a_request_comes_from_the_origin_that_its_browser_names() {
        let is_ours = |headers: &[(&'static str, &'static str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_from(&headers.collect(), "https://app.example")
        };
        let host = ("host", "app.example");
        assert!(is_ours(&[("origin", "https://app.example")]));
        assert!(is_ours(&[host, ("sec-fetch-site", "same-origin")]));
        assert!(!is_ours(&[host]));
        assert!(!is_ours(&[("origin", "https://other.example"), host, ("sec-fetch-site", "same-origin")]));
        assert!(!is_ours(&[("host", "other.example"), ("sec-fetch-site", "same-origin")]));
        assert!(!is_ours(&[host, ("sec-fetch-site", "cross-site")]));
    }
}
