//! The types of values that fields can hold. Each parses the text of a value and describes itself to the OpenAPI
//! document.

use std::str::FromStr;

use akhar_jobs::{
    GroupName, JobId, JobState, Label,
    group::{LABEL_PATTERN, MAX_NAME_CHARACTERS, NAME_PATTERN},
};
use akhar_requests::{
    Bounded, Channels, Digits, KeyTerm, Operation, Script, StrokeColor,
    key_term::{self, KeyTermError},
};
use chrono::{DateTime, Utc};
use serde_json::json;
use uuid::Uuid;

use super::{
    json::Kind,
    names::{nearest, quoted},
};
use crate::problems::{Code, Violation};

/// The most bytes of a number that an error quotes.
const MAX_QUOTED: usize = 32;

/// What a type of value accepts.
pub(crate) struct Rule {
    /// In words.
    pub(crate) expected: String,
    /// As a JSON schema.
    pub(crate) schema: serde_json::Value,
}

/// The rule with these words and this schema.
pub(crate) fn rule(expected: impl Into<String>, schema: serde_json::Value) -> Rule {
    Rule { expected: expected.into(), schema }
}

/// A type of value.
pub(crate) trait Value: Sized {
    /// The type of the value in a JSON body. In forms and query strings every value is text.
    const JSON: Kind = Kind::String;
    /// The name of its schema, if that is a component of the OpenAPI document.
    const COMPONENT: Option<&'static str> = None;
    /// The most times that the field can be given, if that is more than once.
    const MAX_VALUES: Option<usize> = None;
    /// The most bytes that a value can have in a form.
    const MAX_BYTES: usize = 64;
    /// The most values of a list of these.
    const MAX_IN_LIST: usize = 16;

    /// What is accepted.
    fn rule() -> Rule;

    /// Parses a value: the text of a form, the token of a JSON number or boolean, or the content of a JSON string.
    fn parse(text: &str) -> Result<Self, Code>;

    /// Parses the value of a field. Returns all violations.
    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        Self::parse(text).map_err(|code| {
            let is_number = matches!(code, Code::OutOfRange);
            let sent = if is_number { shortened(text) } else { quoted(text) };
            vec![Violation::new(name, code, format!("{name} is {sent}, expected {}", Self::rule().expected))]
        })
    }

    /// Adds another value, if this is a list.
    fn extend(&mut self, _other: Self) {}
}

/// The text of a number or a boolean, shortened.
pub(super) fn shortened(text: &str) -> String {
    text.get(..MAX_QUOTED).map_or_else(|| text.to_owned(), |start| format!("{start}…"))
}

/// `true` or `false`, or in a form `True` or `False`, which Python writes.
impl Value for bool {
    const JSON: Kind = Kind::Boolean;

    fn rule() -> Rule {
        rule("true or false", json!({"type": "boolean"}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        match text {
            "true" | "True" => Ok(true),
            "false" | "False" => Ok(false),
            _ => Err(Code::NotAChoice),
        }
    }

    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        Self::parse(text).map_err(|code| vec![not_one_of(name, text, &["false", "true"], code)])
    }
}

impl<const MIN: u16, const MAX: u16> Value for Bounded<u8, MIN, MAX> {
    const JSON: Kind = Kind::Number;

    fn rule() -> Rule {
        rule(
            format!("an integer from {MIN} to {MAX}"),
            json!({"type": "integer", "format": "int32", "minimum": MIN, "maximum": MAX}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::new(integer(text)?).ok_or(Code::OutOfRange)
    }
}

impl Value for u32 {
    const JSON: Kind = Kind::Number;

    fn rule() -> Rule {
        rule(
            format!("an integer from 0 to {}", Self::MAX),
            json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": Self::MAX}),
        )
    }

    /// In the JSON schema, 7.0 is an integer too.
    fn parse(text: &str) -> Result<Self, Code> {
        integer(text.strip_suffix(".0").unwrap_or(text))
    }
}

/// An integer in decimal digits, optionally with a minus sign. A plus sign, spaces, a decimal point or an exponent is a
/// violation.
pub(crate) fn integer<N: FromStr>(text: &str) -> Result<N, Code> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Code::NotAnInteger);
    }
    text.parse().map_err(|_| Code::OutOfRange)
}

