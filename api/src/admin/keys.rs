//! `/v1/admin/keys`: lists keys, and creates, limits, rotates and revokes them.

use std::time::Duration;

use akhar_accounts::{Quotas, Retention, Role};
use akhar_jobs::Queue;
use akhar_operators::{
    keys::{self, CreatedKey, Key, NewAccount},
    search::Text,
};
use akhar_requests::{Bounded, QUICK};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{name::Name, operator::Operator, values::AtLeast};
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{
        caller_url,
        field::{File, field},
        fields::{Fields as _, fields},
        form::Form,
        query,
    },
    operations::form::Checked,
    page,
    problems::{Problem, Violation, responses::problems},
};

problems! {
    /// The problems of listing keys.
    KeysProblems at "/v1/admin/keys", KeysQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotAcceptable, InvalidInput, QuotaExceeded,
    AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of creating, limiting and rotating a key.
    KeyFormProblems at "/v1/admin/keys", NewKeyForm::violation() => MalformedBody, Unauthorized, OutOfScope, Forbidden, NotFound, NotAcceptable,
    BodyTimeout, TooLarge, UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of revoking a key.
    KeyProblems at "/v1/admin/keys/3Qb0N20q", KeysQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotFound, NotAcceptable, InvalidInput,
    QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameters of the list.
    KeysQuery {
        /// Only keys that were created before this one.
        before: Uuid = field("before"),
        /// The most keys in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

fields! {
    /// A new account with a key.
    NewKeyForm {
        /// A name for the account and the key, such as who uses it.
        name: Text = field("name").required(),
        /// What the key may do as an operator's. Without it, it is only a caller's.
        role: Role = field("role"),
        /// The seconds for which the key works. Without it, it works until it is revoked.
        expires_s: AtLeast<1> = field("expires-s").wrong("0"),
        /// Requests in a minute, in each api process.
        rpm: AtLeast<1> = field("rpm"),
        /// Jobs that may wait in each queue.
        max_queued: AtLeast<1> = field("max-queued"),
        /// Minutes of recordings in a day (UTC).
        audio_minutes: AtLeast<1> = field("audio-minutes"),
        /// Megabytes of uploads and results that may be stored. Without it, as many as the server allows.
        stored_mb: AtLeast<1> = field("stored-mb"),
        /// Seconds for which ended jobs are kept if a request does not say so. 0: until the result is delivered.
        retain_s: AtLeast<0> = field("retain-s"),
        /// The most seconds for which a request may have its job kept.
        max_retain_s: AtLeast<0> = field("max-retain-s"),
        /// Where the ends of the account's jobs are announced if a request does not say so.
        webhook: Text = field("webhook"),
    }
}

fields! {
    /// The quotas of an account, and how long its jobs are kept. What is left out is removed.
    QuotasForm {
        /// Requests in a minute, in each api process.
        rpm: AtLeast<1> = field("rpm").wrong("0"),
        /// Jobs that may wait in each queue.
        max_queued: AtLeast<1> = field("max-queued"),
        /// Minutes of recordings in a day (UTC).
        audio_minutes: AtLeast<1> = field("audio-minutes"),
        /// Megabytes of uploads and results that may be stored. Without it, as many as the server allows.
        stored_mb: AtLeast<1> = field("stored-mb"),
        /// Seconds for which ended jobs are kept if a request does not say so. 0: until the result is delivered.
        retain_s: AtLeast<0> = field("retain-s"),
        /// The most seconds for which a request may have its job kept.
        max_retain_s: AtLeast<0> = field("max-retain-s"),
    }
}

fields! {
    /// How a key is rotated.
    RotationForm {
        /// The seconds for which the old key still works.
        overlap_s: AtLeast<0> = field("overlap-s").or("0"),
    }
}

fields! {
    /// When a key expires.
    ExpiryForm {
        /// The seconds from now after which the key stops working. Without it, it works until it is revoked.
        expires_s: AtLeast<1> = field("expires-s").wrong("0"),
    }
}

/// The quotas in the fields of a form.
macro_rules! quotas {
    ($form:ident) => {
        Quotas {
            requests_per_minute: $form.rpm.map(|n| n.0),
            max_queued: $form.max_queued.map(|n| n.0),
            audio_minutes_per_day: $form.audio_minutes.map(|n| n.0),
            stored_mb: $form.stored_mb.map(|n| n.0),
            retention: Retention {
                retain_s: $form.retain_s.map(|n| n.0),
                max_retain_s: $form.max_retain_s.map(|n| n.0),
            },
        }
    };
}

impl Form for NewKeyForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = (NewAccount, Option<String>);

    fn check(self, _: &mut Vec<Violation>) -> Option<Self::Checked> {
        let quotas = quotas!(self);
        let lifetime = self.expires_s.map(|s| seconds(s.0));
        let account = NewAccount { name: self.name?.0, quotas, webhook: None, role: self.role, lifetime };
        Some((account, self.webhook.map(|url| url.0)))
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"name": "the mobile app", "rpm": 600}))
    }
}

impl Form for QuotasForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = Quotas;

    fn check(self, _: &mut Vec<Violation>) -> Option<Quotas> {
        Some(quotas!(self))
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"rpm": 600, "max-queued": 100}))
    }
}

