//! The handwriting generator. A file each for what a request can be about, and one for how the answer looks.

mod answers;
mod bodies;
mod fields;
mod looks;
mod text;

use akhar_tests::Stack;
use serde_json::{Value, json};

const PATH: &str = "/v1/models/handwriting-generator";

/// A greeting: letters, signs to every side, a conjunct, two spaces.
const GREETING: &str = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ";

/// A request of these fields.
fn write(stack: &Stack, fields: &Value) -> reqwest::RequestBuilder {
    stack.request("POST", PATH).json(fields)
}

/// A request of this body under this type.
fn write_raw(stack: &Stack, content_type: &str, body: impl Into<Vec<u8>>) -> reqwest::RequestBuilder {
    stack.request("POST", PATH).header("content-type", content_type).body(body.into())
}

/// A greeting and one more field.
fn greeting_and(field: &str, value: impl Into<Value>) -> Value {
    let mut fields = json!({"text": GREETING});
    fields[field] = value.into();
    fields
}

/// A greeting as a picture and one more field.
fn picture_and(field: &str, value: impl Into<Value>) -> Value {
    let mut fields = greeting_and(field, value);
    fields["with-image"] = true.into();
    fields
}
