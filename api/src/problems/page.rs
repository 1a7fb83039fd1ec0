//! The HTML pages that the `type` of a problem document refers to.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::problem_type::ProblemType;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;\
    color-scheme:light dark}code{font-family:ui-monospace,monospace}";

/// An HTML page.
fn document(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (title) }
                meta name="viewport" content="width=device-width";
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// The list of all problem types.
pub(crate) fn index() -> String {
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
pub(crate) fn page(problem_type: ProblemType) -> String {
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
