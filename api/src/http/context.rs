//! The headers of a request that handlers need: request id, trace context, idempotency key, webhook, retention, group, labels,
//! Prefer and Accept.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Instant,
};

use akhar_jobs::{GroupName, JobId};
use akhar_webhooks::{CallerUrl, UrlRules};
use axum::{
    extract::{FromRef, FromRequestParts, MatchedPath},
    http::{HeaderMap, HeaderName, request::Parts},
};
use uuid::Uuid;

use super::{
    accept::Accept,
    answers::RequestShare,
    group,
    header::Header,
    idempotency_key,
    prefer::{self, Preferences},
    rate_limit::RateLimits,
    representation::Representation,
    retain, webhook,
};
use crate::problems::{Problem, ProblemType, Violation};

/// The header with the request's id, in requests and responses.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: &str = "traceparent";

/// The request headers that every operation reads.
pub(crate) const HEADERS: [Header; 9] = [
    prefer::HEADER,
    idempotency_key::HEADER,
    webhook::OF_JOB,
    retain::HEADER,
    group::GROUP,
    webhook::OF_GROUP,
    group::LABEL,
    Header::new(
        "X-Request-Id",
        "An id for the request: 1 to 128 visible ASCII characters. It is returned with the response and is in every log\n\
         line about the request.",
    ),
    Header::new(TRACEPARENT, "The W3C trace context of the caller."),
];

/// The header of a response with the id of the job that the request made.
pub(crate) const AKHAR_JOB: HeaderName = HeaderName::from_static("akhar-job");

/// What the middleware records about every request.
#[derive(Debug, Clone)]
pub(crate) struct RequestInfo {
    /// The caller's X-Request-Id, or a new UUIDv7.
    pub(crate) id: Arc<str>,
    /// The path of the request.
    pub(crate) path: Arc<str>,
    /// When the headers were received.
    pub(crate) received_at: Instant,
    /// The job that the request made, once it is submitted.
    pub(crate) job: Arc<OnceLock<JobId>>,
    /// The quotas that the request counts against.
    pub(crate) rate_limits: RateLimits,
    /// What the request has of those that may be in progress.
    pub(crate) share: RequestShare,
    /// The route that the path matched, if there is one.
    pub(crate) route: Arc<OnceLock<MatchedPath>>,
}

/// What a handler needs to know about its request, apart from the form.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    /// The request's id, path and time of arrival.
    pub(crate) request: RequestInfo,
    /// The W3C trace context, if it is well formed.
    pub(crate) traceparent: Option<String>,
    /// The key by which the caller recognises a repeated request.
    pub(crate) idempotency_key: Option<String>,
    /// Where the end of the job is announced, if the request says so.
    pub(crate) webhook: Option<CallerUrl>,
    /// How long the job is kept after its end, seconds, if the request says so.
    pub(crate) retain_s: Option<i32>,
    /// The group in which the job is counted.
    pub(crate) group: Option<GroupName>,
    /// Where the end of the group is announced, if the request says so.
    pub(crate) group_webhook: Option<CallerUrl>,
    /// The labels of the job.
    pub(crate) labels: BTreeMap<String, String>,
    /// The preferences about waiting.
    pub(crate) preferences: Preferences,
    /// The media types that the caller accepts.
    accept: Accept,
}

impl RequestInfo {
    /// Records a request whose headers have just been received.
    pub(crate) fn new(headers: &HeaderMap, path: &str) -> Self {
        Self {
            id: request_id(headers),
            path: path.into(),
            received_at: Instant::now(),
            job: Arc::default(),
            rate_limits: RateLimits::default(),
            share: RequestShare::default(),
            route: Arc::default(),
        }
    }
}

impl RequestContext {
    /// The representation that the caller prefers, or a 406 problem if it accepts none of them.
    pub(crate) fn negotiate(&self, offered: &[Representation]) -> Result<Representation, Problem> {
        self.accept.preferred(offered).ok_or_else(|| {
            let types: Vec<&str> = offered.iter().map(|o| o.media_type()).collect();
            let detail =
                format!("The response can only be {}, which the Accept header excludes.", types.join(" or "));
            Problem::of(ProblemType::NotAcceptable).with_detail(detail)
        })
    }
}

/// A request whose response can be JSON. Any other is refused with a 406 problem.
#[derive(Debug)]
pub(crate) struct AcceptsJson;

