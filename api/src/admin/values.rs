//! The values of fields that only requests of operators have.

use std::time::Duration;

use akhar_accounts::Role;
use akhar_jobs::{Queue, store::QueueMode};
use akhar_operators::{
    Action, Change,
    search::{AccountName, Age, Text},
    until::{EXPECTED, Until, Why},
};
use akhar_requests::QUEUES;
use akhar_webhooks::store::DeliveryState;
use chrono::Local;
use serde_json::json;
use uuid::Uuid;

use crate::{
    input::{
        json::Kind,
        value::{Choice, Rule, Value, choices, integer, rule},
    },
    problems::Code,
};

/// The most characters of a text.
const MAX_CHARS: usize = 200;

impl Choice for Queue {
    const ALL: &'static [Self] = &QUEUES;
    const COMPONENT: Option<(&'static str, &'static str)> = None;

    fn name(self) -> &'static str {
        self.name()
    }
}

/// A short text: of visible characters, or with spaces after the first one.
impl Value for Text {
    const MAX_BYTES: usize = 4 * MAX_CHARS;

    fn rule() -> Rule {
        let pattern = "^[^\\u0000-\\u0020\\u007f-\\u00a0][^\\u0000-\\u001f]*$";
        rule(
            format!("a text of 1 to {MAX_CHARS} characters that does not begin with a space"),
            json!({"type": "string", "minLength": 1, "maxLength": MAX_CHARS, "pattern": pattern}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        let is_allowed = |first: char| !matches!(first, '\0'..='\u{20}' | '\u{7f}'..='\u{a0}');
        match text.chars().next() {
            None => Err(Code::TooShort),
            Some(first) if !is_allowed(first) || text.contains(|c| c <= '\u{1f}') => {
                Err(Code::CharacterNotAllowed)
            }
            Some(_) if text.chars().count() > MAX_CHARS => Err(Code::TooLong),
            Some(_) => Ok(Self(text.to_owned())),
        }
    }
}

/// A whole number of at least `MIN`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtLeast<const MIN: i32>(pub(crate) i32);

impl<const MIN: i32> Value for AtLeast<MIN> {
    const JSON: Kind = Kind::Number;

    fn rule() -> Rule {
        rule(
            format!("an integer from {MIN} to {}", i32::MAX),
            json!({"type": "integer", "format": "int32", "minimum": MIN, "maximum": i32::MAX}),
        )
    }

    /// In the JSON schema, 7.0 is an integer too.
    fn parse(text: &str) -> Result<Self, Code> {
        let number: i32 = integer(text.strip_suffix(".0").unwrap_or(text))?;
        if number < MIN { Err(Code::OutOfRange) } else { Ok(Self(number)) }
    }
}

impl Value for AccountName {
    const MAX_BYTES: usize = Text::MAX_BYTES;

    fn rule() -> Rule {
        <Text as Value>::rule()
    }

    fn parse(text: &str) -> Result<Self, Code> {
        <Text as Value>::parse(text).map(|Text(entered)| Self::new(entered))
    }
}

impl Value for Why {
    const MAX_BYTES: usize = Text::MAX_BYTES;

    fn rule() -> Rule {
        <Text as Value>::rule()
    }

    fn parse(text: &str) -> Result<Self, Code> {
        <Text as Value>::parse(text).map(|Text(entered)| Self(entered))
    }
}

impl Value for Until {
    fn rule() -> Rule {
        rule(EXPECTED, json!({"type": "string", "maxLength": Self::MAX_BYTES}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::parse(text, &Local::now()).map_err(|_| Code::NotATime)
    }
}

/// Whole seconds.
impl Value for Age {
    const JSON: Kind = Kind::Number;

    fn rule() -> Rule {
        AtLeast::<0>::rule()
    }

    fn parse(text: &str) -> Result<Self, Code> {
        let AtLeast(s) = AtLeast::<0>::parse(text)?;
        Ok(Self(Duration::from_secs(u64::from(s.unsigned_abs()))))
    }
}

/// The id of a thing in a list, after which a page begins.
impl Value for Uuid {
    fn rule() -> Rule {
        rule("an id, such as `next` of a former page", json!({"type": "string", "format": "uuid"}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::try_parse(text).map_err(|_| Code::NotAnId)
    }
}

choices! {
    QueueMode: Self::name, None;
    Role: Self::name, None;
    Change: Self::name, None;
    Action: Self::name, None;
    DeliveryState: Self::name, None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_short_and_visible() {
        let code = |text: &str| Text::parse(text).map(|text| text.0);
        for text in ["a", "the app", "ਦੁਕਾਨ", &"x".repeat(200)] {
            assert_eq!(code(text).as_deref(), Ok(text));
        }
        for (text, expected) in [
            ("", Code::TooShort),
            (" a", Code::CharacterNotAllowed),
            ("a\0", Code::CharacterNotAllowed),
            ("a\n", Code::CharacterNotAllowed),
            (&"x".repeat(201), Code::TooLong),
        ] {
            assert_eq!(code(text), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn a_number_is_whole_and_large_enough() {
        let code = |text: &str| AtLeast::<1>::parse(text).map(|number| number.0);
        assert_eq!((code("1"), code("7.0"), code("2147483647")), (Ok(1), Ok(7), Ok(i32::MAX)));
        for text in ["0", "-1", "2147483648"] {
            assert_eq!(code(text), Err(Code::OutOfRange), "{text}");
        }
        assert_eq!(code("1.5"), Err(Code::NotAnInteger));
    }
}
