//! What problems are on the paths of OpenAI's API: their status, and the member `error`, which its clients read instead of
//! the others.

use akhar_client::{OpenAiErrorBody, ViolationBody};
use akhar_requests::Operation;
use axum::http::StatusCode;

/// The longest time for which a client of OpenAI's API waits because of `Retry-After`, seconds.
const LONGEST_RETRY_AFTER_S: u64 = 120;

/// Whether a path is of OpenAI's API. The operations have paths beside its models.
pub(super) fn is_openai(path: &str) -> bool {
    let is_operation = |name: &str| {
        Operation::ALL.into_iter().any(|operation| operation.has_form() && operation.name() == name)
    };
    let is_model = |name: &str| name.strip_prefix('/').map_or(name.is_empty(), |name| !is_operation(name));
    let is_below =
        |start: &str| path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    path.starts_with("/v1/audio/")
        || is_below("/v1/realtime")
        || path.strip_prefix("/v1/models").is_some_and(is_model)
}

/// The status of a problem on this path. OpenAI's API has 400 for what is wrong with a request, and its clients raise the
/// error for that by this status.
pub(super) fn status(path: &str, status: StatusCode) -> StatusCode {
    match status {
        StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNSUPPORTED_MEDIA_TYPE if is_openai(path) => {
            StatusCode::BAD_REQUEST
        }
        _ => status,
    }
}

/// Whether clients of OpenAI's API, which repeat a request after a 409 and after most errors with `Retry-After`, are told not to:
/// its job was cancelled, or they would wait no longer than two minutes and then ask too early.
pub(super) fn is_final(path: &str, status: StatusCode, retry_after_s: Option<u64>) -> bool {
    is_openai(path) && (status == StatusCode::CONFLICT || retry_after_s > Some(LONGEST_RETRY_AFTER_S))
}

/// The member for a problem with this slug, status and these violations. `None` if the request was not to a path of
/// OpenAI's API.
pub(super) fn error(
    path: &str,
    slug: &str,
    status: u16,
    detail: &str,
    errors: &[ViolationBody],
) -> Option<OpenAiErrorBody> {
    if !is_openai(path) {
        return None;
    }
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let first = errors.first();
    Some(OpenAiErrorBody {
        message: first.map_or(detail, |violation| &violation.detail).to_owned(),
        kind: kind.to_owned(),
        param: first.map(|violation| violation.field.clone()),
        code: first.map_or(slug, |violation| &violation.code).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operations_are_not_of_openais_api() {
        for path in [
            "/v1/audio/transcriptions",
            "/v1/audio/speech",
            "/v1/models",
            "/v1/models/llama-3",
            "/v1/realtime",
            "/v1/realtime/calls",
        ] {
            assert!(is_openai(path), "{path}");
        }
        for path in ["/v1/models/digit-recognition", "/v1/modelsx", "/v1/jobs", "/v1/audio"] {
            assert!(!is_openai(path), "{path}");
        }
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(status("/v1/audio/translations", unprocessable), StatusCode::BAD_REQUEST);
        assert_eq!(status("/v1/models/speech-recognition", unprocessable), unprocessable);
    }

    #[test]
    fn a_client_does_not_repeat_what_was_cancelled_or_is_refused_for_long() {
        let is_final = |status, retry_after_s| is_final("/v1/audio/transcriptions", status, retry_after_s);
        assert!(is_final(StatusCode::CONFLICT, None));
        assert!(is_final(StatusCode::TOO_MANY_REQUESTS, Some(121)));
        assert!(!is_final(StatusCode::TOO_MANY_REQUESTS, Some(120)));
        assert!(!is_final(StatusCode::SERVICE_UNAVAILABLE, None));
        assert!(!super::is_final("/v1/models/speech-recognition", StatusCode::CONFLICT, None));
    }
}
