//! A problem: an error that a caller gets as a problem+json document (RFC 9457).
//!
//! A handler returns a [`Problem`]. The middleware, which knows the request, writes the document. Causes are logged
//! where they occur and are never sent to the caller.

use std::{borrow::Cow, time::Duration};

use akhar_accounts::NameError;
use akhar_client::{ProblemBody, ViolationBody};
use akhar_jobs::{
    backend::{BatchError, QueueFull, SubmitError},
    fair_share::Limit,
    uploads::UploadStoreError,
};
use akhar_operators::{ChangeError, Forbidden, KeyError};
use akhar_platform::budget::LimitReached;
use akhar_platform::{
    database::{is_storage_full, may_recover},
    metrics,
};
use akhar_requests::Unreadable;
use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    openai,
    problem_type::ProblemType,
    violation::{Code, Violation},
};

/// Says to clients of OpenAI's API whether to repeat the request.
const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// An error for a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    kind: ProblemType,
    detail: Cow<'static, str>,
    errors: Vec<Violation>,
    /// Seconds after which the same request may succeed.
    retry_after_s: Option<u64>,
    /// The name of the quota that is used up.
    quota: Option<&'static str>,
}

/// Why a request was refused, for the log.
#[derive(Debug)]
pub(crate) struct Reason {
    /// The type of the problem.
    pub(crate) problem: &'static str,
    /// The first field that is wrong. Callers can name fields as they like, so only the start of a long name.
    pub(crate) field: Option<String>,
    /// What is wrong with it, or the name of the quota that is used up.
    pub(crate) code: Option<String>,
}

/// The most characters of the name of a field that the log has.
const MAX_LOGGED_FIELD: usize = 40;

impl Problem {
    /// A problem of this type. Its detail is the text of the type's page.
    pub(crate) const fn of(problem_type: ProblemType) -> Self {
        let facts = problem_type.facts();
        let retry_after_s = match facts.retry_after_s {
            Some(seconds) => Some(seconds as u64),
            None => None,
        };
        let detail = Cow::Borrowed(facts.meaning);
        Self { kind: problem_type, detail, errors: Vec::new(), retry_after_s, quota: None }
    }

    /// Replaces the detail.
    pub(crate) fn with_detail(self, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    /// Adds a sentence to the detail.
    pub(crate) fn with_advice(self, advice: &str) -> Self {
        let detail = format!("{} {advice}", self.detail);
        self.with_detail(detail)
    }

    /// Replaces the time after which the same request may succeed. It is rounded up to whole seconds.
    pub(crate) fn with_retry_after(self, time: Duration) -> Self {
        Self { retry_after_s: Some(time.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)), ..self }
    }

    /// The problem of violated constraints. The most severe violation decides its type: first 413, then 415, then
    /// 422.
    pub(crate) fn violations(errors: Vec<Violation>) -> Self {
        let has = |code: Code| errors.iter().any(|e| e.code == code.name());
        let problem_type = if has(Code::TooLarge) {
            ProblemType::TooLarge
        } else if has(Code::UnsupportedMediaType) {
            ProblemType::UnsupportedMedia
        } else {
            ProblemType::InvalidInput
        };
        let detail = match errors.as_slice() {
            [only] => only.detail.clone(),
            many => format!("{} constraints are violated; `errors` lists them.", many.len()),
        };
        Self { errors, ..Self::of(problem_type).with_detail(detail) }
    }

    /// The problem of a quota that is used up. `detail` says how large it is.
    pub(crate) fn quota(name: &'static str, detail: String, retry_after: Duration) -> Self {
        let problem = Self::of(ProblemType::QuotaExceeded).with_detail(detail).with_retry_after(retry_after);
        Self { quota: Some(name), ..problem }
    }

    /// Counts the response that this problem becomes.
    pub(crate) fn count(&self) {
        metrics::PROBLEMS.add_one([self.kind.facts().slug]);
        let streams = (self.kind == ProblemType::TooManyStreams).then_some("streams");
        if let Some(quota) = self.quota.or(streams) {
            metrics::QUOTA_REFUSALS.add_one([quota]);
        }
    }

    /// What the log says of it.
    pub(crate) fn reason(&self) -> Reason {
        let first = self.errors.first();
        Reason {
            problem: self.kind.facts().slug,
            field: first.map(|violation| violation.field.chars().take(MAX_LOGGED_FIELD).collect()),
            code: first.map(|violation| violation.code.clone()).or_else(|| self.quota.map(str::to_owned)),
        }
    }

    /// The codes of the violations, in order.
    #[cfg(test)]
    pub(crate) fn codes(&self) -> Vec<String> {
        self.errors.iter().map(|violation| violation.code.clone()).collect()
    }

