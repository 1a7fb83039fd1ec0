//! The OpenAPI 3.1 document: the code's own descriptions come in, one document goes out.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::{
    IntoResponses, Modify, OpenApi,
    openapi::{
        ContentBuilder, HeaderBuilder, Ref, RefOr, Response, ResponseBuilder,
        example::ExampleBuilder,
        schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::{
    problem::{Code, Problem, ProblemBody, ProblemType, Violation},
    routes,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Akhar",
        description = "Panjabi handwriting recognition. Every error is an RFC 9457 problem document whose `type` has a page.",
    ),
    paths(
        routes::alphabet_recognition::handle,
        routes::digit_recognition::handle,
        routes::job::handle,
        routes::job_result::handle,
        routes::job_cancel::handle,
        routes::health::live,
        routes::health::ready,
    ),
    components(schemas(ProblemBody, Violation)),
    tags(
        (name = "models", description = "The model operations."),
        (name = "jobs", description = "Every accepted request is a job; these see it to its end."),
        (name = "operations", description = "For those who run the service."),
    ),
    modifiers(&Bearer, &Strict),
)]
struct Document;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An API key, `ak_…`, issued by the operator."))
            .build();
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("bearer", SecurityScheme::Http(scheme));
    }
}

/// What descriptions of Rust types leave looser than the api is.
struct Strict;

impl Modify for Strict {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let items = document.paths.paths.values_mut();
        let operations = items.flat_map(|item| [&mut item.get, &mut item.post, &mut item.delete]).flatten();
        for parameter in operations.flat_map(|o| o.parameters.iter_mut().flatten()) {
            if let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema {
                forbid_null(&mut schema.schema_type);
            }
        }
        let schemas = document.components.iter_mut().filter_map(|c| c.schemas.get_mut("RecognitionForm"));
        for form in schemas {
            if let RefOr::T(Schema::Object(form)) = form {
                form.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
            }
        }
    }
}

/// A parameter may be absent, but there is no way to send null.
fn forbid_null(schema_type: &mut SchemaType) {
    if let SchemaType::Array(types) = schema_type {
        types.retain(|t| *t != Type::Null);
        if let [only] = types.as_slice() {
            *schema_type = SchemaType::Type(only.clone());
        }
    }
}

/// The document about this version of the api.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// The document as served and as kept in `api/openapi.json`, but for the last newline.
pub(crate) fn openapi_json() -> String {
    openapi().to_pretty_json().unwrap_or_default()
}

macro_rules! problems {
    ($(#[$doc:meta])* $name:ident: $($problem:ident),+ $(,)?) => {
        $(#[$doc])*
        pub(crate) struct $name;
        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                responses(&[$(ProblemType::$problem),+])
            }
        }
    };
}

problems! {
    /// What can go wrong with a recognition.
    RecognitionProblems: MalformedBody, Unauthorized, NotAcceptable, BodyTimeout, JobCancelled, TooLarge,
    UnsupportedContentType, UnsupportedMedia, InvalidInput, Internal, JobFailed, QueueFull, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with looking at a job.
    JobProblems: Unauthorized, NotFound, NotAcceptable, InvalidInput, Internal, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with asking for a job's result.
    JobResultProblems: Unauthorized, NotFound, NotAcceptable, JobNotFinished, JobCancelled, InvalidInput, Internal,
    JobFailed, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with cancelling a job.
    JobCancelProblems: Unauthorized, NotFound, NotAcceptable, JobNotCancellable, InvalidInput, Internal, Busy, Draining,
    Unavailable,
}
problems! {
    /// Why a process is not ready.
    ReadyProblems: Internal, Draining, Unavailable,
}

/// One response for each status, with an example for each problem type.
fn responses(types: &[ProblemType]) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<u16, Vec<ProblemType>> = BTreeMap::new();
    for t in types {
        by_status.entry(t.facts().status.as_u16()).or_default().push(*t);
    }
    by_status.into_iter().map(|(status, types)| (status.to_string(), response(&types).into())).collect()
}

fn response(types: &[ProblemType]) -> Response {
    let titles: Vec<&str> = types.iter().map(|t| t.facts().title).collect();
    let examples = types.iter().map(|t| {
        let facts = t.facts();
        (facts.slug, ExampleBuilder::new().summary(facts.title).value(Some(example(*t))).build())
    });
    let content = ContentBuilder::new()
        .schema(Some(RefOr::Ref(Ref::from_schema_name("Problem"))))
        .examples_from_iter(examples)
        .build();
    let mut response = ResponseBuilder::new()
        .description(format!("{}.", titles.join(", or: ")))
        .content("application/problem+json", content);
    if types.iter().any(|t| t.facts().retry_after_s.is_some()) {
        response =
            response.header("Retry-After", header(Type::Integer, "Seconds until trying again makes sense."));
    }
    if types.contains(&ProblemType::Unauthorized) {
        response = response.header("WWW-Authenticate", header(Type::String, "`Bearer`."));
    }
    response.build()
}

fn header(kind: Type, description: &str) -> utoipa::openapi::Header {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build();
    HeaderBuilder::new().schema(schema).description(Some(description)).build()
}

fn example(problem_type: ProblemType) -> Value {
    let violations = |field: &str, code: Code, detail: &str| {
        Problem::violations(vec![Violation::new(field, code, detail)])
    };
    let problem = match problem_type {
        ProblemType::InvalidInput => {
            violations("top-k", Code::OutOfRange, "top-k is 6, expected an integer from 1 to 5")
        }
        ProblemType::TooLarge => violations("file", Code::TooLarge, "file has more than 15360 bytes"),
        ProblemType::UnsupportedMedia => {
            violations("file", Code::UnsupportedMediaType, "file begins like neither a png nor a jpeg image")
        }
        other => Problem::of(other),
    };
    let body = problem.body("/v1/models/digit-recognition", "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c12");
    serde_json::to_value(body).unwrap_or(json!(null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_document_is_current() {
        let kept = include_str!("../openapi.json");
        assert!(kept.trim_end() == openapi_json(), "cargo run -p akhar -- openapi > api/openapi.json");
    }

    #[test]
    fn every_problem_type_is_documented_somewhere() {
        let json = openapi_json();
        for t in ProblemType::ALL {
            // Any path and any method can meet this one, so it is documented at none.
            let is_everywhere = *t == ProblemType::MethodNotAllowed;
            assert!(is_everywhere || json.contains(&format!("/problems/{}\"", t.facts().slug)), "{t:?}");
        }
    }
}
