//! A URL that a caller chooses, in a header or a field.

use akhar_webhooks::{CallerUrl, CallerUrlError, UrlRules};

use crate::problems::{Code, Violation};

/// Parses the URL in a field of a form.
pub(crate) fn parse(field: &str, url: &str, rules: &UrlRules) -> Result<CallerUrl, Violation> {
    let violation = |error| Violation::new(field, code(&error), format!("{field} {error}"));
    rules.parse(url).map_err(violation)
}

/// The code of a URL that is not accepted.
pub(crate) const fn code(error: &CallerUrlError) -> Code {
    match error {
        CallerUrlError::TooLong(_) => Code::TooLong,
        CallerUrlError::NotAUrl => Code::NotAUrl,
        CallerUrlError::Scheme(_)
        | CallerUrlError::UserInfo
        | CallerUrlError::Fragment
        | CallerUrlError::Port(_)
        | CallerUrlError::Address(_) => Code::NotAllowed,
    }
}