/// A number, whole or not. Rust parses every number that JSON allows.
impl<const MIN: u16, const MAX: u16> Value for Bounded<f64, MIN, MAX> {
    const JSON: Kind = Kind::Number;

    fn rule() -> Rule {
        rule(
            format!("a number from {MIN} to {MAX}"),
            json!({"type": "number", "format": "double", "minimum": MIN, "maximum": MAX}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        text.parse().ok().and_then(Self::new).ok_or(Code::OutOfRange)
    }
}

impl Value for KeyTerm {
    /// More than a term has in any form of normalisation.
    const MAX_BYTES: usize = 1024;
    const MAX_IN_LIST: usize = key_term::MAX_TERMS;

    fn rule() -> Rule {
        let schema = json!({
            "type": "string", "minLength": 1, "maxLength": key_term::MAX_CHARS, "pattern": key_term::PATTERN,
            "examples": ["ਗੁਰਕੀਰਤ"],
        });
        rule("a term", schema)
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::parse(text).map_err(|error| term_code(&error))
    }

    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        Self::parse(text).map_err(|error| {
            vec![Violation::new(name, term_code(&error), format!("{name} {} has {error}", quoted(text)))]
        })
    }
}

const fn term_code(error: &KeyTermError) -> Code {
    match error {
        KeyTermError::TooLong(_) => Code::TooLong,
        KeyTermError::NotAllowed(_) => Code::CharacterNotAllowed,
        KeyTermError::NoLetter => Code::NoLetter,
    }
}

impl Value for DateTime<Utc> {
    fn rule() -> Rule {
        rule(
            "a time as in RFC 3339, such as 2026-11-21T09:00:00Z",
            json!({"type": "string", "format": "date-time"}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        DateTime::parse_from_rfc3339(text).map(|time| time.to_utc()).map_err(|_| Code::NotATime)
    }

    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        Self::parse(text).map_err(|code| {
            // In a query string, a plus sign is a space.
            let hint = match Self::parse(&text.replace(' ', "+")) {
                Ok(_) => "; in a URL, write + as %2B",
                Err(_) => "",
            };
            let (sent, expected) = (quoted(text), Self::rule().expected);
            vec![Violation::new(name, code, format!("{name} is {sent}, expected {expected}{hint}"))]
        })
    }
}

impl Value for JobId {
    const MAX_IN_LIST: usize = 1000;

