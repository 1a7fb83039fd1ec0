//! The description of a request header. It reads the header, and it describes it to the OpenAPI document. An empty header
//! counts as absent, so that clients that send all of them, as Postman does, send valid requests.

use axum::http::{HeaderMap, HeaderValue};
use serde_json::json;
use utoipa::openapi::{
    Required,
    path::{Parameter, ParameterBuilder, ParameterIn},
    schema::{ObjectBuilder, Type},
};

use crate::problems::{Code, Violation};

/// A request header.
#[derive(Debug)]
pub(crate) struct Header {
    /// The name as callers know it.
    pub(crate) name: &'static str,
    /// The description.
    pub(crate) text: &'static str,
    /// The most characters.
    pub(crate) max_length: Option<usize>,
    /// A regular expression that valid values match.
    pub(crate) pattern: Option<&'static str>,
    pub(crate) example: Option<&'static str>,
}

impl Header {
    /// A header whose values have no documented limits.
    pub(crate) const fn new(name: &'static str, text: &'static str) -> Self {
        Self { name, text, max_length: None, pattern: None, example: None }
    }

    /// The header of a request. `None` if there is none. A violation if there is more than one.
    pub(crate) fn read<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, Violation> {
        let mut values = headers.get_all(self.name).iter().filter(|value| !value.is_empty());
        let value = values.next();
        if values.next().is_some() {
            return Err(self.violation(Code::Duplicated, "is given more than once"));
        }
        Ok(value)
    }

    /// A violation. `detail` follows the name of the header.
    pub(crate) fn violation(&self, code: Code, detail: impl std::fmt::Display) -> Violation {
        Violation::new(self.name, code, format!("{} {detail}", self.name))
    }

    /// The parameter in the OpenAPI document.
    pub(crate) fn parameter(&self) -> Parameter {
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(self.max_length)
            .pattern(self.pattern.map(|pattern| format!("^$|{pattern}")))
            .default(Some(json!("")))
            .build();
        ParameterBuilder::new()
            .name(self.name)
            .parameter_in(ParameterIn::Header)
            .description(Some(self.text))
            .required(Required::False)
            .schema(Some(schema))
            .example(self.example.map(|example| json!(example)))
            .build()
    }
}
