//! An error document (RFC 9457).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::openai::OpenAiErrorBody;

/// An error document, `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Problem))]
pub struct ProblemBody {
    /// The problem's type: the path of a page that explains it. The last segment never changes.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schema(example = "/problems/invalid-input"))]
    pub problem_type: String,
    /// A short summary, the same for every problem of this type.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "The input breaks a constraint"))]
    pub title: Cow<'static, str>,
    /// The HTTP status.
    #[cfg_attr(feature = "schema", schema(example = 422, minimum = 400, maximum = 599))]
    pub status: u16,
    /// What was wrong with this request.
    pub detail: String,
    /// The path of the request.
    #[cfg_attr(feature = "schema", schema(example = "/v1/models/digit-recognition"))]
    pub instance: String,
    /// The request's id, as in the header `X-Request-Id`. Quote it when you contact the operator.
    pub request_id: String,
    /// All violated constraints. Absent if the problem has another cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub errors: Vec<ViolationBody>,
    /// The names of the quotas that are used up, as in the header `RateLimit-Policy`. Absent if the problem has another
    /// cause.
    #[serde(default, rename = "violated-policies", skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false, value_type = Vec<String>))]
    pub violated_policies: Vec<Cow<'static, str>>,
    /// The problem as clients of OpenAI's API read it. Present only for paths of that API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub error: Option<OpenAiErrorBody>,
}

impl ProblemBody {
    /// The last segment of the type, such as `invalid-input`.
    pub fn slug(&self) -> &str {
        self.problem_type.rsplit('/').next().unwrap_or_default()
    }
}

/// One violated constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Violation))]
pub struct ViolationBody {
    /// The field or query parameter, as the caller named it.
    #[cfg_attr(feature = "schema", schema(example = "top-k"))]
    pub field: String,
    /// A code that never changes. Some codes, such as `undecodable`, are set when the file is decoded.
    #[cfg_attr(feature = "schema", schema(example = "out_of_range"))]
    pub code: String,
    /// What was expected and what was sent.
    #[cfg_attr(feature = "schema", schema(example = "top-k is 6, expected an integer from 1 to 5"))]
    pub detail: String,
}
