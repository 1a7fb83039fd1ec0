//! `/ops/webhooks`: lists webhooks with their attempts, next tries and last errors, and sends them again.

use akhar_operators::{
    Action, KeyError, accounts,
    webhooks::{self, Webhook, WebhookFilter, WebhookPage},
};
use akhar_webhooks::store::DeliveryState;
use axum::{extract::State, response::Response};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::{
    failure::Failure,
    form::OperatorForm,
    format::{number, time},
    layout::{self, Section, token},
    notice::{self, Done, Kind},
    operator::Operator,
    search_query::escaped,
    state::OpsState,
};
use crate::ui::{choice::is_page, query::Parameters, respond::see_other};

/// The webhooks on a page.
const PER_PAGE: u16 = 50;

/// Which webhooks the page shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebhooksQuery {
    state: String,
    account: String,
    url: String,
    from: Option<Uuid>,
}

impl WebhooksQuery {
    fn state(&self) -> Option<DeliveryState> {
        DeliveryState::ALL.into_iter().find(|state| state.name() == self.state)
    }

    /// The path of the page of this state that begins after this webhook.
    fn path(&self, state: Option<DeliveryState>, from: Option<Uuid>) -> String {
        let state = state.map_or("", DeliveryState::name);
        let from = from.map(|from| from.to_string()).unwrap_or_default();
        let parameters =
            [("state", state), ("account", &*self.account), ("url", &*self.url), ("from", &*from)];
        let given = parameters.into_iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = given.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        format!("/ops/webhooks?{}", query.join("&"))
    }
}

/// `GET /ops/webhooks`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Parameters(query): Parameters<WebhooksQuery>,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let db = &state.database;
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let account = match given(&query.account) {
        None => Ok(None),
        Some(account) => accounts::find(db, &account).await.map(Some),
    };
    let WebhookPage { webhooks, next } = match account {
        Ok(account) => {
            let filter =
                WebhookFilter { state: query.state(), account, url: given(&query.url), before: query.from };
            webhooks::page(db, &filter, PER_PAGE).await?
        }
        Err(KeyError::Database(cause)) => return Err(cause.into()),
        Err(_) => WebhookPage { webhooks: Vec::new(), next: None },
    };
    let body = html! {
        (notice::show(&done))
        h1 { "Webhooks" }
        p.hint { "They are deleted with their jobs or groups." }
        (tabs(&query))
        (filter_form(&query))
        @if webhooks.is_empty() { p { "No webhook was found on this page." } } @else { (found(&operator, &webhooks)) }
        nav.pages aria-label="Pages of the list" {
            @if query.from.is_some() { a href=(query.path(query.state(), None)) { "First page" } }
            @if next.is_some() { a rel="next" href=(query.path(query.state(), next)) { "Next page" } }
        }
    };
    Ok(layout::page(&operator, Section::Webhooks, "Webhooks", &body))
}

fn tabs(query: &WebhooksQuery) -> Markup {
    let current = |state| (query.state() == state).then_some("page");
    html! {
        nav.tabs aria-label="Webhooks by state" {
            ul {
                li { a href=(query.path(None, None)) aria-current=[current(None)] { "all" } }
                @for state in DeliveryState::ALL {
                    li { a href=(query.path(Some(state), None)) aria-current=[current(Some(state))] { (state.name()) } }
                }
            }
        }
    }
}

fn filter_form(query: &WebhooksQuery) -> Markup {
    html! {
        form.search method="get" action="/ops/webhooks" role="search" {
            @if let Some(state) = query.state() { input type="hidden" name="state" value=(state.name()); }
            div {
                label for="account" { "Account: its name, or a key’s prefix" }
                input #account type="search" name="account" value=(query.account) maxlength="300" spellcheck="false"
                    autocapitalize="none";
            }
            div.wide {
                label for="url" { "Part of the URL" }
                input #url type="search" name="url" value=(query.url) maxlength="2000" spellcheck="false" autocapitalize="none";
            }
            button { "Find" }
        }
    }
}

fn found(operator: &Operator, webhooks: &[Webhook]) -> Markup {
    if !operator.may(Action::WebhooksRedeliver) {
        return list(webhooks, false);
    }
    html! {
        form method="post" action="/ops/webhooks" {
            (token(operator))
            input type="hidden" name="return" value=(notice::without(&operator.path));
            (list(webhooks, true))
            div.actions {
                button { "Send the selected ones again" }
                button name="dead" value="all" { "Send all that were given up again" }
            }
        }
    }
}

fn list(webhooks: &[Webhook], can_be_selected: bool) -> Markup {
    let first = usize::from(!can_be_selected);
    let heads =
        ["Select", "Job or group", "State", "Account", "URL", "Ended", "Attempts", "Next try", "Last error"];
    let heads = &heads[first..];
    let rows = html! {
        @for webhook in webhooks {
            @let cells = [
                html! { input type="checkbox" name="id" value=(webhook.id) aria-label={ "Select webhook " (webhook.id) }; },
                html! {
                    @match &webhook.group {
                        Some(group) => { (group) }
                        None => { a href={ "/ops/jobs/" (webhook.id) } { code { (webhook.id) } } }
                    }
                },
                delivery_state(webhook.state),
                html! { (webhook.account.as_deref().unwrap_or("–")) },
                html! { span.error-text { (webhook.url) } },
                time(webhook.created_at),
                html! { (number(webhook.attempts.into())) },
                html! { @match webhook.due_at { Some(at) => { (time(at)) } None => { "–" } } },
                html! { span.error-text { (webhook.last_error.as_deref().unwrap_or("–")) } },
            ];
            (layout::row(heads, &cells[first..]))
        }
    };
    layout::table("Webhooks, those of the newest ends first", heads, &rows)
}

fn delivery_state(state: DeliveryState) -> Markup {
    let class = match state {
        DeliveryState::Delivered => "good",
        DeliveryState::Dead => "bad",
        DeliveryState::Pending => "plain",
    };
    html! { span.state.(class) { (state.name()) } }
}

/// `POST /ops/webhooks`: sends the selected webhooks again, or all that were given up, and returns to the page.
pub(super) async fn redeliver(
    State(state): State<OpsState>,
    OperatorForm { operator, fields }: OperatorForm,
) -> Result<Response, Failure> {
    let db = &state.database;
    let back = Some(fields.get("return")).filter(|path| is_page(path)).unwrap_or("/ops/webhooks");
    let (redelivered, n) = if fields.get("dead").is_empty() {
        let ids: Vec<Uuid> = fields.all("id").filter_map(|id| Uuid::try_parse(id).ok()).collect();
        (webhooks::redeliver(db, &operator.actor, &ids).await?, ids.len())
    } else {
        let redelivered = webhooks::redeliver_dead(db, &operator.actor).await?;
        let n = redelivered.n_redelivered;
        (redelivered, n)
    };
    let n_redelivered = redelivered.n_redelivered;
    tracing::info!(operator = operator.session.prefix, n_redelivered, "an operator sent webhooks again");
    Ok(see_other(&notice::after(back, Kind::Redelivered, n_redelivered, n)))
}
