//! The member `error` of problem documents, which clients of OpenAI's API read instead of the others.

use akhar_client::{OpenAiErrorBody, ViolationBody};

/// The paths whose problems have the member.
const PATHS: [&str; 2] = ["/v1/audio/", "/v1/models"];

/// The member for a problem with this slug, status and these violations. `None` if the request was not to a path of
/// OpenAI's API.
pub(super) fn error(
    path: &str,
    slug: &str,
    status: u16,
    detail: &str,
    errors: &[ViolationBody],
) -> Option<OpenAiErrorBody> {
    let [audio, models] = PATHS;
    if !path.starts_with(audio) && path != models {
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
