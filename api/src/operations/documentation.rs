//! Completes the OpenAPI description of an operation with everything that all operations have in common.

use akhar_jobs::Operation;
use serde_json::json;
use utoipa::{
    IntoParams,
    openapi::{
        ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement,
        path::{self, ParameterIn},
        schema::Type,
    },
};

use crate::problems::{
    ProblemType,
    responses::{Examples, header, responses},
};

const WAITING: &str = "The server waits for the job to end before it responds. If the job has not ended when the wait \
    limit is reached, or if `Prefer` asks for it, the response is a 202 with the address of the job.";

const JOB_HEADER: &str = "The id of the job that the request made. Errors of the job have it too.";

/// The request headers that every operation reads.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes the headers to the OpenAPI document")]
struct RequestHeaders {
    /// `respond-async`: respond with 202 at once. `wait=N`: wait at most N seconds for the job to end.
    #[param(rename = "Prefer", example = "wait=5")]
    prefer: Option<String>,
    /// A new id, such as a UUID, for a request that you may repeat. For 24 hours, a request with the same key and the same
    /// content gets the job of the first one. A request with the same key and other content is refused.
    #[param(rename = "Idempotency-Key", max_length = 255, pattern = r"^[!#-\[\]-~]+$")]
    idempotency_key: Option<String>,
    /// An `https` URL to which the end of the job is announced, as the webhook `job-ended` of this document describes. In place
    /// of the URL of your account, if it has one. Your account needs a secret that signs webhooks.
    #[param(
        rename = "Akhar-Webhook",
        max_length = 2048,
        pattern = "^https?://",
        example = "https://example.com/akhar"
    )]
    webhook: Option<String>,
    /// An id for the request: 1 to 128 visible ASCII characters. It is returned with the response and is in every log
    /// line about the request.
    #[param(rename = "X-Request-Id")]
    request_id: Option<String>,
    /// The W3C trace context of the caller.
    traceparent: Option<String>,
}

/// The problems that every operation can have.
const PROBLEMS: [ProblemType; 20] = [
    ProblemType::MalformedBody,
    ProblemType::MalformedRequest,
    ProblemType::Unauthorized,
    ProblemType::NotAcceptable,
    ProblemType::BodyTimeout,
    ProblemType::JobCancelled,
    ProblemType::TooLarge,
    ProblemType::UnsupportedContentType,
    ProblemType::ExpectationFailed,
    ProblemType::InvalidInput,
    ProblemType::QuotaExceeded,
    ProblemType::Internal,
    ProblemType::JobFailed,
    ProblemType::UnsupportedTransferCoding,
    ProblemType::QueueFull,
    ProblemType::QueueClosed,
    ProblemType::Busy,
    ProblemType::Draining,
    ProblemType::Unavailable,
    ProblemType::StorageFull,
];

/// Adds everything that all operations have in common to the description of one operation.
pub(crate) fn complete(mut own: OpenApi, operation: Operation, examples: &Examples) -> OpenApi {
    for (path, item) in &mut own.paths.paths {
        if let Some(route) = &mut item.post {
            route.operation_id = Some(operation.name().to_owned());
            route.tags = Some(vec!["models".to_owned()]);
            complete_route(route, path, operation, &PROBLEMS, examples);
        }
    }
    own
}

/// Adds what a route has in common with all operations to the description of an OpenAI-compatible route.
pub(crate) fn complete_openai(mut own: OpenApi, examples: &Examples) -> OpenApi {
    // The Accept header is not read.
    let problems: Vec<_> = PROBLEMS.into_iter().filter(|t| *t != ProblemType::NotAcceptable).collect();
    for (path, item) in &mut own.paths.paths {
        if let Some(route) = &mut item.post {
            route.tags = Some(vec!["openai".to_owned()]);
            complete_route(route, path, Operation::SpeechRecognition, &problems, examples);
        }
    }
    own
}

fn complete_route(
    route: &mut path::Operation,
    path: &str,
    operation: Operation,
    problems: &[ProblemType],
    examples: &Examples,
) {
    route.security = Some(vec![SecurityRequirement::new("bearer", [""; 0])]);
    route.description = route.description.take().map(|own| format!("{own} {WAITING}"));
    route.parameters = Some(RequestHeaders::into_params(|| Some(ParameterIn::Header)));
    if let Some(RefOr::T(success)) = route.responses.responses.get_mut("200") {
        let timing = header(Type::String, "The durations `queue`, `decode` and `infer` in milliseconds.");
        success.headers.insert("Server-Timing".to_owned(), timing);
        success.headers.insert("X-Request-Id".to_owned(), header(Type::String, "The request's id."));
        success.headers.insert("Akhar-Job".to_owned(), header(Type::String, JOB_HEADER));
    }
    route.responses.responses.insert("202".to_owned(), accepted(operation).into());
    let media = examples.file.is_some().then_some(ProblemType::UnsupportedMedia);
    let problems: Vec<ProblemType> = problems.iter().copied().chain(media).collect();
    route.responses.responses.extend(responses(&problems, path, examples));
}

fn accepted(operation: Operation) -> Response {
    let example = json!({
        "id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": operation.name(), "state": "queued", "attempt": 0,
        "created_at": "2026-11-21T09:00:00Z", "started_at": null, "ended_at": null,
    });
    let job = RefOr::Ref(Ref::from_schema_name("Job"));
    ResponseBuilder::new()
        .description("The job was accepted and has not ended yet.")
        .header("Location", header(Type::String, "The path of the job."))
        .header("Akhar-Job", header(Type::String, JOB_HEADER))
        .header("Retry-After", header(Type::Integer, "Seconds to wait before requesting the job."))
        .header("Preference-Applied", header(Type::String, "The preferences of `Prefer` that were applied."))
        .content("application/json", ContentBuilder::new().schema(Some(job)).example(Some(example)).build())
        .build()
}
