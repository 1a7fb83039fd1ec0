//! Parses the query string of a request.

use axum::{extract::Query, http::Uri};

use super::{
    fields::{quoted, unknown},
    whole_number,
};
use crate::problems::{Code, Problem, Violation};

/// The most parameters that are read. Further parameters are ignored.
const MAX_PARAMETERS: usize = 16;

/// The parameters of a URI, and a violation for every one that is unknown or repeated.
pub(crate) fn read(uri: &Uri, known: &[&str]) -> (Vec<(String, String)>, Vec<Violation>) {
    // Parsing into pairs of text cannot fail, because invalid UTF-8 is replaced.
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

/// The violations of a request to a path that accepts no parameters: one for each parameter.
pub(crate) fn unexpected(uri: &Uri) -> Vec<Violation> {
    uri.query().map_or_else(Vec::new, |_| read(uri, &[]).1)
}

/// The value of the parameter `wait`: 0 to 60 seconds. The default is 0.
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
    fn wait_is_parsed_and_other_parameters_are_refused() {
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
    fn every_unexpected_parameter_is_named() {
        let violations = unexpected(&"/x?top-k=3&a=b".parse().unwrap());
        let fields: Vec<&str> = violations.iter().map(|v| v.field.as_str()).collect();
        assert_eq!(fields, ["top-k", "a"]);
    }
}