impl<S> FromRequestParts<S> for AcceptsJson
where
    Arc<UrlRules>: FromRef<S>,
    S: Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let context = RequestContext::from_request_parts(parts, state).await?;
        context.negotiate(Representation::JSON).map(|_| Self)
    }
}

impl<S> FromRequestParts<S> for RequestContext
where
    Arc<UrlRules>: FromRef<S>,
    S: Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let request = parts.extensions.get::<RequestInfo>();
        let request = request.ok_or_else(|| Problem::internal("the request did not pass the middleware"))?;
        let headers = &parts.headers;
        let mut violations = Vec::new();
        let idempotency_key = noted(idempotency_key::read(headers), &mut violations);
        let rules = Arc::<UrlRules>::from_ref(state);
        let webhook = noted(webhook::read(&webhook::OF_JOB, headers, &rules), &mut violations);
        let group_webhook = noted(webhook::read(&webhook::OF_GROUP, headers, &rules), &mut violations);
        let retain_s = noted(retain::read(headers), &mut violations);
        let group = noted(group::read(headers, group_webhook.is_some()), &mut violations);
        let labels = noted(group::read_labels(headers), &mut violations);
        Problem::reject_if_any(violations)?;
        Ok(Self {
            request: request.clone(),
            traceparent: traceparent(headers),
            idempotency_key,
            webhook,
            retain_s,
            group,
            group_webhook,
            labels,
            preferences: Preferences::read(headers),
            accept: Accept::read(headers),
        })
    }
}

/// The value of a header. If it has a violation, notes that, and the value is that of a request without the header.
fn noted<T: Default>(value: Result<T, Violation>, violations: &mut Vec<Violation>) -> T {
    value.unwrap_or_else(|violation| {
        violations.push(violation);
        T::default()
    })
}

/// The id that the caller sent, if it is 1 to 128 visible ASCII characters. Otherwise a new id.
fn request_id(headers: &HeaderMap) -> Arc<str> {
    let given = headers.get(X_REQUEST_ID).and_then(|v| v.to_str().ok());
    let usable = given.filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic()));
    usable.map_or_else(|| Uuid::now_v7().to_string().into(), Into::into)
}

/// The traceparent header, if it has the format of <https://www.w3.org/TR/trace-context/#traceparent-header>.
pub(super) fn traceparent(headers: &HeaderMap) -> Option<String> {
    let text = headers.get(TRACEPARENT)?.to_str().ok()?;
    let hex = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let nonzero = |s: &str| s.bytes().any(|b| b != b'0');
    let mut parts = text.splitn(5, '-');
    let version = parts.next()?;
    let trace = parts.next()?;
    let parent = parts.next()?;
    let flags = parts.next()?;
    let is_well_formed = hex(version, 2)
        && version != "ff"
        && hex(trace, 32)
        && nonzero(trace)
        && hex(parent, 16)
        && nonzero(parent)
        && hex(flags, 2)
        && (version != "00" || parts.next().is_none())
        && text.len() <= 128;
    is_well_formed.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &[u8]) -> HeaderMap {
        HeaderMap::from_iter([(name, value.try_into().unwrap())])
    }

    #[test]
    fn a_valid_request_id_is_kept_and_any_other_is_replaced() {
        let longest = "x".repeat(128);
        for kept in ["a", "req-1/2:3", &longest] {
            assert_eq!(&*request_id(&headers(X_REQUEST_ID, kept.as_bytes())), kept);
        }
        let too_long = "x".repeat(129);
        for replaced in [&b""[..], b"a b", "ੳ".as_bytes(), b"\xff", too_long.as_bytes()] {
            let id = request_id(&headers(X_REQUEST_ID, replaced));
            assert_eq!(Uuid::try_parse(&id).unwrap().get_version_num(), 7);
        }
    }

    #[test]
    fn only_a_well_formed_traceparent_is_kept() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let kept = |text: &str| {
            traceparent(&headers(HeaderName::from_static(TRACEPARENT), text.as_bytes())).is_some()
        };
        assert!(kept(good));
        assert!(kept(&format!("01{}-more", &good[2..])));
        for odd in [
            "",
            "00",
            &good[..54],
            &format!("{good}-more"),
            &good.to_uppercase(),
            &good.replace("00-", "ff-"),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ] {
            assert!(!kept(odd), "{odd}");
        }
    }
}
