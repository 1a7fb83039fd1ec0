//! The query string: a URI comes in, its known parameters and a violation for every other go out.

use axum::{extract::Query, http::Uri};

use super::{
    fields::{quoted, unknown},
    whole_number,
};
use crate::problems::{Code, Problem, Violation};

/// Parameters read at most; the rest are ignored.
const MAX_PARAMETERS: usize = 16;

/// The parameters of a URI, and a violation for every one that is unknown or repeated.
fn read(uri: &Uri, known: &[&str]) -> (Vec<(String, String)>, Vec<Violation>) {
    // Pairs of text can always be read: what is not UTF-8 is replaced.
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri).map(|q| q.0).unwrap_or_default();
    let mut violations = Vec::new();
    let mut read: Vec<(String, String)> = Vec::new();
    for (name, value) in pairs.into_iter().take(MAX_PARAMETERS) {
        if !known.contains(&name.as_str()) {
            violations.push(unknown("query parameter", &name, known));
        } else if read.iter().any(|(n, _)| *n == name) {
            let detail = format!("query parameter {} is given more than once", quoted(&name));
            violations.push(Violation::new(&name, Code::Duplicated, detail));
        } else {
            read.push((name, value));
        }
    }
    (read, violations)
}

/// A violation for every parameter, where none is accepted.
pub(crate) fn none(uri: &Uri) -> Vec<Violation> {
    uri.query().map_or_else(Vec::new, |_| read(uri, &[]).1)
}

/// Seconds to wait, from `?wait=N`: 0 to 60; the default is 0.
pub(crate) fn wait_s(uri: &Uri) -> Result<u8, Problem> {
    let (parameters, mut violations) = read(uri, &["wait"]);
    let wait = parameters.first().map_or(Ok(0), |(name, value)| whole_number::parse(name, value, 0..=60));
    match wait {
        Ok(wait) if violations.is_empty() => Ok(wait),
        Ok(_) => Err(Problem::violations(violations)),
        Err(violation) => {
            violations.push(violation);
            Err(Problem::violations(violations))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_is_read_and_everything_else_refused() {
        let wait = |query: &str| wait_s(&format!("/v1/jobs/x{query}").parse().unwrap()).ok();
        assert_eq!(wait(""), Some(0));
        assert_eq!(wait("?"), Some(0));
        assert_eq!(wait("?wait=0"), Some(0));
        assert_eq!(wait("?wait=60"), Some(60));
        for no in [
            "?wait=61",
            "?wait=-1",
            "?wait=",
            "?wait",
            "?wait=abc",
            "?wait=1&wait=1",
            "?Wait=1",
            "?wait=1&x=1",
            "?%FF=1",
        ] {
            assert_eq!(wait(no), None, "{no}");
        }
    }

    #[test]
    fn where_there_are_none_each_is_named() {
        let violations = none(&"/x?top-k=3&a=b".parse().unwrap());
        let fields: Vec<&str> = violations.iter().map(|v| v.field.as_str()).collect();
        assert_eq!(fields, ["top-k", "a"]);
    }
}