    /// Fails with the problem of these violations, if there are any.
    pub(crate) fn reject_if_any(errors: Vec<Violation>) -> Result<(), Self> {
        if errors.is_empty() { Ok(()) } else { Err(Self::violations(errors)) }
    }

    /// An internal error. Logs its cause.
    pub(crate) fn internal(cause: impl std::fmt::Display) -> Self {
        tracing::error!(%cause, "internal error");
        Self::of(ProblemType::Internal)
    }

    /// The problem of a statement that failed. Logs its cause.
    pub(crate) fn database(cause: &sqlx::Error) -> Self {
        if is_storage_full(cause) {
            tracing::error!(%cause, "the database has no space left");
            Self::of(ProblemType::StorageFull)
        } else if may_recover(cause) {
            tracing::warn!(%cause, "the database is unavailable");
            Self::of(ProblemType::Unavailable)
        } else {
            Self::internal(cause)
        }
    }

    /// The type of the problem.
    pub(crate) const fn problem_type(&self) -> ProblemType {
        self.kind
    }

    /// The status of the problem on the path of the request.
    pub(super) fn status(&self, path: &str) -> StatusCode {
        openai::status(path, self.kind.facts().status)
    }

    /// The document of the problem. `instance` is the path of the request.
    pub(crate) fn body(self, instance: &str, request_id: &str) -> ProblemBody {
        let facts = self.kind.facts();
        let status = self.status(instance).as_u16();
        let errors: Vec<ViolationBody> = self.errors.into_iter().map(ViolationBody::from).collect();
        let error = openai::error(instance, facts.slug, status, &self.detail, &errors);
        ProblemBody {
            problem_type: format!("/problems/{}", facts.slug),
            title: facts.title.into(),
            status,
            detail: self.detail.into_owned(),
            instance: instance.to_owned(),
            request_id: request_id.to_owned(),
            errors,
            error,
            violated_policies: self.quota.into_iter().map(Cow::Borrowed).collect(),
        }
    }

