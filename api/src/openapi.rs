//! Builds the OpenAPI 3.1 document from the descriptions in the code.

use std::mem;

use akhar_client::{
    GroupBody, GroupWebhookBody, GroupWebhookEvent, GroupsBody, JobBody, JobsBody, ProblemBody,
    ProgressEventBody, StateEventBody, ViolationBody, WebhookBody, WebhookEvent,
};
use akhar_requests::Operation;
use serde_json::{Value, json};
use utoipa::{
    OpenApi,
    openapi::{
        RefOr,
        extensions::Extensions,
        schema::{AnyOf, Schema},
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::{
    admin,
    auth::scope::TOKEN,
    groups, health,
    input::{field::FieldDescription, fields::Fields as _, form::describe, multipart::MAX_AUDIO_BYTES},
    jobs::{self, list::JobsQuery},
    openai::{
        self,
        form::{AudioTranscriptionForm, AudioTranslationForm},
    },
    operations::{
        self,
        documentation::{complete, complete_openai},
        with_operations,
    },
    problems::responses::share,
    realtime, tokens, uploads,
};

/// The bytes of an object or a list that is one line although it has others in it.
const MAX_LINE: usize = 110;

/// The document without the operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Akhar",
        description = "Recognises Panjabi letters, digits and speech, translates speech and texts, and writes Panjabi text by \
            hand. Every error is an RFC 9457 problem document, and a page explains each `type`.",
        contact(name = "The Akhar contributors", url = "https://github.com/akhar-project/akhar"),
    ),
    servers((url = "/", description = "The server that this document comes from.")),
    external_docs(
        url = "https://github.com/akhar-project/akhar/tree/main/docs/src",
        description = "The book: how to use the server, operate it and how it works.",
    ),
    paths(jobs::list::handle, jobs::get::handle, jobs::events::handle, jobs::result::handle, jobs::delete::handle, groups::list::handle, groups::get::handle, groups::events::handle, groups::delete::handle, openai::models::handle, openai::model::handle, health::live, health::ready),
    components(schemas(GroupBody, GroupWebhookBody, GroupWebhookEvent, GroupsBody, JobBody, JobsBody, ProblemBody, ViolationBody, ProgressEventBody, StateEventBody, WebhookBody, WebhookEvent)),
    tags(
        (name = "models", description = "The model operations."),
        (name = "jobs", description = "Every accepted request is a job. A caller can follow its jobs, get their results \
            and cancel them."),
        (name = "groups", description = "Requests name groups of jobs with `Akhar-Group`, so that a caller can follow thousands of \
            jobs as one."),
        (name = "tokens", description = "Short-lived tokens, so that a web page needs no server that hides the key."),
        (name = "uploads", description = "Recordings that are larger than a request may be."),
        (name = "openai", description = "Routes that follow OpenAI's audio API, for programs that use it."),
        (name = "admin", description = "What operators see and change: keys, queues, workers, jobs of all accounts, and the audit trail. \
            Needs the key of an operator."),
        (name = "operations", description = "Health probes, for operators of the service."),
        (name = "webhooks", description = "The requests that the service sends."),
    ),
)]
struct Document;

macro_rules! documents {
    ($($operation:ident: $folder:ident,)+) => {
        /// The part of the document that describes an operation, if a request asks for it with a form.
        fn document_of(operation: Operation) -> Option<utoipa::openapi::OpenApi> {
            match operation {
                $(Operation::$operation => {
                    use operations::$folder::route::{Document, RequestForm};
                    Some(complete(Document::openapi(), operation, describe::<RequestForm>(MAX_AUDIO_BYTES)))
                })+
                Operation::LiveTranscription => None,
            }
        }
    };
}
with_operations!(documents);

/// Returns the OpenAPI document of this version of the api.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    let components = document.components.get_or_insert_default();
    components.schemas.extend(JobsQuery::described().filter_map(FieldDescription::component));
    for of_operation in Operation::ALL.into_iter().filter_map(document_of) {
        document.merge(of_operation);
    }
    let form = describe::<AudioTranscriptionForm>(MAX_AUDIO_BYTES);
    document.merge(complete_openai(openai::transcriptions::Document::openapi(), form));
    let form = describe::<AudioTranslationForm>(MAX_AUDIO_BYTES);
    document.merge(complete_openai(openai::translations::Document::openapi(), form));
    document.merge(realtime::route::Document::openapi());
    document.merge(realtime::secrets::Document::openapi());
    document.merge(tokens::document());
    document.merge(uploads::document());
    document.merge(admin::document());
    add_bearer(&mut document);
    if let Some(schema) = document.components.as_mut().and_then(|all| all.schemas.get_mut("JobResult")) {
        allow_several(schema);
    }
    share(&mut document);
    document.extensions = Some(Extensions::from_iter([("webhooks", webhooks())]));
    document
}

/// Lets a document be of several of a schema's kinds: a transcription with its translation has all that a translation has.
fn allow_several(schema: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::OneOf(one)) = schema {
        let any =
            AnyOf { items: mem::take(&mut one.items), description: one.description.take(), ..AnyOf::new() };
        *schema = RefOr::T(Schema::AnyOf(any));
    }
}

