//! Fetches the recording of a job from the URL that its caller gave, only from addresses that requests may be sent to.

use std::{sync::Arc, time::Duration};

use akhar_accounts::{CallerUrl, UrlRules};
use akhar_jobs::{MediaType, Outcome, RecordingUrl, Upload, sniff};
use akhar_platform::{
    checked_client::{CheckedClients, is_not_allowed},
    http_client::cause,
};
use reqwest::{Response, StatusCode, Url, header::LOCATION};
use tokio::time::timeout;

/// The time for one attempt, with all redirects.
const LIMIT: Duration = Duration::from_secs(300);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long the server may send nothing.
const STALL_LIMIT: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 5;

/// The most bytes of a file of another type that its error shows.
const MAX_START: usize = 16;

/// Fetches recordings.
#[derive(Debug)]
pub(crate) struct Downloads {
    rules: Arc<UrlRules>,
    clients: CheckedClients,
}

/// Why a recording cannot be fetched. The texts have no query of a URL, which can be a secret.
#[derive(Debug)]
pub(super) enum DownloadError {
    /// Only the caller can correct it.
    Refused { code: &'static str, detail: String },
    /// It may pass.
    Unavailable(String),
}

impl From<DownloadError> for Outcome {
    fn from(error: DownloadError) -> Self {
        match error {
            DownloadError::Refused { code, detail } => Self::rejected("url", code, detail),
            DownloadError::Unavailable(detail) => Self::rejected("url", "not_fetched", detail),
        }
    }
}

/// The outcome of a recording that was fetched: what is wrong with the file is wrong with what the URL names.
pub(super) fn of_url(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Rejected { code, detail, .. } => Outcome::rejected("url", &code, detail),
        other => other,
    }
}

fn refused(code: &'static str, detail: String) -> DownloadError {
    DownloadError::Refused { code, detail }
}

impl Downloads {
    pub(crate) fn new(rules: UrlRules) -> Self {
        let rules = Arc::new(rules);
        let allow = {
            let rules = rules.clone();
            move |address, has_tls| rules.allow(address, has_tls)
        };
        let clients = CheckedClients::new(allow, |builder| {
            builder.connect_timeout(CONNECT_LIMIT).read_timeout(STALL_LIMIT)
        });
        Self { rules, clients }
    }

    /// Fetches a recording of at most `max_bytes`. `received` is called for each part that arrives.
    pub(super) async fn fetch(
        &self,
        url: &RecordingUrl,
        max_bytes: usize,
        received: impl Fn(),
    ) -> Result<Upload, DownloadError> {
        let url = self.rules.parse(url.as_str());
        let url = url.map_err(|error| refused("not_allowed", format!("url {error}")))?;
        let first = url.clone();
        let bytes = timeout(LIMIT, self.read(url, max_bytes, received)).await.map_err(|_| {
            DownloadError::Unavailable(failed(&first, &format!("it took longer than {} s", LIMIT.as_secs())))
        })??;
        let first = first.without_query();
        if bytes.is_empty() {
            return Err(refused("empty", format!("url {first} gave an empty file")));
        }
        let Some(media_type) =
            sniff::media_type(&bytes).filter(|found| MediaType::RECORDINGS.contains(found))
        else {
            let start = bytes[..bytes.len().min(MAX_START)].escape_ascii();
            let expected = MediaType::formats(MediaType::RECORDINGS);
            let detail = format!("url {first} gave a file that begins with \"{start}\", expected {expected}");
            return Err(refused("unsupported_media_type", detail));
        };
        Ok(Upload { media_type, bytes: bytes.into() })
    }

    async fn read(
        &self,
        url: CallerUrl,
        max_bytes: usize,
        received: impl Fn(),
    ) -> Result<Vec<u8>, DownloadError> {
        let (url, mut response) = self.follow(url).await?;
        let too_large = || {
            let shown = url.without_query();
            refused("too_large", format!("url {shown} gave a file that is larger than {max_bytes} bytes"))
        };
        let announced = response.content_length().map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        if announced.is_some_and(|n| n > max_bytes) {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(announced.unwrap_or(0));
        while let Some(part) = response.chunk().await.map_err(|error| unavailable(&url, error))? {
            if part.len() > max_bytes - bytes.len() {
                return Err(too_large());
            }
            bytes.extend_from_slice(&part);
            received();
        }
        Ok(bytes)
    }

    /// The first response that is no redirect, with its URL. Each URL is checked.
    async fn follow(&self, mut url: CallerUrl) -> Result<(CallerUrl, Response), DownloadError> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.get(&url).await?;
            let status = response.status();
            let location = response.headers().get(LOCATION).filter(|_| status.is_redirection());
            let Some(location) = location else {
                check(&url, status)?;
                return Ok((url, response));
            };
            let next = url.redirected(&String::from_utf8_lossy(location.as_bytes()), &self.rules);
            url = next.map_err(|error| {
                let shown = url.without_query();
                refused("not_allowed", format!("url {shown} redirects to a URL that {error}"))
            })?;
        }
        let reason = format!("there are more than {MAX_REDIRECTS} redirects");
        Err(refused("not_fetched", failed(&url, &reason)))
    }

    async fn get(&self, url: &CallerUrl) -> Result<Response, DownloadError> {
        let target = Url::from(url.clone());
        let client = self.clients.of(&target).await;
        let client = client.map_err(|error| DownloadError::Unavailable(failed(url, &error)))?;
        client.get(target).send().await.map_err(|error| unavailable(url, error))
    }
}

fn failed(url: &CallerUrl, reason: &str) -> String {
    format!("url {} cannot be fetched: {reason}", url.without_query())
}

fn unavailable(url: &CallerUrl, error: reqwest::Error) -> DownloadError {
    let error = error.without_url();
    if is_not_allowed(&error) {
        return refused("not_allowed", failed(url, &cause(&error)));
    }
    let stalled = || format!("the server sent nothing for {} s", STALL_LIMIT.as_secs());
    DownloadError::Unavailable(failed(url, &if error.is_timeout() { stalled() } else { cause(&error) }))
}

/// Checks the status of a response that is no redirect.
fn check(url: &CallerUrl, status: StatusCode) -> Result<(), DownloadError> {
    let detail = || failed(url, &format!("the server answered {status}"));
    match status {
        StatusCode::OK => Ok(()),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS => {
            Err(DownloadError::Unavailable(detail()))
        }
        status if status.is_server_error() => Err(DownloadError::Unavailable(detail())),
        _ => Err(refused("not_fetched", detail())),
    }
}