impl Form for ExpiryForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = Option<Duration>;

    fn check(self, _: &mut Vec<Violation>) -> Option<Option<Duration>> {
        Some(self.expires_s.map(|s| seconds(s.0)))
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"expires-s": 2_592_000}))
    }
}

impl Form for RotationForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = Duration;

    fn check(self, _: &mut Vec<Violation>) -> Option<Duration> {
        Some(seconds(self.overlap_s?.0))
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"overlap-s": 86_400}))
    }
}

fn seconds(s: i32) -> Duration {
    Duration::from_secs(u64::from(s.unsigned_abs()))
}

/// A page of keys.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminKeys)]
pub(crate) struct Keys {
    /// The keys, the newest first.
    keys: Vec<Key>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<Uuid>,
}

/// Responds with a page of keys.
#[utoipa::path(
    get,
    path = "/v1/admin/keys",
    operation_id = "admin-list-keys",
    tag = "admin",
    summary = "List all keys, newest first",
    description = "Lists the keys of all accounts, revoked ones too, with the quotas of their accounts.",
    params(KeysQuery),
    responses((status = 200, description = "The keys.", body = Keys), KeysProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let KeysQuery { before, limit } = query::parse(&uri)?;
    let limit = page::limit(limit);
    let mut keys = keys::page(&app.database.pool, before, page::more(limit)).await?;
    let next = page::cut(&mut keys, limit, |key| key.id);
    Ok(Json(Keys { keys, next }).into_response())
}

/// Creates an account with a key.
#[utoipa::path(
    post,
    path = "/v1/admin/keys",
    operation_id = "admin-create-key",
    tag = "admin",
    summary = "Create an account and its first key",
    description = "Needs the role `admin`. The response has the only copy of the key.",
    responses((status = 201, description = "The key.", body = CreatedKey), KeyFormProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn create(
    State(app): State<App>,
    operator: Operator,
    _accepts: AcceptsJson,
    form: Checked<NewKeyForm>,
) -> Result<Response, Problem> {
    let (mut account, url) = form.fields;
    let account_webhook = url.map(|url| caller_url::parse("webhook", &url, &app.url_rules)).transpose();
    account.webhook = account_webhook?;
    let key = keys::create(&app.database.pool, &operator.actor, account).await?;
    Ok((StatusCode::CREATED, Json(key)).into_response())
}

/// Replaces the quotas of a key's account.
#[utoipa::path(
    put,
    path = "/v1/admin/keys/{prefix}/quotas",
    operation_id = "admin-limit-key",
    tag = "admin",
    summary = "Replace the quotas of a key's account",
    description = "Needs the role `admin`. The quotas hold for all keys of the account, at once in every api process.",
    params(("prefix" = String, Path, description = "The 8 characters after `ak_`.")),
    responses((status = 204, description = "They are the account's quotas."), KeyFormProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn limit(
    State(app): State<App>,
    operator: Operator,
    Name(prefix): Name,
    form: Checked<QuotasForm>,
) -> Result<StatusCode, Problem> {
    keys::limit(&app.database.pool, &operator.actor, &prefix, form.fields).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Replaces a key with a new one.
#[utoipa::path(
    post,
    path = "/v1/admin/keys/{prefix}/rotate",
    operation_id = "admin-rotate-key",
    tag = "admin",
    summary = "Replace a key with a new one of the same account",
    description = "Needs the role `admin`. The new key has the name, role and lifetime of the old one. The response has its only copy.",
    params(("prefix" = String, Path, description = "The 8 characters after `ak_`.")),
    responses((status = 201, description = "The new key.", body = CreatedKey), KeyFormProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn rotate(
    State(app): State<App>,
    operator: Operator,
    _accepts: AcceptsJson,
    Name(prefix): Name,
    form: Checked<RotationForm>,
) -> Result<Response, Problem> {
    let key = keys::rotate(&app.database.pool, &operator.actor, &prefix, form.fields).await?;
    Ok((StatusCode::CREATED, Json(key)).into_response())
}

/// Changes when a key expires.
#[utoipa::path(
    put,
    path = "/v1/admin/keys/{prefix}/expiry",
    operation_id = "admin-expire-key",
    tag = "admin",
    summary = "Change when a key expires",
    description = "Needs the role `admin`. A key that has expired works again. One that is revoked does not.",
    params(("prefix" = String, Path, description = "The 8 characters after `ak_`.")),
    responses((status = 204, description = "The key expires then."), KeyFormProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn expire(
    State(app): State<App>,
    operator: Operator,
    Name(prefix): Name,
    form: Checked<ExpiryForm>,
) -> Result<StatusCode, Problem> {
    keys::expire(&app.database.pool, &operator.actor, &prefix, form.fields).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Revokes a key.
#[utoipa::path(
    delete,
    path = "/v1/admin/keys/{prefix}",
    operation_id = "admin-revoke-key",
    tag = "admin",
    summary = "Revoke a key",
    description = "Needs the role `admin`. The key stops working at once in every api process.",
    params(("prefix" = String, Path, description = "The 8 characters after `ak_`.")),
    responses((status = 204, description = "The key is revoked."), KeyProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    operator: Operator,
    Name(prefix): Name,
    uri: Uri,
) -> Result<StatusCode, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    keys::revoke(&app.database.pool, &operator.actor, &prefix).await?;
    Ok(StatusCode::NO_CONTENT)
}
