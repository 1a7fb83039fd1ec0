//! What all pages of a signed-in operator have in common.

use axum::response::{Html, IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};

use super::{form::TOKEN, operator::Operator};
use crate::ui::{assets, head};

/// A page in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    /// Queues and workers.
    Overview,
    /// Jobs.
    Jobs,
    /// Failed jobs by error.
    Errors,
    /// Webhooks.
    Webhooks,
    /// Keys and accounts.
    Keys,
    /// What operators changed.
    Audit,
}

impl Section {
    const ALL: [Self; 6] =
        [Self::Overview, Self::Jobs, Self::Errors, Self::Webhooks, Self::Keys, Self::Audit];

    const fn path(self) -> &'static str {
        match self {
            Self::Overview => "/ops",
            Self::Jobs => "/ops/jobs",
            Self::Errors => "/ops/errors",
            Self::Webhooks => "/ops/webhooks",
            Self::Keys => "/ops/keys",
            Self::Audit => "/ops/audit",
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Jobs => "Jobs",
            Self::Errors => "Errors",
            Self::Webhooks => "Webhooks",
            Self::Keys => "Keys",
            Self::Audit => "Audit",
        }
    }
}

/// A page.
pub(super) fn page(operator: &Operator, section: Section, title: &str, body: &Markup) -> Response {
    let content = html! {
        a.skip href="#main" { "Skip to the content" }
        header {
            p.brand { span aria-hidden="true" lang="pa" { "ਅ" } " Akhar" }
            nav aria-label="Pages" {
                ul {
                    @for one in Section::ALL {
                        li { a href=(one.path()) aria-current=[(one == section).then_some("page")] { (one.title()) } }
                    }
                }
            }
            form.signed-in method="post" action="/ops/logout" {
                (token(operator))
                span { (operator.session.name) " " code { (operator.session.prefix) } }
                button.quiet { "Sign out" }
            }
        }
        main #main tabindex="-1" { (body) }
        (footer())
    };
    respond(title, &content)
}

/// A whole document.
pub(super) fn respond(title: &str, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head::shared())
                title { (title) " · Akhar" }
                link rel="stylesheet" href=(assets::path("ops.css"));
                script type="module" src=(assets::path("ops.js")) {}
            }
            body { (content) }
        }
    };
    Html(page.into_string()).into_response()
}

/// The foot of a page.
pub(super) fn footer() -> Markup {
    html! {
        footer {
            p { "Times are UTC." }
            p { "Akhar " (env!("CARGO_PKG_VERSION")) }
        }
    }
}

/// The hidden field that every form has.
pub(super) fn token(operator: &Operator) -> Markup {
    html! { input type="hidden" name=(TOKEN) value=(operator.id.form_token()); }
}

/// A table. On a narrow screen, each row is a block and each cell has its label; the roles keep it a table.
pub(super) fn table(caption: &str, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        table role="table" {
            caption { (caption) }
            thead role="rowgroup" {
                tr role="row" { @for head in heads { th role="columnheader" scope="col" { (head) } } }
            }
            tbody role="rowgroup" { (rows) }
        }
    }
}

/// A row of a table, with the labels of its cells.
pub(super) fn row(heads: &[&str], cells: &[Markup]) -> Markup {
    html! {
        tr role="row" {
            @for (head, cell) in heads.iter().zip(cells) { td role="cell" data-label=(head) { (cell) } }
        }
    }
}