    fn rule() -> Rule {
        rule("the id of a job", json!({"type": "string", "format": "uuid"}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Uuid::try_parse(text).map(Self).map_err(|_| Code::NotAJob)
    }
}

impl Value for GroupName {
    fn rule() -> Rule {
        let expected = "the name of a group: 1 to 128 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit";
        rule(expected, json!({"type": "string", "maxLength": MAX_NAME_CHARACTERS, "pattern": NAME_PATTERN}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        let is_long = text.len() > MAX_NAME_CHARACTERS;
        Self::parse(text).ok_or(if is_long { Code::TooLong } else { Code::CharacterNotAllowed })
    }
}

impl Value for Label {
    fn rule() -> Rule {
        let expected = "key=value: a key of 1 to 64 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit, and a \
            value of 1 to 128 visible ASCII characters without commas";
        rule(expected, json!({"type": "string", "pattern": LABEL_PATTERN}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::parse(text).ok_or(Code::CharacterNotAllowed)
    }
}

/// Values in any number and order.
impl<T: Value> Value for Vec<T> {
    const COMPONENT: Option<&'static str> = T::COMPONENT;
    const MAX_VALUES: Option<usize> = Some(T::MAX_IN_LIST);
    const MAX_BYTES: usize = T::MAX_BYTES;

    fn rule() -> Rule {
        T::rule()
    }

    fn parse(text: &str) -> Result<Self, Code> {
        T::parse(text).map(|value| vec![value])
    }

    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        T::check(name, text).map(|value| vec![value])
    }

    fn extend(&mut self, other: Self) {
        Extend::extend(self, other);
    }
}

/// A type of value that is one of several, each with a name.
pub(crate) trait Choice: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];
    /// The name and the description of its schema, if that is a component of the OpenAPI document.
    const COMPONENT: Option<(&'static str, &'static str)>;

    /// The name in requests.
    fn name(self) -> &'static str;
}

impl<T: Choice> Value for T {
    const COMPONENT: Option<&'static str> = match T::COMPONENT {
        Some((name, _)) => Some(name),
        None => None,
    };

    fn rule() -> Rule {
        let mut schema = json!({"type": "string", "enum": names::<T>()});
        if let Some((_, text)) = T::COMPONENT {
            schema["description"] = text.into();
        }
        rule(format!("one of {}", names::<T>().join(", ")), schema)
    }

    fn parse(text: &str) -> Result<Self, Code> {
        T::ALL.iter().find(|choice| choice.name() == text).copied().ok_or(Code::NotAChoice)
    }

    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        Self::parse(text).map_err(|code| vec![not_one_of(name, text, &names::<T>(), code)])
    }
}

/// The violation of a value that is none of `names`.
fn not_one_of(name: &str, text: &str, names: &[&str], code: Code) -> Violation {
    let hint = nearest(text, names).map_or(String::new(), |near| format!("; did you mean \"{near}\"?"));
    let detail = format!("{name} is {}, expected one of {}{hint}", quoted(text), names.join(", "));
    Violation::new(name, code, detail)
}

fn names<T: Choice>() -> Vec<&'static str> {
    T::ALL.iter().map(|choice| choice.name()).collect()
}

/// Implements [`Choice`] for enumerations that list their variants in `ALL`.
macro_rules! choices {
    ($($choice:ty: $name:expr, $component:expr;)+) => {$(
        impl $crate::input::value::Choice for $choice {
            const ALL: &'static [Self] = &Self::ALL;
            const COMPONENT: Option<(&'static str, &'static str)> = $component;

            fn name(self) -> &'static str {
                $name(self)
            }
        }
    )+};
}
pub(crate) use choices;

choices! {
    JobState: Self::name, Some(("JobState", "The state of a job."));
    StrokeColor: Self::name, None;
    Digits: Self::name, None;
    Script: Self::name, None;
    Channels: Self::name, None;
    Operation: Self::name, Some(("Operation", "An operation's name."));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boolean_is_true_or_false_as_json_or_python_writes_it() {
        for (text, value) in [("true", true), ("True", true), ("false", false), ("False", false)] {
            assert_eq!(bool::parse(text), Ok(value));
        }
        for no in ["", "TRUE", "tRUE", "1", "0", "yes", " true", "false "] {
            assert_eq!(bool::parse(no), Err(Code::NotAChoice), "{no:?}");
        }
    }

    #[test]
    fn the_error_suggests_the_nearest_choice() {
        assert_eq!(Digits::check("digits", "latin"), Ok(Digits::Latin));
        let violation = Digits::check("digits", "Latin").unwrap_err().remove(0);
        assert!(violation.detail.contains("did you mean \"latin\"?"), "{violation:?}");
    }

    #[test]
    fn an_integer_has_only_digits() {
        let code = |text: &str| Bounded::<u8, 1, 5>::parse(text).map(Bounded::get);
        for (text, k) in [("1", 1), ("3", 3), ("5", 5), ("05", 5)] {
            assert_eq!(code(text), Ok(k), "{text}");
        }
        for text in ["0", "-0", "6", "-1", "256", "99999999999999999999999"] {
            assert_eq!(code(text), Err(Code::OutOfRange), "{text}");
        }
        for text in
            ["", "-", "+3", " 3", "3 ", "3\n", "2.5", "3.0", "3e0", "x", "null", "੩", "٣", "0x3", "--3"]
        {
            assert_eq!(code(text), Err(Code::NotAnInteger), "{text:?}");
        }
    }
}
