//! The values that a request has for its fields: bodies and query strings are read into [`Values`], and the fields take
//! them out.

use std::borrow::Cow;

use akhar_requests::Upload;
use akhar_webhooks::UrlRules;
use bytes::Bytes;
use serde_json::value::RawValue;

use super::{
    caller_url,
    field::{Field, File, IfAbsent, Slot},
    json::{Kind, Members},
    names::{quoted, unknown},
    source::Source,
    value::{Value, shortened},
};
use crate::problems::{Code, Violation};

/// A value as it was sent.
#[derive(Debug)]
pub(super) enum Sent {
    /// Text, or the bytes of a file.
    Bytes(Bytes),
    /// A member of a JSON object.
    Json(Box<RawValue>),
    /// A value that has been refused already.
    Refused,
}

/// The values that a request has for its fields, and the violations found so far.
#[derive(Debug, Default)]
pub(crate) struct Values {
    sent: Vec<(&'static str, Sent)>,
    /// The violations found so far.
    pub(crate) violations: Vec<Violation>,
}

impl Values {
    /// The values of a JSON object.
    pub(super) fn of_object(members: Members, slots: &[Slot]) -> Self {
        let mut values = Self::default();
        for (name, value) in members {
            match values.slot("field", &name, slots) {
                Some(Slot { name, max_values: Some(max), .. }) => values.add_array(name, &value, max),
                Some(slot) => values.add(slot.name, Sent::Json(value)),
                None => (),
            }
        }
        values
    }

    /// Adds the elements of an array as values of a field, which must have one at least. So an empty array is not taken for an
    /// absent one.
    fn add_array(&mut self, name: &'static str, array: &RawValue, max: usize) {
        let elements = match serde_json::from_str::<Vec<Box<RawValue>>>(array.get()) {
            Ok(elements) if !elements.is_empty() => elements,
            Ok(_) => {
                return self.refuse(name, Code::Empty, format!("{name} is empty, expected at least one"));
            }
            Err(_) => {
                let detail = format!("{name} is {}, expected an array", described(array));
                return self.refuse(name, Code::WrongType, detail);
            }
        };
        if elements.len() > max {
            let detail = format!("{name} has {} elements, expected at most {max}", elements.len());
            return self.refuse(name, Code::TooMany, detail);
        }
        for element in elements {
            self.add(name, Sent::Json(element));
        }
    }

    /// Adds a violation of a field, which counts as sent.
    fn refuse(&mut self, name: &'static str, code: Code, detail: String) {
        self.reject(name, code, detail);
        self.add(name, Sent::Refused);
    }

    /// The field with this name. `None` if the request may not have it or has it already; adds that violation. `what` is
    /// such as "field".
    pub(super) fn slot(&mut self, what: &str, name: &str, slots: &[Slot]) -> Option<Slot> {
        let Some(slot) = slots.iter().find(|slot| slot.name == name) else {
            let known: Vec<&str> = slots.iter().map(|slot| slot.name).collect();
            self.violations.push(unknown(what, name, &known));
            return None;
        };
        let n_before = self.sent.iter().filter(|(name, _)| *name == slot.name).count();
        match slot.max_values {
            None if n_before > 0 => {
                self.reject(slot.name, Code::Duplicated, format!("{name} is given more than once"));
                None
            }
            Some(max) if n_before >= max => {
                let is_known = |v: &Violation| (&*v.field, &*v.code) == (slot.name, Code::TooMany.name());
                if !self.violations.iter().any(is_known) {
                    let detail = format!("{name} is given more than {max} times, expected at most {max}");
                    self.reject(slot.name, Code::TooMany, detail);
                }
                None
            }
            _ => Some(*slot),
        }
    }

    /// Adds a value of a field.
    pub(super) fn add(&mut self, name: &'static str, sent: Sent) {
        self.sent.push((name, sent));
    }

    /// Adds a violation.
    pub(super) fn reject(&mut self, name: &str, code: Code, detail: String) {
        self.violations.push(Violation::new(name, code, detail));
    }

