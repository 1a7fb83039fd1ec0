//! Turns a request whose fields and file are checked into a new job: finds how long it is kept and where its end is announced,
//! decides which job it is, and reserves what it may need of its account's quota.

use std::sync::Arc;

use akhar_jobs::{NewJob, RecordingUrl};
use akhar_platform::database::retry_transient;
use akhar_requests::{Operation, Parameters, Upload};
use akhar_webhooks::{CallerUrl, signing_secrets};
use tracing::Span;

use super::{audio_quota, identity, reserved, retention, stored_quota};
use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, header::Header, webhook},
    input::source::Source,
    problems::{Code, Problem, Violation},
};

/// A request for an operation.
#[derive(Debug)]
pub(crate) struct Intake<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) context: &'a RequestContext,
    pub(crate) parameters: Parameters,
    pub(crate) source: Option<Source>,
}

/// A job that may be submitted. The file of its request is not where it is kept yet.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) operation: Operation,
    pub(super) job: NewJob,
    pub(super) upload: Option<Upload>,
    /// Whether the request has an idempotency key or an upload of its own. Then the job may be that of an earlier request, and it
    /// goes on when its client disconnects, because another request may wait for it or ask for it later.
    pub(super) has_key: bool,
    /// Whether an earlier request has submitted the job. Then this one has no file.
    pub(super) is_submitted: bool,
}

impl Intake<'_> {
    /// The job of the request, or the problem that refuses it.
    pub(super) async fn admit(self, app: &App, asynchronous: bool) -> Result<Admitted, Problem> {
        let Self { caller, context, parameters, source } = self;
        let retain_s = retention::seconds(caller, context, app.retention_s())?;
        let webhook_url = named(app, caller, &webhook::OF_JOB, context.webhook.as_ref()).await?;
        let group_webhook_url =
            named(app, caller, &webhook::OF_GROUP, context.group_webhook.as_ref()).await?;
        let (reserved_upload, reserved) = match source {
            Some(Source::Upload(id)) => (Some(id), reserved::find(app, caller, id).await?),
            _ => (None, None),
        };
        let is_submitted = reserved_upload.is_some() && reserved.is_none();
        let has_key = context.idempotency_key.is_some() || reserved_upload.is_some();
        let id = identity::identify(app, caller, context, &parameters, source.as_ref()).await?;
        stored_quota::check(app, caller, has_key.then_some(id)).await?;
        let operation = parameters.operation();
        audio_quota::reserve(app, caller, context, (id, operation), source.as_ref()).await?;
        let (upload, recording_url) = match source {
            Some(Source::Sent(upload)) => (Some(upload), None),
            Some(Source::Url(url)) => (None, Some(RecordingUrl::from(url.as_str().to_owned()))),
            Some(Source::Upload(_) | Source::Live(_)) | None => (None, None),
        };
        Span::current().record("job", tracing::field::display(id));
        let job = NewJob {
            id,
            account_id: caller.account_id,
            work: parameters.work().map_err(Problem::internal)?,
            upload: reserved,
            reserved_upload,
            recording_url,
            request_id: context.request.id.to_string(),
            traceparent: context.traceparent.clone(),
            asynchronous,
            webhook_url: webhook_url.or_else(|| caller.webhook.url.as_deref().map(Into::into)),
            retain_s,
            group: context.group.clone(),
            group_webhook_url,
            labels: context.labels.clone(),
            max_queued: caller.quotas.max_queued.map(i64::from),
        };
        Ok(Admitted { operation, job, upload, has_key, is_submitted })
    }
}

/// The URL that this header of the request names, if webhooks of the account can be signed.
async fn named(
    app: &App,
    caller: &Caller,
    header: &Header,
    url: Option<&CallerUrl>,
) -> Result<Option<Arc<str>>, Problem> {
    let Some(url) = url else { return Ok(None) };
    // The secret may be newer than what is cached of the account.
    let read = || signing_secrets(&app.database.pool, caller.account_id);
    if caller.webhook.has_secret || !retry_transient(|_| read()).await?.is_empty() {
        return Ok(Some(url.as_str().into()));
    }
    let detail = format!(
        "{} is given, but your account has no secret that signs webhooks; the operator makes one",
        header.name
    );
    Err(Violation::new(header.name, Code::NoSecret, detail).into())
}
