//! The ids of events, and the header with which a client names the last event that it has received.

use akhar_jobs::{JobId, store::Cursor};
use axum::http::HeaderMap;
use utoipa::{
    IntoParams,
    openapi::path::{Parameter, ParameterIn},
};

use crate::{
    http::header::Header,
    input::names::quoted,
    problems::{Code, Violation},
};

/// The header. `EventSource` sends it when it connects again.
const HEADER: Header = Header {
    pattern: Some(r"^(end|[0-9]{1,9}\.[0-9]{1,9})$"),
    ..Header::new(
        "Last-Event-ID",
        "The id of the last event that you have received. The stream continues after it. If that was `done`, the response is \
         204.",
    )
};

/// The id of the last event of every job.
const END: &str = "end";

/// The id of an event: what its receiver knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventId {
    /// The segments up to this one of this attempt.
    Segments {
        /// The attempt. 0 if none has started.
        attempt: i32,
        /// The number of segments.
        n: i32,
    },
    /// Everything.
    End,
}

impl EventId {
    /// Reads the header. `None` if there is none.
    pub(super) fn read(headers: &HeaderMap) -> Result<Option<Self>, Violation> {
        let Some(value) = HEADER.read(headers)? else { return Ok(None) };
        let parsed = value.to_str().ok().and_then(Self::parse);
        parsed.map(Some).ok_or_else(|| Self::not_an_event(&String::from_utf8_lossy(value.as_bytes())))
    }

    /// The violation of a value that is not the id of an event.
    pub(super) fn not_an_event(sent: &str) -> Violation {
        let expected = format!("expected the id of an event of this job, such as \"1.5\" or \"{END}\"");
        HEADER.violation(Code::NotAnEvent, format!("is {}, {expected}", quoted(sent)))
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |digits: &str| -> Option<i32> {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            is_number.then(|| digits.parse().ok())?
        };
        if text == END {
            return Some(Self::End);
        }
        let (attempt, n) = text.split_once('.')?;
        Some(Self::Segments { attempt: number(attempt)?, n: number(n)? })
    }

    /// The cursor of a follower that knows what this id says.
    pub(super) fn cursor(self, job: JobId) -> Cursor {
        match self {
            Self::Segments { attempt, n } => Cursor { job, attempt, n_parts: n },
            Self::End => Cursor { job, attempt: 0, n_parts: 0 },
        }
    }
}

impl IntoParams for EventId {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![HEADER.parameter()]
    }
}

impl From<Cursor> for EventId {
    fn from(cursor: Cursor) -> Self {
        Self::Segments { attempt: cursor.attempt, n: cursor.n_parts }
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Segments { attempt, n } => write!(f, "{attempt}.{n}"),
            Self::End => f.write_str(END),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<EventId>, String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER.name, (*value).try_into().unwrap());
        }
        EventId::read(&headers).map_err(|violation| violation.code)
    }

    #[test]
    fn an_id_is_read_as_it_was_written() {
        for id in
            [EventId::Segments { attempt: 2, n: 17 }, EventId::Segments { attempt: 0, n: 0 }, EventId::End]
        {
            assert_eq!(read(&[id.to_string().as_bytes()]), Ok(Some(id)));
        }
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b""]), Ok(None));
    }

    #[test]
    fn any_other_value_is_a_violation() {
        for odd in
            [&b"x"[..], b"1", b"1.", b".1", b"1.2.3", b"-1.2", b"1.+2", b"99999999999.1", b"End", b"\xff"]
        {
            assert_eq!(read(&[odd]), Err("not_an_event".to_owned()), "{odd:?}");
        }
        assert_eq!(read(&[b"1.1", b"1.1"]), Err("duplicated".to_owned()));
    }
}
