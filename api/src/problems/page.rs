//! The HTML pages that the `type` of a problem document refers to.

use std::fmt::Write as _;

use super::problem_type::ProblemType;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem;\
    color-scheme:light dark}code{font-family:ui-monospace,monospace}";

/// An HTML page. The title and body must be valid HTML.
fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head>\n\
         <body>\n{body}</body></html>\n"
    )
}

/// The list of all problem types.
pub(crate) fn index() -> String {
    let mut body =
        "<h1>Problems</h1>\n<p>These are the values of <code>type</code> in an error document.</p>\n<ul>\n"
            .to_owned();
    for f in ProblemType::ALL.iter().map(|t| t.facts()) {
        let _infallible = writeln!(
            body,
            "<li><a href=\"/problems/{slug}\"><code>{slug}</code></a> ({status}): {title}</li>",
            slug = f.slug,
            status = f.status.as_u16(),
            title = f.title
        );
    }
    body.push_str("</ul>\n");
    document("Problems", &body)
}

/// The page of one problem type.
pub(crate) fn page(problem_type: ProblemType) -> String {
    let f = problem_type.facts();
    let meaning = f.meaning.replace('<', "&lt;").replace('>', "&gt;");
    let retry = f.retry_after_s.map_or("", |_| "<p>The Retry-After header says when to try again.</p>\n");
    let body = format!(
        "<h1>{title}</h1>\n<p>HTTP status {status}, type <code>/problems/{slug}</code></p>\n<p>{meaning}</p>\n{retry}\
         <p><a href=\"/problems\">All problems</a></p>\n",
        title = f.title,
        status = f.status.as_u16(),
        slug = f.slug
    );
    document(f.title, &body)
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
