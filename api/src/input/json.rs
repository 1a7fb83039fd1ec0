//! Parses an application/json body (RFC 8259) into the members of its object.
//!
//! Members keep their order, and repeated members are kept. Values stay text, and [`super::object`] decides the type
//! of each. So deeply nested values are not parsed recursively.

use std::fmt;

use akhar_platform::text;
use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    body::{ArrivingBody, malformed},
    memory::BodyMemory,
};
use crate::problems::{Problem, ProblemType};

/// The most bytes that a body may have.
const MAX_BYTES: usize = 64 * 1024;
/// The most members that an object may have.
const MAX_MEMBERS: usize = 64;

/// The type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    Array,
    String,
    Number,
    Boolean,
    Null,
}

impl Kind {
    /// The type of a value, which its first byte shows.
    pub(super) fn of(value: &RawValue) -> Self {
        match value.get().trim_start().as_bytes() {
            [b'{', ..] => Self::Object,
            [b'[', ..] => Self::Array,
            [b'"', ..] => Self::String,
            [b't' | b'f', ..] => Self::Boolean,
            [b'n', ..] => Self::Null,
            _ => Self::Number,
        }
    }

    /// The type in words, for error messages.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Object => "an object",
            Self::Array => "an array",
            Self::String => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
        }
    }
}

/// The members of an object, in the order of the body.
pub(crate) type Members = Vec<(String, Box<RawValue>)>;

/// Reads the object in a request's body.
pub(crate) async fn read(request: Request, memory: &BodyMemory) -> Result<Members, Problem> {
    let (parts, body) = request.into_parts();
    let body = ArrivingBody::new(&parts.headers, body, MAX_BYTES, String::new(), memory)?;
    if !is_json(&parts.headers) {
        let detail = "This operation accepts only the Content-Type application/json.";
        return Err(Problem::of(ProblemType::UnsupportedContentType).with_detail(detail));
    }
    let buffer = memory.take(body.announced, MAX_BYTES)?;
    parse(&body.read_into(buffer).await?)
}

/// Whether the Content-Type is application/json. Parameters such as `charset` have no meaning for JSON and are
/// ignored.
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn parse(bytes: &[u8]) -> Result<Members, Problem> {
    let text = text::decode(bytes).map_err(|error| malformed(format!("The body {error}.")))?;
    let unreadable = |error: serde_json::Error| malformed(format!("The body is not valid JSON: {error}."));
    let kind = Kind::of(serde_json::from_str(text).map_err(unreadable)?);
    if kind != Kind::Object {
        return Err(malformed(format!("The body is {}, expected a JSON object.", kind.words())));
    }
    let AllMembers(members) = serde_json::from_str(text).map_err(unreadable)?;
    if members.len() > MAX_MEMBERS {
        return Err(malformed(format!("The body has more than {MAX_MEMBERS} members.")));
    }
    Ok(members)
}

/// The members of an object, including repeated ones.
struct AllMembers(Members);

impl<'de> Deserialize<'de> for AllMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Self)
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
