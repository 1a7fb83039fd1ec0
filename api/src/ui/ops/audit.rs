//! `/ops/audit`: what operators changed.

use akhar_operators::audit::{self, Action, AuditFilter, AuditRow};
use axum::{extract::State, response::Response};
use maud::{Markup, html};
use serde::Deserialize;
use uuid::Uuid;

use super::{
    failure::Failure,
    format::{number, time},
    layout::{self, Section},
    operator::Operator,
    search_query::escaped,
    state::OpsState,
};
use crate::{page, ui::query::Parameters};

/// The changes on a page.
const PER_PAGE: u8 = 50;

/// Which changes the page shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AuditQuery {
    action: String,
    actor: String,
    from: Option<Uuid>,
}

impl AuditQuery {
    /// The path of the page that begins after this change.
    fn path(&self, from: Option<Uuid>) -> String {
        let from = from.map(|from| from.to_string()).unwrap_or_default();
        let parameters = [("action", &self.action), ("actor", &self.actor), ("from", &from)];
        let given = parameters.into_iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = given.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        format!("/ops/audit?{}", query.join("&"))
    }
}

/// `GET /ops/audit`.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Operator,
    Parameters(query): Parameters<AuditQuery>,
) -> Result<Response, Failure> {
    let actor = Some(query.actor.trim()).filter(|actor| !actor.is_empty()).map(str::to_owned);
    let filter = AuditFilter { action: Action::from_name(&query.action), actor, before: query.from };
    let mut rows = audit::list(&state.database, &filter, page::more(PER_PAGE)).await?;
    let next = page::cut(&mut rows, PER_PAGE, |row| row.id);
    let body = html! {
        h1 { "Audit" }
        p.hint { "What operators changed in the last 90 days: on these pages, through the API and with commands." }
        (filter_form(&query))
        @if rows.is_empty() { p { "No such change is recorded." } } @else { (list(&rows)) }
        nav.pages aria-label="Pages of the list" {
            @if query.from.is_some() { a href=(query.path(None)) { "First page" } }
            @if next.is_some() {
                a rel="next" href=(query.path(next)) { "Next page" }
            }
        }
    };
    Ok(layout::page(&operator, Section::Audit, "Audit", &body))
}

fn filter_form(query: &AuditQuery) -> Markup {
    html! {
        form.search method="get" action="/ops/audit" role="search" {
            div {
                label for="action" { "Action" }
                select #action name="action" {
                    option value="" { "Any" }
                    @for action in Action::ALL {
                        option value=(action.name()) selected[query.action == action.name()] { (action.name()) }
                    }
                }
            }
            div.wide {
                label for="actor" { "Who: a key’s name or prefix, or user@machine" }
                input #actor type="search" name="actor" value=(query.actor) maxlength="300" spellcheck="false"
                    autocapitalize="none";
            }
            button { "Find" }
        }
    }
}

fn list(rows: &[AuditRow]) -> Markup {
    let heads = &["Time", "Who", "Action", "On what", "Changed", "From"];
    let rows = html! {
        @for row in rows {
            (layout::row(heads, &[
                time(row.at),
                html! { (row.actor) @if let Some(prefix) = &row.key_prefix { " " code { (prefix) } } },
                html! { code { (row.action) } },
                html! { span.error-text { (row.target) } },
                html! { (number(row.n_changed)) },
                html! { (row.origin()) },
            ]))
        }
    };
    layout::table("Changes, the newest first", heads, &rows)
}
