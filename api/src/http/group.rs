//! The headers by which a caller finds its jobs again: Akhar-Group, the name of their group, and Akhar-Label.

use std::collections::BTreeMap;

use akhar_jobs::{
    GroupName, Label,
    group::{MAX_LABELS, MAX_NAME_CHARACTERS, NAME_PATTERN},
};
use axum::http::HeaderMap;

use super::{header::Header, webhook};
use crate::{
    input::{names::quoted, value::Value},
    problems::{Code, Violation},
};

/// The header with the name of the group.
pub(crate) const GROUP: Header = Header {
    max_length: Some(MAX_NAME_CHARACTERS),
    pattern: Some(NAME_PATTERN),
    example: Some("calls-2026-11-26"),
    ..Header::new(
        "Akhar-Group",
        "The name of a group of your jobs in which the job is counted. `GET /v1/groups/{name}` has the counts. The first job of a\n\
         group makes it.",
    )
};

/// The header with labels.
pub(crate) const LABEL: Header = Header {
    example: Some("customer=42"),
    ..Header::new(
        "Akhar-Label",
        "A label of the job, `key=value`, or several of them, separated by commas or in several headers. `GET /v1/jobs` can list\n\
         the jobs with a label.",
    )
};

/// The name of the group. `None` if the request has no such header, which is a violation if it has a webhook of the group.
pub(crate) fn read(headers: &HeaderMap, has_webhook: bool) -> Result<Option<GroupName>, Violation> {
    match GROUP.read(headers)? {
        Some(value) => parse(&GROUP, value.as_bytes()).map(Some),
        None if has_webhook => Err(GROUP
            .violation(Code::Missing, format!("is missing, and {} is of a group", webhook::OF_GROUP.name))),
        None => Ok(None),
    }
}

/// The labels.
pub(crate) fn read_labels(headers: &HeaderMap) -> Result<BTreeMap<String, String>, Violation> {
    let lines =
        headers.get_all(LABEL.name).iter().flat_map(|line| line.as_bytes().split(|byte| *byte == b','));
    let mut labels = BTreeMap::new();
    for text in lines.map(<[u8]>::trim_ascii).filter(|text| !text.is_empty()) {
        let Label { key, value } = parse(&LABEL, text)?;
        if labels.contains_key(&key) {
            return Err(
                LABEL.violation(Code::Duplicated, format!("has the key {} more than once", quoted(&key)))
            );
        }
        if labels.len() == MAX_LABELS {
            return Err(LABEL.violation(Code::TooMany, format!("has more than {MAX_LABELS} labels")));
        }
        labels.insert(key, value);
    }
    Ok(labels)
}

fn parse<T: Value>(header: &Header, sent: &[u8]) -> Result<T, Violation> {
    let sent = String::from_utf8_lossy(sent);
    let violation =
        |code| header.violation(code, format!("is {}, expected {}", quoted(&sent), T::rule().expected));
    T::parse(&sent).map_err(violation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(header: &Header, lines: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header.name, (*line).try_into().unwrap());
        }
        headers
    }

    #[test]
    fn a_group_has_a_name_that_is_a_segment_of_a_path() {
        let read = |lines: &[&[u8]]| read(&headers(&GROUP, lines), false).map_err(|violation| violation.code);
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b"calls_1.a-b"]), Ok(GroupName::parse("calls_1.a-b")));
        assert_eq!(read(&[b""]), Ok(None));
        for odd in [&b".."[..], b"a/b", b"a b", b"\xff", "ੳ".as_bytes()] {
            assert_eq!(read(&[odd]), Err("character_not_allowed".to_owned()), "{odd:?}");
        }
        assert_eq!(read(&[b"x".repeat(129).as_slice()]), Err("too_long".to_owned()));
        assert_eq!(read(&[b"a", b"a"]), Err("duplicated".to_owned()));
        assert_eq!(super::read(&HeaderMap::new(), true).unwrap_err().code, "missing");
    }

    #[test]
    fn a_violation_says_what_was_sent_and_what_was_expected() {
        let violation = read(&headers(&GROUP, &[b"a/b"]), false).unwrap_err();
        assert_eq!(violation.field, "Akhar-Group");
        assert_eq!(
            violation.detail,
            "Akhar-Group is \"a/b\", expected the name of a group: 1 to 128 letters, digits, \".\", \"_\" and \"-\", the first a \
             letter or digit"
        );
    }

    #[test]
    fn labels_are_in_one_line_or_in_several() {
        let read = |lines: &[&[u8]]| {
            let labels = read_labels(&headers(&LABEL, lines)).map_err(|violation| violation.code)?;
            Ok(labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(read(&[]), Ok(String::new()));
        assert_eq!(read(&[b""]), Ok(String::new()));
        assert_eq!(read(&[b"b=2, a=1,", b"c=x=y"]), Ok("a=1 b=2 c=x=y".to_owned()));
        for odd in [&b"a"[..], b"a=", b"=b", b"a=\xff", b"a b=c", b"a=b c"] {
            assert_eq!(read(&[odd]), Err("character_not_allowed".to_owned()), "{odd:?}");
        }
        assert_eq!(read(&[b"a=1", b"a=2"]), Err("duplicated".to_owned()));
        assert_eq!(read(&[b"a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1"]), Err("too_many".to_owned()));
    }
}
