//! What the OpenAPI document says of every path of jobs alike.

use crate::problems::{Code, responses::Examples};

/// The path that the examples of their problems name.
pub(super) const PATH: &str = "/v1/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";

/// What the examples of their problems say.
pub(super) const EXAMPLES: Examples = Examples {
    file: None,
    invalid: ("wait", Code::OutOfRange, "wait is 61, expected an integer from 0 to 60"),
};