    /// Takes the value of a field, or its default. `None` if it has neither, or if a violation was added.
    pub(crate) fn take<T: Value>(&mut self, field: &Field<T>) -> Option<T> {
        let name = field.name;
        let mut taken: Option<T> = None;
        let mut is_absent = true;
        while let Some(sent) = self.remove(name) {
            if sent.is_null() && field.is_nullable() {
                continue;
            }
            is_absent = false;
            match (sent.text::<T>(name).and_then(|text| field.parse(&text)), &mut taken) {
                (Ok(value), Some(list)) => list.extend(value),
                (Ok(value), None) => taken = Some(value),
                (Err(violations), _) => self.violations.extend(violations),
            }
        }
        match field.if_absent {
            IfAbsent::Default(text) if is_absent => T::check(name, text).ok(),
            IfAbsent::Refuse if is_absent => {
                self.reject(name, Code::Missing, field.missing());
                None
            }
            _ => taken,
        }
    }

    /// Takes a file, or its URL or upload in place of it. Adds a violation if more than one of them is given, or one that is not
    /// accepted.
    pub(crate) fn take_source(&mut self, file: &File, rules: &UrlRules) -> Option<Source> {
        let is_given = |name: &&str| self.sent.iter().any(|(sent, _)| sent == name);
        let given: Vec<&str> = [File::NAME, File::URL, File::UPLOAD].into_iter().filter(is_given).collect();
        if let [first, second, ..] = given[..] {
            for name in &given {
                let _ = self.remove(name); // none of them is read
            }
            let detail = format!("{second} is given, but {first} is too: expected one of them");
            self.reject(second, Code::Unsupported, detail);
            return None;
        }
        let name = given.first().copied().filter(|name| *name != File::NAME);
        let Some(name) = name else { return self.take_file(file).map(Source::Sent) };
        let Some(Sent::Bytes(text)) = self.remove(name) else { return None };
        // An invalid byte is none of a URL or an id, and neither is what replaces it.
        let text = String::from_utf8_lossy(&text);
        let source = match name {
            File::URL => caller_url::parse(name, &text, rules).map(Source::Url),
            _ => text.parse().map(Source::Upload).map_err(|_| {
                let detail = format!("{name} is {}, expected the id of an upload", quoted(&text));
                Violation::new(name, Code::NotAnId, detail)
            }),
        };
        source.map_err(|violation| self.violations.push(violation)).ok()
    }

    /// Takes a file and finds its type in its first bytes. Adds a violation if the file is missing, empty or of no accepted
    /// type.
    pub(crate) fn take_file(&mut self, file: &File) -> Option<Upload> {
        let name = File::NAME;
        let bytes = match self.remove(name) {
            Some(Sent::Bytes(bytes)) => bytes,
            Some(_) => return None,
            None => {
                self.reject(name, Code::Missing, file.missing());
                return None;
            }
        };
        if bytes.is_empty() {
            self.reject(name, Code::Empty, format!("{name} is empty"));
            return None;
        }
        match file.media_type(&bytes) {
            Ok(media_type) => Some(Upload { media_type, bytes }),
            Err(violation) => {
                self.violations.push(violation);
                None
            }
        }
    }

    fn remove(&mut self, name: &str) -> Option<Sent> {
        let index = self.sent.iter().position(|(n, _)| *n == name)?;
        Some(self.sent.remove(index).1)
    }
}

impl Sent {
    fn is_null(&self) -> bool {
        matches!(self, Self::Json(value) if Kind::of(value) == Kind::Null)
    }

    /// The text of a value. A JSON value must have the type of `T`.
    fn text<T: Value>(&self, name: &str) -> Result<Cow<'_, str>, Vec<Violation>> {
        let refuse = |code, detail| vec![Violation::new(name, code, format!("{name} {detail}"))];
        match self {
            Self::Refused => Err(Vec::new()),
            Self::Bytes(bytes) => str::from_utf8(bytes).map(Cow::from).map_err(|_| {
                let sent = quoted(&String::from_utf8_lossy(bytes));
                refuse(Code::NotUtf8, format!("is {sent}, which is not valid UTF-8"))
            }),
            Self::Json(value) if Kind::of(value) != T::JSON => {
                let expected = T::rule().expected;
                Err(refuse(Code::WrongType, format!("is {}, expected {expected}", described(value))))
            }
            Self::Json(value) if T::JSON == Kind::String => {
                serde_json::from_str(value.get()).map(|text: String| text.into()).map_err(|_| {
                    let detail = "has an unpaired surrogate, which is not valid Unicode";
                    refuse(Code::NotUtf8, detail.to_owned())
                })
            }
            Self::Json(value) => Ok(value.get().into()),
        }
    }
}

