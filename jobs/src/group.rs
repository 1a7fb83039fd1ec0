//! By what a caller finds its jobs again: the name of their group, and labels.

use serde::{Deserialize, Serialize};

/// The most characters of a group's name.
pub const MAX_NAME_CHARACTERS: usize = 128;
/// The most characters of a label's key.
pub const MAX_KEY_CHARACTERS: usize = 64;
/// The most characters of a label's value.
pub const MAX_VALUE_CHARACTERS: usize = 128;
/// The most labels of a job.
pub const MAX_LABELS: usize = 8;

/// A regular expression of the names of groups. A name is a segment of a path, and no path has the segments `.` and `..`.
pub const NAME_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$";
/// A regular expression of labels. A comma separates labels.
pub const LABEL_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}=[!-+.-~-]{1,128}$";

/// The name of a group of jobs: 1 to 128 ASCII letters, digits, `.`, `_` and `-`, the first of them a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, sqlx::Type)]
#[sqlx(transparent)]
#[serde(transparent)]
pub struct GroupName(String);

impl GroupName {
    /// The name. `None` if it has other characters, or too many.
    pub fn parse(text: &str) -> Option<Self> {
        is_name(text, MAX_NAME_CHARACTERS).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<GroupName> for String {
    fn from(name: GroupName) -> Self {
        name.0
    }
}

/// A label of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// 1 to 64 of the characters of a group's name. A job has one label with a key.
    pub key: String,
    /// 1 to 128 visible ASCII characters except the comma.
    pub value: String,
}

impl Label {
    /// The label that is written as `key=value`. `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (key, value) = text.split_once('=')?;
        let is_value = (1..=MAX_VALUE_CHARACTERS).contains(&value.len())
            && value.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
        (is_name(key, MAX_KEY_CHARACTERS) && is_value)
            .then(|| Self { key: key.to_owned(), value: value.to_owned() })
    }
}

fn is_name(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn names_and_labels_are_those_of_their_patterns() {
        let (names, labels) = (Regex::new(NAME_PATTERN).unwrap(), Regex::new(LABEL_PATTERN).unwrap());
        let long = |n: usize| "x".repeat(n);
        for text in [
            "calls-2026.11_x",
            "0",
            "",
            ".",
            "..",
            "-a",
            "a/b",
            "a b",
            "ੳ",
            "a=b",
            "a=",
            "=b",
            "a",
            "a=b=c",
            "a=b,c",
            "a=-",
            "a= b",
            "a=ੳ",
            "_a=b",
            "a\n",
            "a=b\n",
            &long(128),
            &long(129),
            &format!("{}=b", long(64)),
            &format!("{}=b", long(65)),
            &format!("a={}", long(128)),
            &format!("a={}", long(129)),
        ] {
            assert_eq!(GroupName::parse(text).is_some(), names.is_match(text), "{text:?}");
            assert_eq!(Label::parse(text).is_some(), labels.is_match(text), "{text:?}");
        }
        let label = Label::parse("customer=a=b").unwrap();
        assert_eq!((label.key.as_str(), label.value.as_str()), ("customer", "a=b"));
    }
}
