//! The reference page about problem types.

use std::fmt::Write as _;

use crate::problems::ProblemType;

/// Describes all problem types in Markdown: a table, and a section for each type.
pub fn problems() -> String {
    let mut page = "# Problem types\n\n\
        This page lists every type of error that the API returns. An error is a problem document (RFC 9457) with the \
        media type `application/problem+json`. Its `type` is the path of a page of the running server, \
        `/problems/<type>`. [Errors](../use/errors.md) shows a whole document.\n\n\
        | type | status | title |\n|---|---|---|\n"
        .to_owned();
    for facts in ProblemType::ALL.iter().map(|t| t.facts()) {
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "| [{slug}](#{slug}) | {status} | {title} |",
            slug = facts.slug,
            status = facts.status.as_u16(),
            title = facts.title
        );
    }
    for facts in ProblemType::ALL.iter().map(|t| t.facts()) {
        // Writing to a String cannot fail.
        let _ = write!(
            page,
            "\n## {slug}\n\nStatus {status}, title \u{201c}{title}\u{201d}.\n\n{meaning}\n",
            slug = facts.slug,
            status = facts.status.as_u16(),
            title = facts.title,
            meaning = facts.meaning,
        );
        if let Some(seconds) = facts.retry_after_s {
            let _ = write!(page, "\nThe response has the header `Retry-After: {seconds}`.\n"); // writing to a String cannot fail
        }
    }
    page
}
