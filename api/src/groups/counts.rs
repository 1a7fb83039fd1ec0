//! The ids of a group's events, which are its counts, and the header with which a client names the last one that it has received.

use akhar_jobs::store::Group;
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
    pattern: Some(r"^[0-9]{1,18}(\.[0-9]{1,18}){4}$"),
    ..Header::new(
        "Last-Event-ID",
        "The id of the last event that you have received. The stream begins when the group has other counts. If these are those\n\
         of a group that has ended, and still has them, the response is 204.",
    )
};

/// The numbers of queued, running, succeeded, failed and cancelled jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts([i64; 5]);

impl Counts {
    /// Reads the header. `None` if there is none.
    pub(super) fn read(headers: &HeaderMap) -> Result<Option<Self>, Violation> {
        let Some(value) = HEADER.read(headers)? else { return Ok(None) };
        let parsed = value.to_str().ok().and_then(Self::parse);
        parsed.map(Some).ok_or_else(|| Self::not_an_event(&String::from_utf8_lossy(value.as_bytes())))
    }

    /// The violation of a value that is not the id of an event.
    pub(super) fn not_an_event(sent: &str) -> Violation {
        let expected = "expected the id of an event of this group, such as \"9120.4.873.3.0\"";
        HEADER.violation(Code::NotAnEvent, format!("is {}, {expected}", quoted(sent)))
    }

    fn parse(text: &str) -> Option<Self> {
        let count = |digits: &str| -> Option<i64> {
            let is_count = (1..=18).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
            is_count.then(|| digits.parse().ok())?
        };
        let counts: Option<Vec<i64>> = text.split('.').map(count).collect();
        Some(Self(counts?.try_into().ok()?))
    }
}

impl From<&Group> for Counts {
    fn from(group: &Group) -> Self {
        Self([group.n_queued, group.n_running, group.n_succeeded, group.n_failed, group.n_cancelled])
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self([queued, running, succeeded, failed, cancelled]) = self;
        write!(f, "{queued}.{running}.{succeeded}.{failed}.{cancelled}")
    }
}

impl IntoParams for Counts {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![HEADER.parameter()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &[u8]) -> Result<Option<Counts>, String> {
        let headers = HeaderMap::from_iter([(HEADER.name.try_into().unwrap(), value.try_into().unwrap())]);
        Counts::read(&headers).map_err(|violation| violation.code)
    }

    #[test]
    fn an_id_is_read_as_it_was_written() {
        let counts = Counts([9120, 4, 873, 3, 0]);
        assert_eq!(read(counts.to_string().as_bytes()), Ok(Some(counts)));
        assert_eq!(Counts::read(&HeaderMap::new()), Ok(None));
        assert_eq!(read(b""), Ok(None));
    }

    #[test]
    fn any_other_value_is_a_violation() {
        for odd in [&b"x"[..], b"end", b"1.2.3.4", b"1.2.3.4.5.6", b"1.2.3.4.", b"1.2.3.4.-5", b"1.2.3.4.+5"]
        {
            assert_eq!(read(odd), Err("not_an_event".to_owned()), "{odd:?}");
        }
        assert_eq!(read(b"1.2.3.4.9999999999999999999"), Err("not_an_event".to_owned()));
    }
}
