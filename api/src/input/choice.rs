//! Parses fields whose value is one of several names.

use super::fields::{nearest, quoted};
use crate::problems::{Code, Violation};

/// Parses `true` or `false`. Other spellings are violations.
pub(crate) fn boolean(field: &str, text: &str) -> Result<bool, Violation> {
    one_of(field, text, &["false", "true"]).map(|choice| choice == 1)
}

/// Returns the index of `text` in `names`. Any other text is a violation.
pub(crate) fn one_of(field: &str, text: &str, names: &[&str]) -> Result<usize, Violation> {
    names.iter().position(|name| *name == text).ok_or_else(|| {
        let hint = nearest(text, names).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
        let detail = format!("{field} is {}, expected one of {}{hint}", quoted(text), names.join(", "));
        Violation::new(field, Code::NotAChoice, detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boolean_is_exactly_true_or_false() {
        assert_eq!(boolean("x", "true"), Ok(true));
        assert_eq!(boolean("x", "false"), Ok(false));
        for no in ["", "True", "TRUE", "1", "0", "yes", " true", "false "] {
            assert_eq!(boolean("x", no).unwrap_err().code, "not_a_choice", "{no:?}");
        }
    }

    #[test]
    fn the_error_suggests_the_nearest_choice() {
        assert_eq!(one_of("lang", "en", &["pa", "en"]), Ok(1));
        let violation = one_of("lang", "EN", &["pa", "en"]).unwrap_err();
        assert!(violation.detail.contains("did you mean \"en\"?"), "{violation:?}");
    }
}
