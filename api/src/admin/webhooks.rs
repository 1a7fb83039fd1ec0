//! `/v1/admin/webhooks`: lists webhooks, and sends those again that were given up.

use akhar_jobs::Queue;
use akhar_operators::{
    accounts,
    search::Text,
    webhooks::{self, Redelivered, Webhook, WebhookFilter, WebhookPage},
};
use akhar_platform::database::retry_transient;
use akhar_requests::{Bounded, QUICK};
use akhar_webhooks::store::DeliveryState;
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use super::operator::Operator;
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{
        field::{File, field},
        fields::{Fields as _, fields},
        form::Form,
        query,
    },
    operations::form::Checked,
    page,
    problems::{Code, Problem, Violation, responses::problems},
};

problems! {
    /// The problems of listing webhooks.
    ListProblems at "/v1/admin/webhooks", WebhooksQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotAcceptable, InvalidInput,
    QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of sending webhooks again.
    RedeliverProblems at "/v1/admin/webhooks/redeliver", RedeliverForm::violation() => MalformedBody, Unauthorized, OutOfScope, Forbidden,
    NotAcceptable, BodyTimeout, TooLarge, UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameters of the list.
    WebhooksQuery {
        /// Only webhooks in this state: those that are to be sent, that the receiver has accepted, or that were given up.
        state: DeliveryState = field("state"),
        /// Only webhooks of the account with this name or id, or of the key with this prefix.
        account: Text = field("account"),
        /// Only webhooks whose URL, without its query, contains this text, in large or small letters.
        url: Text = field("url"),
        /// Only webhooks before this one.
        before: Uuid = field("before"),
        /// The most webhooks in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

fields! {
    /// Which webhooks are sent again: those with the ids, or all that were given up.
    RedeliverForm {
        /// The ids of webhooks, at most 1,000.
        ids: Vec<Uuid> = field("ids"),
        /// Whether all webhooks that were given up are meant.
        all_dead: bool = field("all-dead").or("false").wrong("yes"),
    }
}

/// Which webhooks are sent again.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// Those with these ids.
    Ids(Vec<Uuid>),
    /// All that were given up.
    AllDead,
}

impl Form for RedeliverForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = Wanted;

    fn check(self, violations: &mut Vec<Violation>) -> Option<Wanted> {
        match (self.ids, self.all_dead?) {
            (Some(ids), false) => Some(Wanted::Ids(ids)),
            (None, true) => Some(Wanted::AllDead),
            _ => {
                let detail = "expected either ids, or all-dead as true";
                violations.push(Violation::new("ids", Code::Missing, detail));
                None
            }
        }
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"all-dead": true}))
    }
}

/// A page of webhooks.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminWebhooks)]
pub(crate) struct Webhooks {
    /// The webhooks, the newest first.
    webhooks: Vec<Webhook>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<Uuid>,
}

/// Responds with a page of webhooks.
#[utoipa::path(
    get,
    path = "/v1/admin/webhooks",
    operation_id = "admin-list-webhooks",
    tag = "admin",
    summary = "List webhooks of all accounts, newest first",
    description = "Lists the webhooks with their attempts and last errors. They are deleted with their jobs or groups.",
    params(WebhooksQuery),
    responses((status = 200, description = "The webhooks.", body = Webhooks), ListProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let WebhooksQuery { state, account, url, before, limit } = query::parse(&uri)?;
    let limit = page::limit(limit);
    let db = app.database.lists();
    let account = match account {
        Some(account) => Some(accounts::find(db, &account.0).await?),
        None => None,
    };
    let filter = WebhookFilter { state, account, url: url.map(|url| url.0), before };
    let WebhookPage { webhooks, next } =
        retry_transient(|_| webhooks::page(db, &filter, limit.into())).await?;
    Ok(Json(Webhooks { webhooks, next }).into_response())
}

/// Sends webhooks again.
#[utoipa::path(
    post,
    path = "/v1/admin/webhooks/redeliver",
    operation_id = "admin-redeliver-webhooks",
    tag = "admin",
    summary = "Send webhooks again at once, with all attempts before them",
    description = "Needs the role `operate`. Sends the webhooks with the ids, or all that were given up.",
    responses(
        (status = 200, description = "How many are sent again.", body = Redelivered,
            example = json!({"n_redelivered": 12, "unknown": []})),
        RedeliverProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn redeliver(
    State(app): State<App>,
    operator: Operator,
    _accepts: AcceptsJson,
    form: Checked<RedeliverForm>,
) -> Result<Response, Problem> {
    let db = &app.database.pool;
    let body = match form.fields {
        Wanted::Ids(ids) => webhooks::redeliver(db, &operator.actor, &ids).await?,
        Wanted::AllDead => webhooks::redeliver_dead(db, &operator.actor).await?,
    };
    Ok(Json(body).into_response())
}