    /// Writes the document, its status and its headers into a response that [`Problem::into_response`] has created. The detail
    /// of a method that is not allowed also has the methods in the response's Allow header.
    pub(crate) fn write(mut self, response: &mut Response, instance: &str, request_id: &str) {
        let status = self.status(instance);
        let retry_after_s = self.retry_after_s;
        if status == StatusCode::METHOD_NOT_ALLOWED
            && let Some(allow) = response.headers().get(header::ALLOW).and_then(|allow| allow.to_str().ok())
        {
            let supported = format!("{} It supports {}.", self.detail, allow.replace(',', ", "));
            self.detail = supported.into();
        }
        let document = serde_json::to_vec(&self.body(instance, request_id)).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CONTENT_LENGTH, document.len().into());
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if openai::is_final(instance, status, retry_after_s) {
            headers.insert(X_SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        *response.status_mut() = status;
        *response.body_mut() = Body::from(document);
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.kind.facts().status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// The problem of a request that needs the amount, if the keys are accounts.
impl From<LimitReached> for ProblemType {
    fn from(limit: LimitReached) -> Self {
        match limit {
            LimitReached::OfKey => Self::AccountBusy,
            LimitReached::OfAll => Self::Busy,
        }
    }
}

impl From<Violation> for Problem {
    fn from(violation: Violation) -> Self {
        Self::violations(vec![violation])
    }
}

impl From<sqlx::Error> for Problem {
    fn from(cause: sqlx::Error) -> Self {
        Self::database(&cause)
    }
}

impl From<Unreadable> for Problem {
    fn from(cause: Unreadable) -> Self {
        Self::internal(cause)
    }
}

impl From<Forbidden> for Problem {
    fn from(cause: Forbidden) -> Self {
        let (role, needed) = (cause.role.name(), cause.needed.name());
        let detail = format!("The role of the key is {role}, and the request needs {needed}.");
        Self::of(ProblemType::Forbidden).with_detail(detail)
    }
}

impl From<ChangeError> for Problem {
    fn from(cause: ChangeError) -> Self {
        match cause {
            ChangeError::Forbidden(forbidden) => forbidden.into(),
            ChangeError::Database(cause) => cause.into(),
        }
    }
}

impl From<KeyError> for Problem {
    fn from(cause: KeyError) -> Self {
        match cause {
            KeyError::Forbidden(forbidden) => forbidden.into(),
            KeyError::Database(cause) => cause.into(),
            KeyError::NotFound(_) | KeyError::Replaced(_) => {
                let detail = "No key has this prefix, or the key is revoked or was rotated before.";
                Self::of(ProblemType::NotFound).with_detail(detail)
            }
            KeyError::Name(cause) => {
                let code = match cause {
                    NameError::Length => Code::TooShort,
                    NameError::Hidden(_) => Code::CharacterNotAllowed,
                };
                Self::violations(vec![Violation::new("name", code, format!("name {cause}"))])
            }
            KeyError::NoAccount(_) | KeyError::SeveralAccounts(_) => {
                let detail = "account is not the name or id of one account, and not the prefix of a key";
                Self::violations(vec![Violation::new("account", Code::NotAChoice, detail)])
            }
        }
    }
}

impl From<BatchError> for Problem {
    fn from(cause: BatchError) -> Self {
        match &cause {
            BatchError::Database(error) => Self::database(error),
            BatchError::Stopped => Self::of(ProblemType::Unavailable),
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(cause: SubmitError) -> Self {
        match cause {
            SubmitError::QueueFull(full) => full.into(),
            SubmitError::Batch(cause) => cause.into(),
        }
    }
}

impl From<UploadStoreError> for Problem {
    fn from(cause: UploadStoreError) -> Self {
        let (kind, reason) = if cause.is_full() {
            tracing::error!(%cause, "the store of uploads is full");
            (ProblemType::StorageFull, "has no space left")
        } else {
            tracing::error!(%cause, "the store of uploads is unavailable");
            (ProblemType::Unavailable, "cannot be used")
        };
        Self::of(kind).with_detail(format!(
            "The store in which the server keeps uploads {reason}. The request was not accepted; send it again later."
        ))
    }
}

impl From<QueueFull> for Problem {
    fn from(full: QueueFull) -> Self {
        let problem = match full.limit {
            Limit::Quota(quota) => {
                let detail =
                    format!("Your account may have {quota} jobs waiting in the queue of this operation.");
                return Self::quota("queued", detail, full.retry_after);
            }
            Limit::Account => Self::of(ProblemType::AccountBusy).with_detail(
                "The waiting jobs of your account take up its share of this operation's queue; the rest is kept for other \
                 accounts. The request was not accepted; send it again when some of your jobs have started.",
            ),
            Limit::Queue => Self::of(ProblemType::QueueFull),
            Limit::Closed => Self::of(ProblemType::QueueClosed),
        };
        problem.with_retry_after(full.retry_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_problem_document_has_the_members_of_rfc_9457() {
        let problem = Problem::violations(vec![Violation::new("top-k", Code::OutOfRange, "top-k is 6")]);
        let body = serde_json::to_value(problem.body("/v1/models/digit-recognition", "r1")).unwrap();
        assert_eq!(
            body,
            json!({
                "type": "/problems/invalid-input", "title": "The input breaks a constraint", "status": 422,
                "detail": "top-k is 6", "instance": "/v1/models/digit-recognition", "request_id": "r1",
                "errors": [{"field": "top-k", "code": "out_of_range", "detail": "top-k is 6"}],
            })
        );
    }

    #[test]
    fn clients_of_openai_are_told_not_to_repeat_a_cancelled_request() {
        let mut response = Response::default();
        Problem::of(ProblemType::JobCancelled).write(&mut response, "/v1/audio/transcriptions", "r");
        assert_eq!(response.headers()[X_SHOULD_RETRY], "false");
    }

    #[test]
    fn a_document_without_violations_has_no_errors_member() {
        let body = serde_json::to_value(Problem::of(ProblemType::NotFound).body("/x", "r")).unwrap();
        assert!(body.get("errors").is_none());
    }

    #[test]
    fn the_most_severe_violation_decides_the_type() {
        let of = |codes: &[Code]| {
            Problem::violations(codes.iter().map(|c| Violation::new("f", *c, "d")).collect()).problem_type()
        };
        assert_eq!(of(&[Code::OutOfRange, Code::UnsupportedMediaType]), ProblemType::UnsupportedMedia);
        assert_eq!(of(&[Code::UnsupportedMediaType, Code::TooLarge]), ProblemType::TooLarge);
        assert_eq!(of(&[Code::Missing, Code::Unknown]), ProblemType::InvalidInput);
    }

    #[test]
    fn a_store_of_uploads_that_is_full_is_not_one_that_is_away() {
        let of = |cause: &str| {
            let (url, cause) = ("file:///uploads".to_owned(), cause.to_owned());
            Problem::from(UploadStoreError::Failed { what: "write to", url, cause }).problem_type()
        };
        assert_eq!(of("No space left on device (os error 28)"), ProblemType::StorageFull);
        assert_eq!(of("Connection refused (os error 111)"), ProblemType::Unavailable);
    }

    #[test]
    fn a_transient_database_error_is_unavailable_and_any_other_is_internal() {
        assert_eq!(Problem::from(sqlx::Error::PoolTimedOut).problem_type(), ProblemType::Unavailable);
        assert_eq!(Problem::from(sqlx::Error::RowNotFound).problem_type(), ProblemType::Internal);
    }
}
