//! The problems an operation can answer with: their types come in, one described response for each status goes out.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::{
    IntoResponses,
    openapi::{
        ContentBuilder, HeaderBuilder, Ref, RefOr, Response, ResponseBuilder,
        example::ExampleBuilder,
        schema::{ObjectBuilder, SchemaType, Type},
    },
};

use super::{
    problem::Problem,
    problem_type::ProblemType,
    violation::{Code, Violation},
};

/// Where an operation's examples are met, and what they break.
struct Setting {
    path: &'static str,
    /// What is said of a file too large, and of one of the wrong type, where there is a file.
    file: Option<[&'static str; 2]>,
    /// A field, and what is wrong with it.
    invalid: (&'static str, Code, &'static str),
}

const RECOGNITION: Setting = Setting {
    path: "/v1/models/digit-recognition",
    file: Some(["file has more than 15360 bytes", "file begins like neither a png nor a jpeg image"]),
    invalid: ("top-k", Code::OutOfRange, "top-k is 6, expected an integer from 1 to 5"),
};
const HANDWRITING: Setting = Setting {
    path: "/v1/models/handwriting-generator",
    file: None,
    invalid: ("line-space", Code::OutOfRange, "line-space is 119.5, expected a number from 120 to 150"),
};
const SPEECH: Setting = Setting {
    path: "/v1/models/speech-recognition",
    file: Some(["file has more than 2097152 bytes", "file begins like neither an mp3 nor a wav file"]),
    invalid: ("lang", Code::NotAChoice, "lang is \"fr\", expected one of pa, en"),
};

macro_rules! problems {
    ($(#[$doc:meta])* $name:ident, $setting:ident: $($problem:ident),+ $(,)?) => {
        $(#[$doc])*
        pub(crate) struct $name;
        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Response>> {
                responses(&[$(ProblemType::$problem),+], &$setting)
            }
        }
    };
}

problems! {
    /// What can go wrong with a recognition.
    RecognitionProblems, RECOGNITION: MalformedBody, Unauthorized, NotAcceptable, BodyTimeout, JobCancelled, TooLarge,
    UnsupportedContentType, UnsupportedMedia, InvalidInput, Internal, JobFailed, QueueFull, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with handwriting.
    HandwritingProblems, HANDWRITING: MalformedBody, Unauthorized, NotAcceptable, BodyTimeout, JobCancelled, TooLarge,
    UnsupportedContentType, InvalidInput, Internal, JobFailed, QueueFull, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with a speech recognition.
    SpeechProblems, SPEECH: MalformedBody, Unauthorized, NotAcceptable, BodyTimeout, JobCancelled, TooLarge,
    UnsupportedContentType, UnsupportedMedia, InvalidInput, Internal, JobFailed, QueueFull, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with looking at a job.
    JobProblems, RECOGNITION: Unauthorized, NotFound, NotAcceptable, InvalidInput, Internal, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with asking for a job's result.
    JobResultProblems, RECOGNITION: Unauthorized, NotFound, NotAcceptable, JobNotFinished, JobCancelled, InvalidInput, Internal,
    JobFailed, Busy, Draining, Unavailable,
}
problems! {
    /// What can go wrong with cancelling a job.
    JobCancelProblems, RECOGNITION: Unauthorized, NotFound, NotAcceptable, JobNotCancellable, InvalidInput, Internal, Busy, Draining,
    Unavailable,
}
problems! {
    /// Why a process is not ready.
    ReadyProblems, RECOGNITION: Internal, Draining, Unavailable,
}

/// One response for each status, with an example for each problem type.
fn responses(types: &[ProblemType], setting: &Setting) -> BTreeMap<String, RefOr<Response>> {
    let mut by_status: BTreeMap<u16, Vec<ProblemType>> = BTreeMap::new();
    for t in types {
        by_status.entry(t.facts().status.as_u16()).or_default().push(*t);
    }
    by_status
        .into_iter()
        .map(|(status, types)| (status.to_string(), response(&types, setting).into()))
        .collect()
}

fn response(types: &[ProblemType], setting: &Setting) -> Response {
    let titles: Vec<&str> = types.iter().map(|t| t.facts().title).collect();
    let examples = types.iter().map(|t| {
        let facts = t.facts();
        (facts.slug, ExampleBuilder::new().summary(facts.title).value(Some(example(*t, setting))).build())
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

fn example(problem_type: ProblemType, setting: &Setting) -> Value {
    let violation = |field: &str, code: Code, detail: &str| {
        Problem::violations(vec![Violation::new(field, code, detail)])
    };
    let problem = match (problem_type, setting.file) {
        (ProblemType::InvalidInput, _) => {
            let (field, code, detail) = setting.invalid;
            violation(field, code, detail)
        }
        (ProblemType::TooLarge, Some([detail, _])) => violation("file", Code::TooLarge, detail),
        (ProblemType::UnsupportedMedia, Some([_, detail])) => {
            violation("file", Code::UnsupportedMediaType, detail)
        }
        (other, _) => Problem::of(other),
    };
    serde_json::to_value(problem.body(setting.path, "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c12"))
        .unwrap_or(json!(null))
}
