//! Parses the query string of a request.

use axum::{extract::Query, http::Uri};

use super::{
    field::Slot,
    fields::Fields,
    values::{Sent, Values},
};
use crate::problems::{Problem, Violation};

/// The most parameters that are read. Further parameters are ignored.
const MAX_PARAMETERS: usize = 16;

/// The parameters of a URI. Adds a violation for every one that is unknown or repeated.
fn read(uri: &Uri, slots: &[Slot]) -> Values {
    // Parsing into pairs of text cannot fail, because invalid UTF-8 is replaced.
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri).map(|q| q.0).unwrap_or_default();
    let mut values = Values::default();
    for (name, value) in pairs.into_iter().take(MAX_PARAMETERS) {
        if let Some(slot) = values.slot("query parameter", &name, slots) {
            values.add(slot.name, Sent::Bytes(value.into()));
        }
    }
    values
}

/// The violations of a request to a path that accepts no parameters: one for each parameter.
pub(crate) fn unexpected(uri: &Uri) -> Vec<Violation> {
    uri.query().map_or_else(Vec::new, |_| read(uri, &[]).violations)
}

/// The violations of a request to a path that accepts no parameters but this one, which something else reads.
pub(crate) fn unexpected_but(uri: &Uri, name: &'static str) -> Vec<Violation> {
    uri.query()
        .map_or_else(Vec::new, |_| read(uri, &[Slot { name, max_values: None, max_bytes: 0 }]).violations)
}

/// Parses the parameters of a URI. All violations are reported at once.
pub(crate) fn parse<F: Fields>(uri: &Uri) -> Result<F, Problem> {
    let mut values = read(uri, &F::slots());
    let fields = F::take(&mut values);
    Problem::reject_if_any(values.violations).map(|()| fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unexpected_parameter_is_named() {
        let violations = unexpected(&"/x?top-k=3&a=b".parse().unwrap());
        let fields: Vec<&str> = violations.iter().map(|v| v.field.as_str()).collect();
        assert_eq!(fields, ["top-k", "a"]);
    }
}
