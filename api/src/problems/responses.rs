//! The OpenAPI descriptions of problems: one response for each HTTP status, with an example of each problem type.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, Ref, RefOr, Response, ResponseBuilder,
    example::ExampleBuilder,
    schema::{ObjectBuilder, SchemaType, Type},
};

use super::{
    problem::Problem,
    problem_type::ProblemType,
    violation::{Code, Violation},
};

/// The details in the examples of a route's problems.
pub(crate) struct Examples {
    /// The details of a file that is too large and of a file of the wrong type. `None` if the route takes no file.
    pub(crate) file: Option<[&'static str; 2]>,
    /// A violation: its field, code and detail.
    pub(crate) invalid: (&'static str, Code, &'static str),
}

/// Defines a type that describes the problems of a route in the OpenAPI document. `$path` is the path in the
/// examples.
macro_rules! problems {
    ($(#[$doc:meta])* $name:ident at $path:expr, $examples:ident: $($problem:ident),+ $(,)?) => {
        $(#[$doc])*
        struct $name;
        impl utoipa::IntoResponses for $name {
            fn responses() -> std::collections::BTreeMap<String, utoipa::openapi::RefOr<utoipa::openapi::Response>> {
                let types = [$($crate::problems::ProblemType::$problem),+];
                $crate::problems::responses::responses(&types, $path, &$examples)
            }
        }
    };
}
pub(crate) use problems;

/// Returns one response for each status, with an example of each problem type.
pub(crate) fn responses(
    types: &[ProblemType],
    path: &str,
    examples: &Examples,
) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<u16, Vec<ProblemType>> = BTreeMap::new();
    for t in types {
        by_status.entry(t.facts().status.as_u16()).or_default().push(*t);
    }
    by_status
        .into_iter()
        .map(|(status, types)| (status.to_string(), response(&types, path, examples).into()))
        .collect()
}

fn response(types: &[ProblemType], path: &str, examples: &Examples) -> Response {
    let titles: Vec<&str> = types.iter().map(|t| t.facts().title).collect();
    let by_slug = types.iter().map(|t| {
        let facts = t.facts();
        (
            facts.slug,
            ExampleBuilder::new().summary(facts.title).value(Some(example(*t, path, examples))).build(),
        )
    });
    let content = ContentBuilder::new()
        .schema(Some(RefOr::Ref(Ref::from_schema_name("Problem"))))
        .examples_from_iter(by_slug)
        .build();
    let mut response = ResponseBuilder::new()
        .description(format!("{}.", titles.join(", or: ")))
        .content("application/problem+json", content);
    if types.iter().any(|t| t.facts().retry_after_s.is_some()) {
        response =
            response.header("Retry-After", header(Type::Integer, "Seconds to wait before trying again."));
    }
    if types.contains(&ProblemType::Unauthorized) {
        response = response.header("WWW-Authenticate", header(Type::String, "`Bearer`."));
    }
    response.build()
}

/// The description of a header with this type.
pub(crate) fn header(kind: Type, description: &str) -> utoipa::openapi::Header {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build();
    HeaderBuilder::new().schema(schema).description(Some(description)).build()
}

fn example(problem_type: ProblemType, path: &str, examples: &Examples) -> Value {
    let violation = |field: &str, code: Code, detail: &str| {
        Problem::violations(vec![Violation::new(field, code, detail)])
    };
    let problem = match (problem_type, examples.file) {
        (ProblemType::InvalidInput, _) => {
            let (field, code, detail) = examples.invalid;
            violation(field, code, detail)
        }
        (ProblemType::TooLarge, Some([detail, _])) => violation("file", Code::TooLarge, detail),
        (ProblemType::UnsupportedMedia, Some([_, detail])) => {
            violation("file", Code::UnsupportedMediaType, detail)
        }
        (other, _) => Problem::of(other),
    };
    serde_json::to_value(problem.body(path, "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c12")).unwrap_or(json!(null))
}
