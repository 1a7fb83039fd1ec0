//! All types of problems: their names, statuses and texts.

use axum::http::StatusCode;

/// The fixed properties of a problem type.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The last segment of `type` in the document. Slugs are public: never rename one.
    pub(crate) slug: &'static str,
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// The `title` in the document.
    pub(crate) title: &'static str,
    /// What the problem means and what the caller can do. The default `detail` in the document.
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
            /// All types, in the order of their statuses.
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
        "The body does not have the format that its Content-Type declares. A multipart/form-data body needs a boundary, \
        valid part headers and a closing boundary. An application/json body must be one JSON object.";
    MalformedRequest: "malformed-request", BAD_REQUEST, None, "The request cannot be read",
        "The request is not valid HTTP: its path has an incomplete percent-encoding, or it does not have exactly one valid \
        Host header.";
    Unauthorized: "unauthorized", UNAUTHORIZED, None, "No valid API key",
        "Send a valid API key, as in `Authorization: Bearer <API_KEY>`. Keys are issued by the operator.";
    OutOfScope: "out-of-scope", FORBIDDEN, None, "The token is not for this request",
        "A token is for one operation, for the jobs whose ids its page knows, and for pages of one origin. It does not list jobs, \
        name webhooks, groups or labels, or create tokens. Send the request with an API key.";
    Forbidden: "forbidden", FORBIDDEN, None, "The key may not do this",
        "Requests to /v1/admin need the key of an operator, whose role allows what the request does: `view` reads, `operate` changes \
        queues, workers and jobs, and `admin` also keys. Send the request with another key.";
    NotFound: "not-found", NOT_FOUND, None, "Not found",
        "There is no such resource, or it belongs to another account.";
    MethodNotAllowed: "method-not-allowed", METHOD_NOT_ALLOWED, None, "Method not allowed",
        "The path does not support the method of the request. The Allow header lists the methods that it supports.";
    NotAcceptable: "not-acceptable", NOT_ACCEPTABLE, None, "No acceptable representation",
        "The Accept header excludes every media type that the response can have. Omit the header, or send \
        `Accept: */*`.";
    BodyTimeout: "body-timeout", REQUEST_TIMEOUT, None, "Timed out waiting for the body",
        "The body arrived too slowly: nothing arrived for 30 s, or after the first minute less than 2 KiB per second on \
        average. Send the request again.";
    JobNotFinished: "job-not-finished", CONFLICT, Some(1), "The job has not finished",
        "The job is queued or running, so it has no result yet. Try again later, or wait for \
        it with GET /v1/jobs/{id}?wait=60.";
    JobCancelled: "job-cancelled", CONFLICT, None, "The job was cancelled",
        "The job was cancelled before it ended, so it has no result.";
    JobDeleted: "job-deleted", GONE, None, "The job was deleted",
        "The job had ended, and was deleted: by a DELETE request, or because the time was over for which the request, the \
        account or the operator wanted it kept.";
    TooLarge: "too-large", PAYLOAD_TOO_LARGE, None, "Too large",
        "The file or the whole body is larger than this operation accepts.";
    UnsupportedContentType: "unsupported-content-type", UNSUPPORTED_MEDIA_TYPE, None, "Unsupported Content-Type",
        "The operation does not accept the Content-Type of the request. Send multipart/form-data to an operation that \
        takes a file, and application/json to one that does not.";
    UnsupportedMedia: "unsupported-media", UNSUPPORTED_MEDIA_TYPE, None, "Unsupported file type",
        "The content of the file is not of a type that this operation accepts. The name and the declared type of the \
        file are ignored.";
    ExpectationFailed: "expectation-failed", EXPECTATION_FAILED, None, "Unknown expectation",
        "The only value of the Expect header that the server understands is 100-continue. Omit the header.";
    InvalidInput: "invalid-input", UNPROCESSABLE_ENTITY, None, "The input breaks a constraint",
        "The request can be parsed, but its input violates the constraints that `errors` lists. Correct the input and \
        send the request again.";
    QuotaExceeded: "quota-exceeded", TOO_MANY_REQUESTS, Some(60), "A quota is used up",
        "Your account has used up the quota that `violated-policies` names: `rpm` (requests in a minute), `queued` (jobs that \
        wait), `audio-minutes` (minutes of recordings in a day), `stored-mb` (uploads and results that are stored) or `uploads` (bytes of uploads whose jobs have not ended). The request was not accepted; send it again after the time \
        in Retry-After.";
    AccountBusy: "account-busy", TOO_MANY_REQUESTS, Some(1), "Your account has as much at once as it may have",
        "Your account has as many requests, uploads, waiting jobs or answers that it has not read as it may have at once; `detail` says which. The rest is kept \
        for other accounts. The request was not accepted; send it again after the time in Retry-After.";
    TooManyStreams: "too-many-streams", TOO_MANY_REQUESTS, Some(1), "Too many streams of events",
        "Your account follows as many jobs at once as it may. Close a stream of events, or ask for a job's document with \
        GET /v1/jobs/{id}?wait=60 instead.";
    Internal: "internal", INTERNAL_SERVER_ERROR, None, "Internal error",
        "The service failed to process the request. Quote the request_id when you contact the operator.";
    JobFailed: "job-failed", INTERNAL_SERVER_ERROR, None, "The job failed",
        "The service tried to complete the job several times and failed. The same request may succeed later.";
    UnsupportedTransferCoding: "unsupported-transfer-coding", NOT_IMPLEMENTED, None, "Unsupported Transfer-Encoding",
        "The only transfer coding that the server understands is chunked. Send the body without others, such as gzip.";
    NoUploads: "no-uploads", NOT_IMPLEMENTED, None, "The server takes no uploads apart from requests",
        "Recordings can be sent to a bucket before the request if the server keeps uploads in one: the operator sets \
        AKHAR_UPLOAD_STORE to `s3://bucket/prefix`. Send the recording in the request, or name its URL.";
    QueueFull: "queue-full", SERVICE_UNAVAILABLE, Some(1), "The queue is full",
        "Too many jobs of all accounts wait for this operation. The request was not accepted; send it again after the time in \
        Retry-After, when a place is probably free.";
    QueueClosed: "queue-closed", SERVICE_UNAVAILABLE, Some(30), "The operation accepts no requests now",
        "An operator has closed the queue of this operation, for example before maintenance. The request was not accepted; \
        send it again later.";
    Busy: "busy", SERVICE_UNAVAILABLE, Some(1), "Too many requests at once",
        "The server is processing as many requests, or holds as many uploads, as it can. The request was not accepted; send \
        it again later.";
    Draining: "draining", SERVICE_UNAVAILABLE, Some(1), "Shutting down",
        "The process is stopping. This is the answer to its readiness probe, and the last event of streams that it has open: follow \
        the job again, at another process.";
    Unavailable: "unavailable", SERVICE_UNAVAILABLE, Some(2), "Temporarily unavailable",
        "A service that the API depends on cannot be reached. Send the request again later.";
    NoWorker: "no-worker", SERVICE_UNAVAILABLE, Some(2), "No worker claims jobs",
        "The server accepts requests, but no worker claims their jobs. Start a worker, or resume a drained one.";
    StorageFull: "storage-full", INSUFFICIENT_STORAGE, Some(30), "The storage is full",
        "The database, or the store in which the server keeps uploads, has no space left for the job. The request was not accepted; \
        send it again later.";
}

impl ProblemType {
    /// The type with this slug. `None` if there is none.
    pub(crate) fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|t| t.facts().slug == slug)
    }

    /// The fixed properties of the type.
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
    fn every_429_503_and_507_says_when_to_try_again() {
        for facts in ProblemType::FACTS {
            assert!(
                !matches!(facts.status.as_u16(), 429 | 503 | 507) || facts.retry_after_s.is_some(),
                "{facts:?}"
            );
        }
    }
}
