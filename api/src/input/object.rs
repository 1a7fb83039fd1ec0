//! Parses the members of a JSON object into typed values within their ranges.

use std::ops::RangeInclusive;

use axum::extract::Request;
use serde_json::value::RawValue;

use super::{
    fields::{nearest, quoted, unknown},
    json::{self, Kind, Members},
    memory::BodyMemory,
};
use crate::problems::{Code, Problem, Violation};

/// The most bytes of a number that an error quotes.
const MAX_QUOTED: usize = 32;

/// The values of an object: at most one for each field.
#[derive(Debug, Default)]
pub(crate) struct Object {
    values: Vec<(&'static str, Box<RawValue>)>,
    /// The violations found so far.
    pub(crate) violations: Vec<Violation>,
}

/// Reads an object with these fields from a request's body.
pub(crate) async fn read(
    request: Request,
    fields: &[&'static str],
    memory: &BodyMemory,
) -> Result<Object, Problem> {
    Ok(Object::of(json::read(request, memory).await?, fields))
}

impl Object {
    fn of(members: Members, fields: &[&'static str]) -> Self {
        let mut object = Self::default();
        for (name, value) in members {
            let Some(field) = fields.iter().find(|f| **f == name) else {
                object.violations.push(unknown("field", &name, fields));
                continue;
            };
            if object.values.iter().any(|(n, _)| n == field) {
                let detail = format!("{field} is given more than once");
                object.violations.push(Violation::new(field, Code::Duplicated, detail));
            } else {
                object.values.push((field, value));
            }
        }
        object
    }

    /// Takes a required string. Adds a violation if it is absent or not a string.
    pub(crate) fn required_string(&mut self, name: &'static str) -> Option<String> {
        if !self.values.iter().any(|(n, _)| *n == name) {
            self.reject(name, Code::Missing, format!("{name} is required"));
        }
        self.string(name, || "a string".to_owned())
    }

    /// Takes a number, whole or not. `None` if it is absent. Adds a violation if it is not a number in this range.
    pub(crate) fn number(&mut self, name: &'static str, range: &RangeInclusive<f64>) -> Option<f64> {
        let expected = || format!("a number from {} to {}", range.start(), range.end());
        let value = self.value(name, Kind::Number, expected)?;
        let number: Option<f64> = value.get().parse().ok(); // Rust parses every number that JSON allows
        if let Some(number) = number.filter(|n| range.contains(n)) {
            return Some(number);
        }
        self.reject(
            name,
            Code::OutOfRange,
            format!("{name} is {}, expected {}", shortened(&value), expected()),
        );
        None
    }

    /// Takes a boolean. `None` if it is absent. Adds a violation if it is not a boolean.
    pub(crate) fn boolean(&mut self, name: &'static str) -> Option<bool> {
        self.value(name, Kind::Boolean, || "true or false".to_owned()).map(|value| value.get() == "true")
    }

    /// Takes a string and returns the value of the choice with this name. `None` if it is absent. Adds a violation if
    /// no choice has this name.
    pub(crate) fn one_of<T: Copy>(&mut self, name: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
        let names: Vec<&str> = choices.iter().map(|(choice, _)| *choice).collect();
        let expected = || format!("one of {}", names.join(", "));
        let text = self.string(name, expected)?;
        let chosen = choices.iter().find(|(choice, _)| *choice == text).map(|(_, value)| *value);
        if chosen.is_none() {
            let hint =
                nearest(&text, &names).map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
            let detail = format!("{name} is {}, expected {}{hint}", quoted(&text), expected());
            self.reject(name, Code::NotAChoice, detail);
        }
        chosen
    }

    fn string(&mut self, name: &'static str, expected: impl Fn() -> String) -> Option<String> {
        let value = self.value(name, Kind::String, expected)?;
        let text = serde_json::from_str(value.get());
        if text.is_err() {
            let detail = format!("{name} has an unpaired surrogate, which is not valid Unicode");
            self.reject(name, Code::NotUtf8, detail);
        }
        text.ok()
    }

    /// Takes a value of this kind. `None` if it is absent. Adds a violation if it is of another kind.
    fn value(&mut self, name: &str, kind: Kind, expected: impl Fn() -> String) -> Option<Box<RawValue>> {
        let index = self.values.iter().position(|(n, _)| *n == name)?;
        let (name, value) = self.values.swap_remove(index);
        if Kind::of(&value) == kind {
            return Some(value);
        }
        self.reject(
            name,
            Code::WrongType,
            format!("{name} is {}, expected {}", described(&value), expected()),
        );
        None
    }

    fn reject(&mut self, name: &str, code: Code, detail: String) {
        self.violations.push(Violation::new(name, code, detail));
    }
}

/// Describes a value of the wrong type in an error, such as `"125" (a string)`.
fn described(value: &RawValue) -> String {
    match Kind::of(value) {
        kind @ (Kind::Object | Kind::Array | Kind::Null) => kind.words().to_owned(),
        kind @ Kind::String => {
            let text: String = serde_json::from_str(value.get()).unwrap_or_default();
            format!("{} ({})", quoted(&text), kind.words())
        }
        kind => format!("{} ({})", shortened(value), kind.words()),
    }
}

/// The text of a number or a boolean, shortened.
fn shortened(value: &RawValue) -> String {
    let text = value.get();
    text.get(..MAX_QUOTED).map_or_else(|| text.to_owned(), |start| format!("{start}…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [&str; 3] = ["text", "line-space", "ink"];

    fn object(members: &[(&str, &str)]) -> Object {
        let member = |(name, value): &(&str, &str)| {
            ((*name).to_owned(), RawValue::from_string((*value).to_owned()).unwrap())
        };
        Object::of(members.iter().map(member).collect(), &FIELDS)
    }

    fn codes(object: &Object) -> Vec<(&str, &str)> {
        object.violations.iter().map(|v| (v.field.as_str(), v.code.as_str())).collect()
    }

    fn number(value: &str) -> Result<f64, (String, String)> {
        let mut object = object(&[("line-space", value)]);
        let number = object.number("line-space", &(120.0..=150.0));
        number.ok_or_else(|| {
            let only = object.violations.remove(0);
            (only.code, only.detail)
        })
    }

    #[test]
    fn a_number_in_its_range_may_be_written_in_any_way() {
        for (text, expected) in
            [("120", 120.0), ("150", 150.0), ("125.5", 125.5), ("1.3e2", 130.0), ("1500E-1", 150.0)]
        {
            assert_eq!(number(text), Ok(expected), "{text}");
        }
        for text in ["119", "151", "119.999", "150.001", "0", "-0", "-125", "1e400", "-1e400", "1e-400"] {
            assert_eq!(number(text).unwrap_err().0, "out_of_range", "{text}");
        }
        assert_eq!(number("119.5").unwrap_err().1, "line-space is 119.5, expected a number from 120 to 150");
        assert!(number(&"9".repeat(60_000)).unwrap_err().1.len() < 100);
    }

    #[test]
    fn the_error_names_the_type_and_the_expected_type() {
        for (text, words) in [
            (r#""125""#, r#"line-space is "125" (a string), expected a number from 120 to 150"#),
            ("true", "line-space is true (a boolean), expected a number from 120 to 150"),
            ("null", "line-space is null, expected a number from 120 to 150"),
            ("[125]", "line-space is an array, expected a number from 120 to 150"),
            ("{}", "line-space is an object, expected a number from 120 to 150"),
        ] {
            assert_eq!(number(text).unwrap_err(), ("wrong_type".to_owned(), words.to_owned()));
        }
        let mut object = object(&[("text", "1"), ("ink", "0")]);
        assert!(object.required_string("text").is_none() && object.boolean("ink").is_none());
        assert_eq!(object.violations[0].detail, "text is 1 (a number), expected a string");
        assert_eq!(object.violations[1].detail, "ink is 0 (a number), expected true or false");
    }

    #[test]
    fn unknown_and_repeated_names_are_violations() {
        let mut object =
            object(&[("Text", "1"), ("ink", "true"), ("ink", "2"), ("ink", "false"), ("line_space", "[]")]);
        assert_eq!(object.boolean("ink"), Some(true));
        assert_eq!(object.required_string("text"), None);
        let all = [
            ("Text", "unknown"),
            ("ink", "duplicated"),
            ("ink", "duplicated"),
            ("line_space", "unknown"),
            ("text", "missing"),
        ];
        assert_eq!(codes(&object), all);
        assert!(object.violations[3].detail.contains("\"line-space\""));
    }

    #[test]
    fn a_choice_must_be_one_of_the_names() {
        let choose = |text: &str| {
            let mut object = object(&[("ink", text)]);
            object
                .one_of("ink", &[("black", 1), ("blue", 2)])
                .ok_or_else(|| object.violations.remove(0).detail)
        };
        assert_eq!((choose(r#""black""#), choose(r#""\u0062lue""#)), (Ok(1), Ok(2)));
        assert_eq!(
            choose(r#""Black""#).unwrap_err(),
            r#"ink is "Black", expected one of black, blue; did you mean "black"?"#
        );
        assert_eq!(choose(r#""red 3""#).unwrap_err(), r#"ink is "red 3", expected one of black, blue"#);
        assert_eq!(choose("7").unwrap_err(), "ink is 7 (a number), expected one of black, blue");
    }

    #[test]
    fn half_a_surrogate_pair_is_a_violation() {
        let mut object = object(&[("text", r#""\ud83d""#)]);
        assert_eq!(object.required_string("text"), None);
        assert_eq!(codes(&object), [("text", "not_utf8")]);
        let mut object = super::tests::object(&[("text", r#""\ud83d\ude00""#)]);
        assert_eq!(object.required_string("text").as_deref(), Some("😀"));
    }
}
