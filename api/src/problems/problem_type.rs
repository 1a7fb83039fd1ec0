//! Every kind of error a caller can meet: its name, its status, and the words of its page.

use axum::http::StatusCode;

/// What is fixed about a problem type.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The last segment of its `type`. Slugs are public: never rename one.
    pub(crate) slug: &'static str,
    /// Its HTTP status.
    pub(crate) status: StatusCode,
    /// Its `title`.
    pub(crate) title: &'static str,
    /// What it means and what the caller can do; the default `detail`.
    pub(crate) meaning: &'static str,
    /// Seconds after which the same request may succeed.
    pub(crate) retry_after_s: Option<u32>,
}

macro_rules! problem_types {
    ($($name:ident: $slug:literal, $status:ident, $retry_after_s:expr, $title:literal, $meaning:literal;)+) => {
        /// A problem type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ProblemType { $($name),+ }

        impl ProblemType {
            /// Every type, by status.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];
            const FACTS: &[Facts] = &[$(Facts {
                slug: $slug,
                status: StatusCode::$status,
                title: $title,
                meaning: $meaning,
                retry_after_s: $retry_after_s,
            }),+];
        }
    };
}

problem_types! {
    MalformedBody: "malformed-body", BAD_REQUEST, None, "The body cannot be read",
        "The body is not what its Content-Type promises: multipart/form-data without a boundary, with broken \
        part headers or no end; or application/json that cannot be parsed or is no object.";
    Unauthorized: "unauthorized", UNAUTHORIZED, None, "No valid API key",
        "Send a valid API key, as in `Authorization: Bearer <API_KEY>`. Keys are issued by the operator.";
    NotFound: "not-found", NOT_FOUND, None, "Nothing is here",
        "There is no such resource, or it belongs to another API key.";
    MethodNotAllowed: "method-not-allowed", METHOD_NOT_ALLOWED, None, "Method not allowed",
        "The path exists, but not with this method; the Allow header lists those it has.";
    NotAcceptable: "not-acceptable", NOT_ACCEPTABLE, None, "No acceptable representation",
        "The Accept header excludes every type this operation can answer with.";
    BodyTimeout: "body-timeout", REQUEST_TIMEOUT, None, "The body stopped arriving",
        "The connection was open but the rest of the body did not come in time. Send the request again.";
    JobNotFinished: "job-not-finished", CONFLICT, Some(1), "The job has not ended",
        "The job is queued or running, so it has no result yet. Ask again, or wait with GET \
        /v1/jobs/{id}?wait=60.";
    JobCancelled: "job-cancelled", CONFLICT, None, "The job was cancelled",
        "The job was cancelled before it started; it has no result and never will.";
    JobNotCancellable: "job-not-cancellable", CONFLICT, None, "The job can no longer be cancelled",
        "Only a job that waits in its queue can be cancelled; this one is running or over.";
    TooLarge: "too-large", PAYLOAD_TOO_LARGE, None, "Too large",
        "The file or the whole body is larger than this operation takes.";
    UnsupportedContentType: "unsupported-content-type", UNSUPPORTED_MEDIA_TYPE, None, "Unsupported Content-Type",
        "The Content-Type is not the one this operation reads: multipart/form-data where it takes a file, \
        application/json where it does not.";
    UnsupportedMedia: "unsupported-media", UNSUPPORTED_MEDIA_TYPE, None, "Unsupported file type",
        "The file's first bytes are not those of a type this operation takes, whatever its name or declared \
        type.";
    InvalidInput: "invalid-input", UNPROCESSABLE_ENTITY, None, "The input breaks a constraint",
        "The request was read, but its input breaks the constraints listed in `errors`.";
    Internal: "internal", INTERNAL_SERVER_ERROR, None, "Internal error",
        "The service failed. The cause is in its log, under this request_id.";
    JobFailed: "job-failed", INTERNAL_SERVER_ERROR, None, "The job failed",
        "The service could not do this job within its attempts. The same request may succeed later.";
    QueueFull: "queue-full", SERVICE_UNAVAILABLE, Some(1), "The queue is full",
        "As many jobs wait as may. Nothing was accepted; send the request again later.";
    Busy: "busy", SERVICE_UNAVAILABLE, Some(1), "Too many requests at once",
        "This process holds as many requests as it may. Nothing was accepted; send the request again later.";
    Draining: "draining", SERVICE_UNAVAILABLE, Some(1), "Shutting down",
        "This process is finishing what it has and takes nothing new. Send the request again.";
    Unavailable: "unavailable", SERVICE_UNAVAILABLE, Some(2), "Temporarily unavailable",
        "The service cannot reach what it depends on. Send the request again later.";
}

impl ProblemType {
    /// The type with this slug.
    pub(crate) fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|t| t.facts().slug == slug)
    }

    /// What is fixed about it.
    pub(crate) const fn facts(self) -> &'static Facts {
        &Self::FACTS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_unique_and_found() {
        for t in ProblemType::ALL {
            assert_eq!(ProblemType::from_slug(t.facts().slug), Some(*t));
        }
    }

    #[test]
    fn every_503_says_when_to_come_back() {
        for facts in ProblemType::FACTS {
            assert!(
                facts.status != StatusCode::SERVICE_UNAVAILABLE || facts.retry_after_s.is_some(),
                "{facts:?}"
            );
        }
    }
}
