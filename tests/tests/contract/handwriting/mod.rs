//! The handwriting generator. There is one file for each part of a request, one for the forms of the answer,
//! and one for the look of the writing.

mod answers;
mod bodies;
mod fields;
mod looks;
mod seeds;
mod svg;
mod text;

use akhar_tests::Stack;
use serde_json::{Value, json};

const PATH: &str = "/v1/models/handwriting-generator";

/// A greeting with letters, signs on every side, a conjunct and two spaces.
const GREETING: &str = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ";

/// A request with these fields.
fn write(stack: &Stack, fields: &Value) -> reqwest::RequestBuilder {
    stack.request("POST", PATH).json(fields)
}

/// A request with this body and content type.
fn write_raw(stack: &Stack, content_type: &str, body: impl Into<Vec<u8>>) -> reqwest::RequestBuilder {
    stack.request("POST", PATH).header("content-type", content_type).body(body.into())
}

/// The fields of a greeting and one more field.
fn greeting_and(field: &str, value: impl Into<Value>) -> Value {
    let mut fields = json!({"text": GREETING});
    fields[field] = value.into();
    fields
}

/// The fields of a greeting as a picture and one more field.
fn picture_and(field: &str, value: impl Into<Value>) -> Value {
    let mut fields = greeting_and(field, value);
    fields["with-image"] = true.into();
    fields
}
