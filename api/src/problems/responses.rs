//! The OpenAPI descriptions of problems: one response for each HTTP status, with an example of each problem type. What several
//! operations have is a component.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::{
    ContentBuilder, HeaderBuilder, OpenApi, PathItem, Ref, RefOr, Response, ResponseBuilder,
    example::ExampleBuilder,
    path::Operation,
    schema::{ObjectBuilder, SchemaType, Type},
};

use super::{openai::is_openai, problem::Problem, problem_type::ProblemType, violation::Violation};

const MEDIA_TYPE: &str = "application/problem+json";

/// Defines a type that describes the problems of a route in the OpenAPI document. `$path` is a path of the route, which says
/// whether it is of OpenAI's API, and `$violations` is a list of violations for the examples.
macro_rules! problems {
    ($(#[$doc:meta])* $name:ident at $path:expr, $violations:expr => $($problem:ident),+ $(,)?) => {
        $(#[$doc])*
        struct $name;
        impl utoipa::IntoResponses for $name {
            fn responses() -> std::collections::BTreeMap<String, utoipa::openapi::RefOr<utoipa::openapi::Response>> {
                let types = [$($crate::problems::ProblemType::$problem),+];
                $crate::problems::responses::responses(&types, $path, &$violations)
            }
        }
    };
}
pub(crate) use problems;

/// Returns one response for each status, with an example of each problem type.
pub(crate) fn responses(
    types: &[ProblemType],
    path: &str,
    violations: &[Violation],
) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<u16, Vec<ProblemType>> = BTreeMap::new();
    for t in types {
        by_status.entry(Problem::of(*t).status(path).as_u16()).or_default().push(*t);
    }
    by_status
        .into_iter()
        .map(|(status, types)| (status.to_string(), response(&types, path, violations).into()))
        .collect()
}

fn response(types: &[ProblemType], path: &str, violations: &[Violation]) -> Response {
    let titles: Vec<&str> = types.iter().map(|t| t.facts().title).collect();
    let by_slug = types.iter().map(|t| {
        let facts = t.facts();
        (
            facts.slug,
            ExampleBuilder::new().summary(facts.title).value(Some(example(*t, path, violations))).build(),
        )
    });
    let content = ContentBuilder::new()
        .schema(Some(RefOr::Ref(Ref::from_schema_name("Problem"))))
        .examples_from_iter(by_slug)
        .build();
    let mut response = ResponseBuilder::new()
        .description(format!("{}.", titles.join(", or: ")))
        .content(MEDIA_TYPE, content);
    if types.iter().any(|t| t.facts().retry_after_s.is_some()) {
        response =
            response.header("Retry-After", header(Type::Integer, "Seconds to wait before trying again."));
    }
    if types.contains(&ProblemType::Unauthorized) {
        response = response.header("WWW-Authenticate", header(Type::String, "`Bearer`."));
    }
    response.build()
}

/// Makes a component of each response with problems that several operations have. Its name is that of its problems.
pub(crate) fn share(document: &mut OpenApi) {
    let components = document.components.get_or_insert_default();
    let mut all: Vec<(String, &mut RefOr<Response>)> = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for response in document
        .paths
        .paths
        .values_mut()
        .flat_map(operations)
        .flat_map(|o| o.responses.responses.values_mut())
    {
        if matches!(response, RefOr::T(own) if own.content.contains_key(MEDIA_TYPE)) {
            let text = serde_json::to_string(response).unwrap_or_default();
            *counts.entry(text.clone()).or_default() += 1;
            all.push((text, response));
        }
    }
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (text, response) in all {
        let RefOr::T(own) = response else { continue };
        if counts.get(&text).is_none_or(|n| *n < 2) {
            continue;
        }
        let name = names.entry(text).or_insert_with(|| {
            let slugs: Vec<&str> = own.content[MEDIA_TYPE].examples.keys().map(String::as_str).collect();
            let mut name = slugs.join(".");
            for n in 2.. {
                if !components.responses.contains_key(&name) {
                    break;
                }
                name = format!("{}-{n}", slugs.join("."));
            }
            components.responses.insert(name.clone(), own.clone().into());
            name
        });
        *response = Ref::from_response_name(&*name).into();
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

/// The description of a header with this type.
pub(crate) fn header(kind: Type, description: &str) -> utoipa::openapi::Header {
    let schema = ObjectBuilder::new().schema_type(SchemaType::Type(kind)).build();
    HeaderBuilder::new().schema(schema).description(Some(description)).build()
}

/// A problem of this type: with one of the violations, if there is one that causes it. Operations share it, so the path in it
/// is that of one of them, or of one of OpenAI's API, whose problems have other statuses and one more member.
fn example(problem_type: ProblemType, path: &str, violations: &[Violation]) -> Value {
    let path = if is_openai(path) { "/v1/audio/transcriptions" } else { "/v1/models/digit-recognition" };
    let mut problems = violations.iter().map(|violation| Problem::violations(vec![violation.clone()]));
    let problem = problems.find(|problem| problem.problem_type() == problem_type);
    let problem = problem.unwrap_or_else(|| Problem::of(problem_type));
    serde_json::to_value(problem.body(path, "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c12")).unwrap_or(json!(null))
}
