//! Builds the OpenAPI 3.1 document from the descriptions in the code.

use akhar_client::{
    JobBody, JobsBody, ProblemBody, ProgressEventBody, StateEventBody, ViolationBody, WebhookBody,
    WebhookEvent,
};
use akhar_jobs::Operation;
use serde_json::{Value, json};
use utoipa::{
    OpenApi,
    openapi::{
        RefOr,
        extensions::Extensions,
        schema::{AdditionalProperties, Schema, SchemaType, Type},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::{
    health, jobs, openai,
    operations::{
        self,
        documentation::{complete, complete_openai},
        with_operations,
    },
};

/// The document without the operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Akhar",
        description = "Recognises Panjabi letters, digits and speech, translates speech, and writes Panjabi text by \
            hand. Every error is an RFC 9457 problem document, and a page explains each `type`.",
    ),
    paths(jobs::list::handle, jobs::get::handle, jobs::events::handle, jobs::result::handle, jobs::cancel::handle, openai::models::handle, health::live, health::ready),
    components(schemas(jobs::list::OperationSchema, JobBody, JobsBody, ProblemBody, ViolationBody, ProgressEventBody, StateEventBody, WebhookBody, WebhookEvent)),
    tags(
        (name = "models", description = "The model operations."),
        (name = "jobs", description = "Every accepted request is a job. A caller can follow its jobs, get their results \
            and cancel them."),
        (name = "openai", description = "Routes that follow OpenAI's audio API, for programs that use it."),
        (name = "operations", description = "Health probes, for operators of the service."),
    ),
)]
struct Document;

macro_rules! documents {
    ($($operation:ident: $folder:ident,)+) => {
        /// The part of the document that describes an operation.
        fn document_of(operation: Operation) -> utoipa::openapi::OpenApi {
            match operation {
                $(Operation::$operation => {
                    use operations::$folder::route::{Document, EXAMPLES};
                    complete(Document::openapi(), operation, &EXAMPLES)
                })+
            }
        }
    };
}
with_operations!(documents);

/// Returns the OpenAPI document of this version of the api.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    for operation in Operation::ALL {
        document.merge(document_of(operation));
    }
    let openai = [openai::transcriptions::Document::openapi(), openai::translations::Document::openapi()];
    for route in openai {
        document.merge(complete_openai(route, &openai::EXAMPLES));
    }
    add_bearer(&mut document);
    document.extensions = Some(Extensions::from_iter([("webhooks", webhooks())]));
    tighten_parameters(&mut document);
    close_forms(&mut document);
    document
}

/// The document as JSON, as it is served. The file `docs/openapi.json` has the same text and a final newline.
pub(crate) fn openapi_json() -> String {
    openapi().to_pretty_json().unwrap_or_default()
}

/// The requests that the service sends. The library has no type for them.
fn webhooks() -> Value {
    let header = |name: &str, description: &str| json!({"name": name, "in": "header", "required": true, "description": description, "schema": {"type": "string"}});
    json!({"job-ended": {"post": {
        "operationId": "job-ended",
        "tags": ["jobs"],
        "summary": "A job has ended",
        "description": "Sent to the URL of `Akhar-Webhook`, or of the account, and signed as \
            https://www.standardwebhooks.com defines it. It is sent until the receiver accepts it, for almost a day, and may \
            come more than once.",
        "parameters": [
            header("webhook-id", "The job's id, equal in all attempts."),
            header("webhook-timestamp", "The time of the attempt, seconds since 1970."),
            header("webhook-signature", "The signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of \
                `id.timestamp.body` in base64."),
        ],
        "requestBody": {"required": true, "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Webhook"},
            "example": {"type": "job.succeeded", "timestamp": "2026-11-21T09:00:00.006Z", "data": {
                "id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
                "state": "succeeded", "attempt": 1, "created_at": "2026-11-21T09:00:00Z",
                "started_at": "2026-11-21T09:00:00.002Z", "ended_at": "2026-11-21T09:00:00.006Z",
                "result": {"predictions": [{"label": "੫", "score": 0.98}]}}},
        }}},
        "responses": {
            "2XX": {"description": "The receiver has accepted it."},
            "410": {"description": "The receiver does not want it. It is not sent again."},
            "default": {"description": "It is sent again later. Redirects are not followed."},
        },
    }}})
}

fn add_bearer(document: &mut utoipa::openapi::OpenApi) {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API key, `ak_…`, issued by the operator."))
        .build();
    document.components.get_or_insert_default().add_security_scheme("bearer", SecurityScheme::Http(scheme));
}

/// Removes null from the types of parameters. A parameter can be absent, but it cannot be null.
fn tighten_parameters(document: &mut utoipa::openapi::OpenApi) {
    let items = document.paths.paths.values_mut();
    let routes = items.flat_map(|item| [&mut item.get, &mut item.post, &mut item.delete]).flatten();
    for parameter in routes.flat_map(|route| route.parameters.iter_mut().flatten()) {
        if let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema {
            forbid_null(&mut schema.schema_type);
        }
    }
}

fn forbid_null(schema_type: &mut SchemaType) {
    if let SchemaType::Array(types) = schema_type {
        types.retain(|t| *t != Type::Null);
        if let [only] = types.as_slice() {
            *schema_type = SchemaType::Type(only.clone());
        }
    }
}

/// Forbids fields that a form's schema does not list.
fn close_forms(document: &mut utoipa::openapi::OpenApi) {
    let schemas = document.components.iter_mut().flat_map(|c| c.schemas.iter_mut());
    for (_, form) in schemas.filter(|(name, _)| name.ends_with("Form")) {
        if let RefOr::T(Schema::Object(form)) = form {
            form.additional_properties = Some(Box::new(AdditionalProperties::FreeForm(false)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::ProblemType;

    #[test]
    fn every_problem_type_is_documented_somewhere() {
        let json = openapi_json();
        for t in ProblemType::ALL {
            // Every path can have this problem, so no path documents it.
            let is_everywhere = *t == ProblemType::MethodNotAllowed;
            assert!(is_everywhere || json.contains(&format!("/problems/{}\"", t.facts().slug)), "{t:?}");
        }
    }

    #[test]
    fn every_operation_is_documented_with_examples() {
        let document = serde_json::to_value(openapi()).unwrap();
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.keys().filter(|p| p.starts_with("/v1/models/")).count(), Operation::ALL.len());
        for operation in Operation::ALL {
            let route = &document["paths"][format!("/v1/models/{}", operation.name())]["post"];
            assert_eq!(route["operationId"], operation.name());
            let has_example = |content: &Value| content.get("example").or(content.get("examples")).is_some();
            let form = &route["requestBody"]["content"];
            let (_, form) = form.as_object().and_then(|c| c.iter().next()).unwrap();
            let name = form["schema"]["$ref"].as_str().and_then(|r| r.rsplit('/').next()).unwrap();
            assert!(
                has_example(form) || has_example(&document["components"]["schemas"][name]),
                "{operation:?}"
            );
            for status in ["200", "202"] {
                assert!(
                    has_example(&route["responses"][status]["content"]["application/json"]),
                    "{operation:?}"
                );
            }
            assert_eq!(
                route["responses"]["202"]["content"]["application/json"]["example"]["operation"],
                operation.name()
            );
        }
    }
}
