//! `/ops/keys`: keys, what their accounts use, and their quotas. A key can be revoked here; it is created by a command.

use std::collections::HashMap;

use akhar_accounts::{Action, ListedKey, keys};
use akhar_jobs::store::{self, AccountUse};
use axum::{extract::State, response::Response};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::{
    failure::Failure,
    form::OperatorForm,
    format::{counted, number, time},
    layout::{self, Section, token},
    notice::{self, Done, Kind},
    operator::Operator,
    state::OpsState,
};
use crate::ui::{query::Parameters, respond::see_other};

/// The keys on a page.
const PER_PAGE: i64 = 20;

/// The jobs of an hour are counted up to this number.
const MAX_HOUR: i64 = 1000;

/// Where the page begins.
#[derive(Debug, Default, Deserialize)]
pub(super) struct From {
    from: Option<Uuid>,
}

/// `GET /ops/keys`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Parameters(From { from }): Parameters<From>,
    Parameters(done): Parameters<Done>,
) -> Result<Response, Failure> {
    let db = &state.database;
    let mut keys = keys::page(db, from, PER_PAGE + 1).await?;
    let has_next = keys.len() > usize::try_from(PER_PAGE).unwrap_or(usize::MAX);
    keys.truncate(usize::try_from(PER_PAGE).unwrap_or(usize::MAX));
    let mut accounts: Vec<Uuid> = keys.iter().map(|listed| listed.key.account_id).collect();
    accounts.sort_unstable();
    accounts.dedup();
    let uses = store::use_of_accounts(db, &accounts).await?;
    let uses = uses.into_iter().map(|of| (of.account_id, of)).collect();
    let body = html! {
        (notice::show(&done))
        h1 { "Keys" }
        p.hint { "Keys are created, rotated and limited with commands, because a new key is shown only once: " code { "akhar keys create --name …" } }
        (list(&operator, &keys, &uses))
        nav.pages aria-label="Pages of the list" {
            @if from.is_some() { a href="/ops/keys" { "First page" } }
            @if let Some(last) = keys.last().filter(|_| has_next) {
                a rel="next" href={ "/ops/keys?from=" (last.key.id) } { "Next page" }
            }
        }
    };
    Ok(layout::page(&operator, Section::Keys, "Keys", &body))
}

fn list(operator: &Operator, keys: &[ListedKey], by_account: &HashMap<Uuid, AccountUse>) -> Markup {
    let heads = &[
        "Key",
        "Name",
        "State",
        "Jobs in an hour",
        "Waiting / quota",
        "Audio minutes today / quota",
        "Requests a minute, quota",
        "Change",
    ];
    let rows = html! {
        @for listed in keys {
            @let key = &listed.key;
            @let quotas = listed.quotas;
            @let used = by_account.get(&key.account_id);
            (layout::row(heads, &[
                html! { code { (key.prefix) } },
                html! { (key.name) @if let Some(role) = key.role { " " span.state.busy { (role.name()) } } },
                state(listed),
                html! { @if let Some(used) = used { (hour(used, key.account_id)) } },
                of_quota(used.map(waiting), quotas.max_queued),
                of_quota(used.map(|used| format!("{:.0}", used.audio_s / 60.0)), quotas.audio_minutes_per_day),
                html! { (quotas.requests_per_minute.map_or_else(|| "–".to_owned(), |n| number(n.into()))) },
                html! { @if key.revoked_at.is_none() && operator.may(Action::KeyRevoke) { (revoke_form(operator, listed)) } },
            ]))
        }
    };
    layout::table("Keys, and what their accounts use", heads, &rows)
}

fn state(listed: &ListedKey) -> Markup {
    html! {
        @match listed.key.revoked_at {
            Some(at) => { span.state.plain { "revoked" } " " (time(at)) }
            None if listed.key.works() => {
                span.state.good { "works" }
                @if let Some(at) = listed.key.expires_at { " until " (time(at)) }
            }
            None => {
                span.state.plain { "expired" }
                @if let Some(at) = listed.key.expires_at { " " (time(at)) }
            }
        }
    }
}

/// The jobs of the last hour, and when the newest of all was accepted.
fn hour(used: &AccountUse, account: Uuid) -> Markup {
    html! {
        a href={ "/ops/jobs?by=account&q=" (account) } { (counted(used.n_last_hour, MAX_HOUR)) }
        @if let Some(at) = used.newest_at { br; span.hint { (time(at)) } }
    }
}

fn waiting(used: &AccountUse) -> String {
    if used.is_more_waiting { format!("{}+", number(used.n_waiting)) } else { number(used.n_waiting) }
}

/// What is used, and the quota.
fn of_quota(used: Option<String>, quota: Option<i32>) -> Markup {
    html! {
        (used.unwrap_or_else(|| "–".to_owned()))
        @if let Some(quota) = quota { " / " (number(quota.into())) }
    }
}

fn revoke_form(operator: &Operator, listed: &ListedKey) -> Markup {
    html! {
        details {
            summary { "Revoke…" }
            form method="post" action="/ops/keys" {
                (token(operator))
                input type="hidden" name="prefix" value=(listed.key.prefix);
                p { "The key stops working at once, and cannot be made to work again." }
                button.danger aria-label={ "Revoke: " (listed.key.name) " " (listed.key.prefix) } { "Revoke" }
            }
        }
    }
}

/// `POST /ops/keys`: revokes a key.
pub(super) async fn revoke(State(state): State<OpsState>, form: OperatorForm) -> Result<Response, Failure> {
    let key = keys::revoke(&state.database, &form.operator.actor, form.fields.get("prefix")).await?;
    tracing::info!(operator = form.operator.session.prefix, key = key.prefix, "an operator revoked a key");
    Ok(see_other(&notice::after("/ops/keys", Kind::Revoked, 1, 1)))
}
