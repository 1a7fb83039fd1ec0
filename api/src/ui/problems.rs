//! `/problems`: the HTML pages that the `type` of a problem document refers to.

use axum::{
    Router,
    extract::{Path, rejection::PathRejection},
    middleware::map_response,
    response::{Html, IntoResponse, Response},
    routing::get,
};
use maud::{DOCTYPE, Markup, html};

use super::{assets, head, respond};
use crate::problems::{Problem, ProblemType};

/// What the pages may load: the style, the typeface and the icon of this server.
const CSP: &str = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// The routes of the pages.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/problems", get(async || Html(index())))
        .route("/problems/{slug}", get(handle))
        .layer(map_response(async |response: Response| respond::protect(response, CSP, "no-referrer")))
}

/// `GET /problems/{slug}`: the page of a problem type.
async fn handle(slug: Result<Path<String>, PathRejection>) -> Result<impl IntoResponse, Problem> {
    let known = slug.ok().and_then(|Path(slug)| ProblemType::from_slug(&slug));
    known.map(|problem_type| Html(page(problem_type))).ok_or(Problem::of(ProblemType::NotFound))
}

/// An HTML page.
fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (head::shared())
                title { (title) }
                link rel="stylesheet" href=(assets::path("problems.css"));
            }
            body { main { (body) } }
        }
    };
    page.into_string()
}

/// The list of all problem types.
fn index() -> String {
    let body = html! {
        h1 { "Problems" }
        p { "These are the values of " code { "type" } " in an error document." }
        ul {
            @for facts in ProblemType::ALL.iter().map(|t| t.facts()) {
                li {
                    a href={ "/problems/" (facts.slug) } { code { (facts.slug) } }
                    " (" (facts.status.as_u16()) "): " (facts.title)
                }
            }
        }
    };
    document("Problems", &body)
}

/// The page of one problem type.
fn page(problem_type: ProblemType) -> String {
    let facts = problem_type.facts();
    let body = html! {
        h1 { (facts.title) }
        p { "HTTP status " (facts.status.as_u16()) ", type " code { "/problems/" (facts.slug) } }
        p { (facts.meaning) }
        @if facts.retry_after_s.is_some() { p { "The Retry-After header says when to try again." } }
        p { a href="/problems" { "All problems" } }
    };
    document(facts.title, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_page_and_is_in_the_list() {
        let list = index();
        for t in ProblemType::ALL.iter().copied() {
            assert!(page(t).contains(t.facts().title));
            assert!(list.contains(&format!("/problems/{}\"", t.facts().slug)));
        }
        assert!(page(ProblemType::Unauthorized).contains("&lt;API_KEY&gt;"));
    }
}
