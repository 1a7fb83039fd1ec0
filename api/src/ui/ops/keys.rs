//! `/ops/keys`: keys, what their accounts use, and their quotas. A key can be revoked here; it is created by a command.

use std::collections::HashMap;

use akhar_operators::{
    Action,
    accounts::{self, AccountUse},
    keys::{self, Key, KeyState},
    until::lifetime,
};
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
use crate::{
    page,
    ui::{query::Parameters, respond::see_other},
};

/// The keys on a page.
const PER_PAGE: u8 = 20;

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
    let mut keys = keys::page(db, from, page::more(PER_PAGE)).await?;
    let next = page::cut(&mut keys, PER_PAGE, |key| key.id);
    let mut ids: Vec<Uuid> = keys.iter().map(|key| key.account_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let uses = accounts::uses(db, &ids).await?;
    let uses = uses.into_iter().map(|of| (of.account_id, of)).collect();
    let body = html! {
        (notice::show(&done))
        h1 { "Keys" }
        p.hint { "Keys are created, rotated and limited with commands, because a new key is shown only once: " code { "akhar keys create --name …" } }
        (list(&operator, &keys, &uses))
        nav.pages aria-label="Pages of the list" {
            @if from.is_some() { a href="/ops/keys" { "First page" } }
            @if let Some(next) = next {
                a rel="next" href={ "/ops/keys?from=" (next) } { "Next page" }
            }
        }
    };
    Ok(layout::page(&operator, Section::Keys, "Keys", &body))
}

fn list(operator: &Operator, keys: &[Key], by_account: &HashMap<Uuid, AccountUse>) -> Markup {
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
        @for key in keys {
            @let used = by_account.get(&key.account_id);
            (layout::row(heads, &[
                html! { code { (key.prefix) } },
                html! { (key.name) @if let Some(role) = key.role { " " span.state.busy { (role.name()) } } },
                state(key),
                html! { @if let Some(used) = used { (hour(used, key.account_id)) } },
                of_quota(used.map(waiting), key.max_queued),
                of_quota(used.map(|used| format!("{:.0}", used.audio_s / 60.0)), key.audio_minutes),
                html! { (key.rpm.map_or_else(|| "–".to_owned(), |n| number(n.into()))) },
                html! {
                    @if key.revoked_at.is_none() && operator.may(Action::KeyRevoke) { (revoke_form(operator, key)) }
                    @if key.revoked_at.is_none() && operator.may(Action::KeyExpire) { (expiry_form(operator, key)) }
                },
            ]))
        }
    };
    layout::table("Keys, and what their accounts use", heads, &rows)
}

fn state(key: &Key) -> Markup {
    html! {
        @match key.state {
            KeyState::Revoked => { span.state.plain { "revoked" } @if let Some(at) = key.revoked_at { " " (time(at)) } }
            KeyState::Works => { span.state.good { "works" } @if let Some(at) = key.expires_at { " until " (time(at)) } }
            KeyState::Expired => { span.state.plain { "expired" } @if let Some(at) = key.expires_at { " " (time(at)) } }
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

fn revoke_form(operator: &Operator, key: &Key) -> Markup {
    html! {
        details {
            summary { "Revoke…" }
            form method="post" action="/ops/keys" {
                (token(operator))
                input type="hidden" name="prefix" value=(key.prefix);
                p { "The key stops working at once, and cannot be made to work again." }
                button.danger aria-label={ "Revoke: " (key.name) " " (key.prefix) } { "Revoke" }
            }
        }
    }
}

fn expiry_form(operator: &Operator, key: &Key) -> Markup {
    html! {
        details {
            summary { "Expiry…" }
            form method="post" action="/ops/keys/expiry" {
                (token(operator))
                input type="hidden" name="prefix" value=(key.prefix);
                p { "The key works for so long from now on, or until it is revoked." }
                input name="in" placeholder="30d" maxlength="10" aria-label={ "Works for, such as 30d: " (key.prefix) };
                button aria-label={ "Change the expiry: " (key.name) " " (key.prefix) } { "Change" }
                button name="never" value="true" aria-label={ "Never expires: " (key.name) " " (key.prefix) } { "Never expires" }
            }
        }
    }
}

/// `POST /ops/keys/expiry`: changes when a key expires.
pub(super) async fn expire(State(state): State<OpsState>, form: OperatorForm) -> Result<Response, Failure> {
    let is_never = form.fields.get("never") == "true";
    let entered = (!is_never).then(|| lifetime(form.fields.get("in").trim()));
    let lifetime = entered.transpose().map_err(Failure::Field)?;
    let prefix = form.fields.get("prefix");
    let key = keys::expire(&state.database, &form.operator.actor, prefix, lifetime).await?;
    tracing::info!(
        operator = form.operator.session.prefix,
        key = key.prefix,
        "an operator changed when a key expires"
    );
    Ok(see_other(&notice::after("/ops/keys", Kind::Expiry, 1, 1)))
}

/// `POST /ops/keys`: revokes a key.
pub(super) async fn revoke(State(state): State<OpsState>, form: OperatorForm) -> Result<Response, Failure> {
    let key = keys::revoke(&state.database, &form.operator.actor, form.fields.get("prefix")).await?;
    tracing::info!(operator = form.operator.session.prefix, key = key.prefix, "an operator revoked a key");
    Ok(see_other(&notice::after("/ops/keys", Kind::Revoked, 1, 1)))
}