/// Describes a value of the wrong type in an error, such as `"125" (a string)`.
pub(crate) fn described(value: &RawValue) -> String {
    match Kind::of(value) {
        kind @ (Kind::Object | Kind::Array | Kind::Null) => kind.words().to_owned(),
        kind @ Kind::String => {
            let text: String = serde_json::from_str(value.get()).unwrap_or_default();
            format!("{} ({})", quoted(&text), kind.words())
        }
        kind => format!("{} ({})", shortened(value.get()), kind.words()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use akhar_requests::{Bounded, StrokeColor};

    use super::*;
    use crate::input::{
        field::{AnyField as _, field},
        value::{Rule, rule},
    };

    type LineSpace = Bounded<f64, 120, 150>;

    const TEXT: Field<String> = field("text").required();
    const LINE_SPACE: Field<LineSpace> = field("line-space");
    const INK: Field<bool> = field("ink");

    impl Value for String {
        fn rule() -> Rule {
            rule("a string", serde_json::json!({"type": "string"}))
        }

        fn parse(text: &str) -> Result<Self, Code> {
            Ok(text.to_owned())
        }
    }

    fn object(members: &[(&str, &str)]) -> Values {
        let member = |(name, value): &(&str, &str)| {
            ((*name).to_owned(), RawValue::from_string((*value).to_owned()).unwrap())
        };
        Values::of_object(members.iter().map(member).collect(), &[TEXT.slot(), LINE_SPACE.slot(), INK.slot()])
    }

    fn codes(object: &Values) -> Vec<(&str, &str)> {
        object.violations.iter().map(|v| (v.field.as_str(), v.code.as_str())).collect()
    }

    fn number(value: &str) -> Result<f64, (String, String)> {
        let mut object = object(&[("line-space", value)]);
        let number = object.take(&LINE_SPACE).map(Bounded::get);
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
            ("[125]", "line-space is an array, expected a number from 120 to 150"),
            ("{}", "line-space is an object, expected a number from 120 to 150"),
        ] {
            assert_eq!(number(text).unwrap_err(), ("wrong_type".to_owned(), words.to_owned()));
        }
        let mut object = object(&[("text", "1"), ("ink", "0")]);
        assert!(object.take(&TEXT).is_none() && object.take(&INK).is_none());
        assert_eq!(object.violations[0].detail, "text is 1 (a number), expected a string");
        assert_eq!(object.violations[1].detail, "ink is 0 (a number), expected true or false");
    }

    #[test]
    fn null_counts_as_absent_where_a_field_may_be() {
        let mut object = object(&[("text", "null"), ("line-space", "null")]);
        assert!(object.take(&LINE_SPACE).is_none() && object.take(&TEXT).is_none());
        assert_eq!(codes(&object), [("text", "wrong_type")]);
    }

    #[test]
    fn unknown_and_repeated_names_are_violations() {
        let mut object =
            object(&[("Text", "1"), ("ink", "true"), ("ink", "2"), ("ink", "false"), ("line_space", "[]")]);
        assert_eq!(object.take(&INK), Some(true));
        assert_eq!(object.take(&TEXT), None);
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
            object.take(&field::<StrokeColor>("ink")).ok_or_else(|| object.violations.remove(0).detail)
        };
        assert_eq!(choose(r#""black""#), Ok(StrokeColor::Black));
        assert_eq!(choose(r#""\u0062lue""#), Ok(StrokeColor::Blue));
        assert_eq!(
            choose(r#""Black""#).unwrap_err(),
            r#"ink is "Black", expected one of black, blue, pink, green, yellow, brown; did you mean "black"?"#
        );
        assert_eq!(
            choose(r#""red 3""#).unwrap_err(),
            r#"ink is "red 3", expected one of black, blue, pink, green, yellow, brown"#
        );
        assert_eq!(
            choose("7").unwrap_err(),
            "ink is 7 (a number), expected one of black, blue, pink, green, yellow, brown"
        );
    }

    #[test]
    fn half_a_surrogate_pair_is_a_violation() {
        let mut object = object(&[("text", r#""\ud83d""#)]);
        assert_eq!(object.take(&TEXT), None);
        assert_eq!(codes(&object), [("text", "not_utf8")]);
        let mut object = super::tests::object(&[("text", r#""\ud83d\ude00""#)]);
        assert_eq!(object.take(&TEXT).as_deref(), Some("😀"));
    }
}
