//! What the OpenAPI descriptions of all job routes have in common.

use crate::problems::{Code, responses::Examples};

/// The path in the examples of problems.
pub(super) const PATH: &str = "/v1/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";

/// The details in the examples of problems of the list.
pub(super) const LIST_EXAMPLES: Examples = Examples {
    file: None,
    invalid: ("limit", Code::OutOfRange, "limit is 101, expected an integer from 1 to 100"),
};

/// The details in the examples of problems.
pub(super) const EXAMPLES: Examples = Examples {
    file: None,
    invalid: ("wait", Code::OutOfRange, "wait is 61, expected an integer from 0 to 60"),
};

/// The path in the examples of problems of the events.
pub(super) const EVENTS_PATH: &str = "/v1/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11/events";

/// The details in the examples of problems of the events.
pub(super) const EVENT_EXAMPLES: Examples = Examples {
    file: None,
    invalid: (
        "Last-Event-ID",
        Code::NotAnEvent,
        "Last-Event-ID is \"x\", expected the id of an event of this job, such as \"1.5\" or \"end\"",
    ),
};