/// The document as JSON, as it is served. The file `docs/openapi.json` has the same text and a final newline. Objects and
/// lists that have no others in them are lines, and so are those that fit.
pub fn openapi_json(document: &utoipa::openapi::OpenApi) -> String {
    let pretty = document.to_pretty_json().unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    // Of those that are not closed yet: the index of the first line, and whether others are in them.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for line in pretty.lines() {
        let text = line.trim_start();
        if let (true, Some((first, has_others))) = (text.starts_with(['}', ']']), open.last().copied()) {
            open.pop();
            if let Some((_, has_others)) = open.last_mut() {
                *has_others = true;
            }
            let own: Vec<&str> = lines[first + 1..].iter().map(|own| own.trim_start()).collect();
            if !has_others || own.iter().map(|own| own.len()).sum::<usize>() <= MAX_LINE {
                let one = format!("{}{}{text}", lines[first], own.join(" "));
                lines.truncate(first);
                lines.push(one);
                continue;
            }
        } else if text.ends_with(['{', '[']) {
            open.push((lines.len(), false));
        }
        lines.push(line.to_owned());
    }
    lines.join("\n")
}

/// The requests that the service sends. The library has no type for them.
fn webhooks() -> Value {
    let of_job = json!({"type": "job.succeeded", "timestamp": "2026-11-21T09:00:00.006Z", "data": {
        "id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
        "state": "succeeded", "attempt": 1, "created_at": "2026-11-21T09:00:00Z",
        "started_at": "2026-11-21T09:00:00.002Z", "ended_at": "2026-11-21T09:00:00.006Z",
        "result": {"predictions": [{"label": "੫", "score": 0.98}]}}});
    let of_group = json!({"type": "group.ended", "timestamp": "2026-11-26T11:40:07.300Z", "data": {
        "name": "calls-2026-11-26", "has_ended": true, "queued": 0, "running": 0, "succeeded": 9997, "failed": 3, "cancelled": 0,
        "created_at": "2026-11-26T09:00:00Z", "last_ended_at": "2026-11-26T11:40:07.300Z"}});
    json!({
        "job-ended": {"post": webhook("job-ended", "A job has ended", "Sent to the URL of `Akhar-Webhook`, or of the account",
            "The job's id, equal in all attempts.", "Webhook", &of_job)},
        "group-ended": {"post": webhook("group-ended", "A group has ended", "Sent two seconds after the last job of a group \
            has ended, unless the group has got another job, to the URL of `Akhar-Group-Webhook`, or of the account",
            "The id of the group's end, equal in all attempts.", "GroupWebhook", &of_group)},
    })
}

/// A request that the service sends. `id_is` describes the header with its id.
fn webhook(name: &str, summary: &str, sent: &str, id_is: &str, schema: &str, example: &Value) -> Value {
    let header = |name: &str, description: &str| json!({"name": name, "in": "header", "required": true, "description": description, "schema": {"type": "string"}});
    json!({
        "operationId": name,
        "tags": ["webhooks"],
        "summary": summary,
        "description": format!("{sent}, and signed as https://www.standardwebhooks.com defines it. It is sent until the receiver \
            accepts it, for almost a day, and may come more than once."),
        "parameters": [
            header("webhook-id", id_is),
            header("webhook-timestamp", "The time of the attempt, seconds since 1970."),
            header("webhook-signature", "The signatures, separated by spaces. Each is `v1,` and the HMAC-SHA256 of \
                `id.timestamp.body` in base64."),
        ],
        "requestBody": {"required": true, "content": {"application/json": {
            "schema": {"$ref": format!("#/components/schemas/{schema}")},
            "example": example,
        }}},
        "responses": {
            "2XX": {"description": "The receiver has accepted it."},
            "410": {"description": "The receiver does not want it. It is not sent again."},
            "default": {"description": "It is sent again later. Redirects are not followed."},
        },
        "security": [{}],
    })
}

fn add_bearer(document: &mut utoipa::openapi::OpenApi) {
    let scheme = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API key, `ak_…`, issued by the operator, or a token, `at_…`."))
        .build();
    let in_query = "A token, `at_…`, because `EventSource` sends no headers.";
    let token = ApiKey::Query(ApiKeyValue::with_description(TOKEN, in_query));
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("bearer", SecurityScheme::Http(scheme));
    components.add_security_scheme("token", SecurityScheme::ApiKey(token));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::ProblemType;

    #[test]
    fn every_problem_type_is_documented_somewhere() {
        let json = openapi_json(&openapi());
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
        let of_operation = |path: &&String| path.starts_with("/v1/models/") && !path.contains('{');
        let operations = || Operation::ALL.into_iter().filter(|operation| operation.has_form());
        assert_eq!(paths.keys().filter(of_operation).count(), operations().count());
        for operation in operations() {
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

    /// Every object of a document, the outer ones first.
    fn objects(value: &Value) -> Vec<&serde_json::Map<String, Value>> {
        match value {
            Value::Object(object) => {
                std::iter::once(object).chain(object.values().flat_map(objects)).collect()
            }
            Value::Array(values) => values.iter().flat_map(objects).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn generators_of_clients_can_read_every_parameter_and_every_form() {
        let document = serde_json::to_value(openapi()).unwrap();
        let headers: Vec<_> = objects(&document["paths"])
            .into_iter()
            .filter(|object| object.get("in") == Some(&json!("header")))
            .collect();
        assert!(headers.len() > 9);
        for header in headers {
            // openapi-python-client has no operation with another header. Postman sends the default of one that is optional.
            assert_eq!(
                (&header["schema"]["type"], &header["schema"]["default"]),
                (&json!("string"), &json!("")),
                "{header:?}"
            );
        }
        for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let mut identifiers: Vec<String> = properties
                .map(|(name, _)| name.to_lowercase().split(|c: char| !c.is_ascii_alphanumeric()).collect())
                .collect();
            let n = identifiers.len();
            identifiers.sort();
            identifiers.dedup();
            assert_eq!(identifiers.len(), n, "two properties of {name} get one identifier");
        }
        for schema in objects(&document) {
            let options = ["oneOf", "anyOf"].iter().filter_map(|of| schema.get(*of)?.as_array());
            assert!(options.into_iter().all(|options| options.len() > 1), "{schema:?}");
        }
    }
}
