//! The search for jobs, as it is in the query of a page.

use akhar_jobs::{JobId, JobState, Queue};
use akhar_operators::{
    JobSearch, KeyError,
    search::{AccountName, PageStart, Term, Text},
};
use akhar_platform::database::Pool;
use axum::{extract::Query, http::Uri};
use serde::Deserialize;
use uuid::Uuid;

use super::failure::Failure;

/// What the text of a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum By {
    /// The id of a job.
    #[default]
    Job,
    /// The id of a request.
    Request,
    /// The prefix of a key, or the id of an account.
    Account,
    /// The whole error.
    Error,
}

impl By {
    /// Every kind, in the order of the form.
    pub(super) const ALL: [Self; 4] = [Self::Job, Self::Request, Self::Account, Self::Error];

    /// The value in the query.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Job => "job",
            Self::Request => "request",
            Self::Account => "account",
            Self::Error => "error",
        }
    }
}

/// A search.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct SearchQuery {
    state: String,
    queue: String,
    /// What `q` is.
    pub(super) by: By,
    /// The text to search for.
    pub(super) q: String,
    from: String,
}

impl SearchQuery {
    /// The search of a page with this path. `None` if it has no valid one.
    pub(super) fn of_page(path: &str) -> Option<Self> {
        Query::try_from_uri(&path.parse::<Uri>().ok()?).ok().map(|Query(query)| query)
    }

    /// The state that is searched for.
    pub(super) fn state(&self) -> Option<JobState> {
        Term::parse(&self.state).ok()
    }

    /// The queue that is searched.
    pub(super) fn queue(&self) -> Option<Queue> {
        Term::parse(&self.queue).ok()
    }

    /// Where the page begins.
    pub(super) fn start(&self) -> Option<PageStart> {
        PageStart::parse(&self.from)
    }

    /// The search. `None` if no job can have what is searched for.
    pub(super) async fn resolve(&self, db: &Pool) -> Result<Option<JobSearch>, Failure> {
        let mut search = JobSearch { state: self.state(), queue: self.queue(), ..JobSearch::default() };
        let text = self.q.trim();
        if text.is_empty() {
            return Ok(Some(search));
        }
        match self.by {
            By::Job => match Uuid::try_parse(text) {
                Ok(id) => search.ids = Some(vec![JobId(id)]),
                Err(_) => return Ok(None),
            },
            By::Request => search.request_id = Some(Text(text.to_owned())),
            By::Error => {
                search.error = Some(Text(text.to_owned()));
                search.state = search.state.or(Some(JobState::Failed));
            }
            By::Account => search.account = Some(AccountName::new(text.to_owned())),
        }
        match search.resolve(db).await {
            Ok(search) => Ok(Some(search)),
            Err(KeyError::Database(cause)) => Err(cause.into()),
            Err(_) => Ok(None),
        }
    }

    /// The path of the page with this search, in any state if `state` is `None`.
    pub(super) fn path(&self, state: Option<JobState>, from: Option<PageStart>) -> String {
        let from = from.map(PageStart::text).unwrap_or_default();
        let by = if self.q.is_empty() { "" } else { self.by.name() };
        let parameters = [
            ("state", state.map_or("", JobState::name)),
            ("queue", self.queue.as_str()),
            ("by", by),
            ("q", self.q.as_str()),
            ("from", from.as_str()),
        ];
        let given = parameters.into_iter().filter(|(_, value)| !value.is_empty());
        let query: Vec<String> = given.map(|(name, value)| format!("{name}={}", escaped(value))).collect();
        if query.is_empty() { "/ops/jobs".to_owned() } else { format!("/ops/jobs?{}", query.join("&")) }
    }
}

/// A value of a query.
pub(super) fn escaped(value: &str) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use akhar_requests::QUICK;

    #[test]
    fn a_search_is_in_the_path_of_its_page() {
        let page = "/ops/jobs?state=failed&queue=quick&by=error&q=a%20%26%20b&from=50";
        let query = SearchQuery::of_page(page).unwrap();
        assert_eq!((query.state(), query.queue()), (Some(JobState::Failed), Some(QUICK)));
        assert_eq!(query.start(), Some(PageStart::Nth(50)));
        assert_eq!(query.path(query.state(), query.start()), page);
        assert_eq!(SearchQuery::default().path(None, None), "/ops/jobs");
    }
}
