//! The OpenAPI 3.1 document: the code's own descriptions come in, one document goes out.

use utoipa::{
    Modify, OpenApi,
    openapi::{
        RefOr,
        schema::{AdditionalProperties, Schema, SchemaType, Type},
        security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::{
    health, jobs, operations,
    problems::{ProblemBody, Violation},
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Akhar",
        description = "Panjabi handwriting, recognised and generated. Every error is an RFC 9457 problem document whose `type` has a page.",
    ),
    paths(
        operations::alphabet_recognition::route::handle,
        operations::digit_recognition::route::handle,
        operations::handwriting_generator::route::handle,
        operations::speech_recognition::route::handle,
        jobs::get::handle,
        jobs::result::handle,
        jobs::cancel::handle,
        health::live,
        health::ready,
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
        let schemas = document.components.iter_mut().flat_map(|c| c.schemas.iter_mut());
        for (_, form) in schemas.filter(|(name, _)| name.ends_with("Form")) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::ProblemType;

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
