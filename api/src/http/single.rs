//! A header that a request may have once.

use axum::http::{HeaderMap, HeaderValue};

use crate::problems::{Code, Violation};

/// The value of the header. `None` if the request does not have it, and a violation if it has several.
pub(crate) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a HeaderValue>, Violation> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() {
        return Err(Violation::new(name, Code::Duplicated, format!("{name} is given more than once")));
    }
    Ok(value)
}
