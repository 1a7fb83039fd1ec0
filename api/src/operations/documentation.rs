//! Completes the OpenAPI description of an operation with everything that all operations have in common.

use akhar_requests::Operation;
use serde_json::json;
use utoipa::openapi::{
    ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder, SecurityRequirement, path, schema::Type,
};

use crate::{
    http::{context::HEADERS, header::Header},
    input::form::Description,
    problems::{
        ProblemType,
        responses::{header, responses},
    },
};

const WAITING: &str = "The server waits for the job to end before it responds. If the job has not ended when the wait \
    limit is reached, or if `Prefer` asks for it, the response is a 202 with the address of the job.";

const JOB_HEADER: &str = "The id of the job that the request made. Errors of the job have it too.";

const WARNINGS_HEADER: &str = "What is unusual about the request or what it contains, and which parts of the texts are probably wrong: \
    a list in the syntax of RFC 9651, such as `probably-wrong;text=transcription;start=12.5;end=17.0`, in seconds. Other \
    warnings are strings. If there are too many, the last one says how many more there are, such as `;more=3`. Absent \
    without warnings.";

/// The problems that every operation can have.
const PROBLEMS: [ProblemType; 22] = [
    ProblemType::MalformedBody,
    ProblemType::MalformedRequest,
    ProblemType::Unauthorized,
    ProblemType::OutOfScope,
    ProblemType::NotAcceptable,
    ProblemType::BodyTimeout,
    ProblemType::JobCancelled,
    ProblemType::JobDeleted,
    ProblemType::TooLarge,
    ProblemType::UnsupportedContentType,
    ProblemType::ExpectationFailed,
    ProblemType::InvalidInput,
    ProblemType::QuotaExceeded,
    ProblemType::AccountBusy,
    ProblemType::Internal,
    ProblemType::JobFailed,
    ProblemType::UnsupportedTransferCoding,
    ProblemType::QueueFull,
    ProblemType::QueueClosed,
    ProblemType::Busy,
    ProblemType::Unavailable,
    ProblemType::StorageFull,
];

/// Adds the form, and everything that all operations have in common, to the description of an operation.
pub(crate) fn complete(own: OpenApi, operation: Operation, form: Description) -> OpenApi {
    complete_routes(own, operation, &PROBLEMS, form, |route| {
        route.operation_id = Some(operation.name().to_owned());
        route.tags = Some(vec!["models".to_owned()]);
    })
}

/// Adds the form, and what a route has in common with all operations, to the description of an OpenAI-compatible route.
pub(crate) fn complete_openai(own: OpenApi, form: Description) -> OpenApi {
    // The Accept header is not read.
    let problems: Vec<_> = PROBLEMS.into_iter().filter(|t| *t != ProblemType::NotAcceptable).collect();
    complete_routes(own, Operation::SpeechRecognition, &problems, form, |route| {
        route.tags = Some(vec!["openai".to_owned()]);
    })
}

fn complete_routes(
    mut own: OpenApi,
    operation: Operation,
    problems: &[ProblemType],
    form: Description,
    complete: impl Fn(&mut path::Operation),
) -> OpenApi {
    let media = form.has_file().then_some(ProblemType::UnsupportedMedia);
    let problems: Vec<ProblemType> = problems.iter().copied().chain(media).collect();
    for (path, item) in &mut own.paths.paths {
        let Some(route) = &mut item.post else { continue };
        complete(route);
        route.security = Some(vec![SecurityRequirement::new("bearer", [""; 0])]);
        route.description = route.description.take().map(|own| format!("{own} {WAITING}"));
        route.parameters = Some(HEADERS.iter().map(Header::parameter).collect());
        route.request_body = Some(form.body.clone());
        if let Some(RefOr::T(success)) = route.responses.responses.get_mut("200") {
            let timing = header(Type::String, "The durations `queue`, `decode` and `infer` in milliseconds.");
            success.headers.insert("Server-Timing".to_owned(), timing);
            if matches!(operation, Operation::SpeechRecognition | Operation::Translation) {
                let warnings = header(Type::String, WARNINGS_HEADER);
                success.headers.insert("Akhar-Warnings".to_owned(), warnings);
            }
            if operation == Operation::HandwritingGenerator {
                let pages = header(Type::Integer, "The number of pages of the text, one below the other.");
                success.headers.insert("Akhar-Pages".to_owned(), pages);
            }
            success.headers.insert("X-Request-Id".to_owned(), header(Type::String, "The request's id."));
            success.headers.insert("Akhar-Job".to_owned(), header(Type::String, JOB_HEADER));
        }
        route.responses.responses.insert("202".to_owned(), accepted(operation).into());
        route.responses.responses.extend(responses(&problems, path, &form.violations));
    }
    own.components.get_or_insert_default().schemas.extend(form.components);
    own
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
