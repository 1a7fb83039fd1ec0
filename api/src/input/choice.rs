//! Choices: a field's text comes in, which of the accepted names it is goes out.

use super::fields::{nearest, quoted};
use crate::problems::{Code, Violation};

/// `true` or `false`, to the letter.
pub(crate) fn boolean(field: &str, text: &str) -> Result<bool, Violation> {
    one_of(field, text, &["false", "true"]).map(|choice| choice == 1)
}

/// Which of these names a text is.
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
    fn a_boolean_is_true_or_false_to_the_letter() {
        assert_eq!(boolean("x", "true"), Ok(true));
        assert_eq!(boolean("x", "false"), Ok(false));
        for no in ["", "True", "TRUE", "1", "0", "yes", " true", "false "] {
            assert_eq!(boolean("x", no).unwrap_err().code, "not_a_choice", "{no:?}");
        }
    }

    #[test]
    fn the_choice_that_was_meant_is_named() {
        assert_eq!(one_of("lang", "en", &["pa", "en"]), Ok(1));
        let violation = one_of("lang", "EN", &["pa", "en"]).unwrap_err();
        assert!(violation.detail.contains("did you mean \"en\"?"), "{violation:?}");
    }
}
