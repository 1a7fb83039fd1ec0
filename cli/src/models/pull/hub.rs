//! Requests files from a model hub that has the interface of huggingface.co.
//!
//! For a large file the hub sends a redirect to the host that stores it, and that redirect has the file's SHA-256 in
//! a header. Redirects are followed here rather than by the HTTP client, to read that header and to send the token to
//! the hub only.

use std::time::Duration;

use akhar_inference::catalogue::{Entry, Part};
use akhar_platform::http_client::{self, Limits, cause};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT_ENCODING, HeaderMap, IF_RANGE, LOCATION, RANGE},
    redirect::Policy,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::error::HubError;

/// The most redirects that are followed for one file.
const MAX_HOPS: usize = 10;
/// A connection that transfers nothing for so long counts as lost.
const LIMITS: Limits =
    Limits { connect: Duration::from_secs(10), stall: Duration::from_secs(30), whole: None };

pub(super) struct Hub {
    client: Client,
    base: Url,
    token: Option<SecretString>,
}

/// A response with status 200, 206 or 416.
pub(super) struct Answer {
    pub(super) response: Response,
    /// The SHA-256 of the whole file, if the hub sent it.
    pub(super) sha256: Option<String>,
}

impl Hub {
    /// The hub that huggingface.co's own tools would use: at `HF_ENDPOINT`, with the token `HF_TOKEN`, which is sent to no other
    /// host.
    pub(super) fn from_environment() -> Result<Self, HubError> {
        // An empty one counts as not set, because a settings file may have an empty value.
        let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let address = variable("HF_ENDPOINT");
        Self::new(
            address.as_deref().unwrap_or("https://huggingface.co"),
            variable("HF_TOKEN").map(SecretString::from),
        )
    }

    fn new(address: &str, token: Option<SecretString>) -> Result<Self, HubError> {
        let base = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = base.ok_or_else(|| HubError::Address(address.to_owned()))?;
        let client = http_client::builder(LIMITS)
            .map_err(|error| HubError::Tls(error.to_string()))?
            .redirect(Policy::none())
            .build()
            .map_err(|error| HubError::Tls(cause(&error)))?;
        Ok(Self { client, base, token })
    }

    /// The web page of a model.
    pub(super) fn page(&self, entry: &Entry) -> Url {
        self.url(entry.repo.split('/'))
    }

    /// Requests a file: the whole file, or its bytes from `rest.0` on if the file still has the `ETag` in `rest.1`.
    pub(super) async fn get(
        &self,
        entry: &Entry,
        part: &Part,
        rest: Option<(u64, &str)>,
    ) -> Result<Answer, HubError> {
        let names = [entry.repo.as_str(), "resolve", &entry.revision, &part.path];
        let mut url = self.url(names.into_iter().flat_map(|name| name.split('/')));
        let mut sha256 = None;
        for _ in 0..MAX_HOPS {
            let at_hub = url.origin() == self.base.origin();
            let mut request = self.client.get(url.clone()).header(ACCEPT_ENCODING, "identity");
            if let Some(token) = self.token.as_ref().filter(|_| at_hub) {
                request = request.bearer_auth(token.expose_secret());
            }
            if let Some((from, etag)) = rest {
                request = request.header(RANGE, format!("bytes={from}-")).header(IF_RANGE, etag);
            }
            let response = request.send().await.map_err(|error| HubError::Unreachable {
                origin: url.origin().ascii_serialization(),
                cause: cause(&error),
            })?;
            if at_hub && sha256.is_none() {
                sha256 = linked_sha256(response.headers());
            }
            match text(response.headers(), LOCATION.as_str()).filter(|_| response.status().is_redirection()) {
                Some(to) => url = follow(&url, to)?,
                None => return self.check_status(entry, response, sha256),
            }
        }
        Err(HubError::Redirect { url: url.into(), to: format!("again after {MAX_HOPS} redirects") })
    }

    fn check_status(
        &self,
        entry: &Entry,
        response: Response,
        sha256: Option<String>,
    ) -> Result<Answer, HubError> {
        // The query of a redirect's target may contain a signature, which is a secret, so it is not shown.
        let mut shown = response.url().clone();
        shown.set_query(None);
        let url = shown.to_string();
        let status = response.status();
        match status {
            StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                Ok(Answer { response, sha256 })
            }
            StatusCode::NOT_FOUND => Err(HubError::NotFound { url }),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let message = text(response.headers(), "x-error-message");
                let message = message
                    .map(|text| format!(" and said: {:?}", text.trim_end_matches('.')))
                    .unwrap_or_default();
                let token_note =
                    if self.token.is_some() { "; the token that is set may not read it" } else { "" };
                Err(HubError::Refused { url, status, message, page: self.page(entry).into(), token_note })
            }
            _ => Err(HubError::Status { url, status }),
        }
    }

    fn url<'a>(&self, names: impl Iterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(names);
        }
        url
    }
}

fn follow(url: &Url, to: &str) -> Result<Url, HubError> {
    let next = url.join(to).ok().filter(|next| match next.scheme() {
        "https" => true,
        "http" => url.scheme() == "http",
        _ => false,
    });
    next.ok_or_else(|| HubError::Redirect { url: url.to_string(), to: format!("to {to:?}") })
}

/// The value of a header, if it is text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The file's SHA-256 from the hub's headers. The tag of a small file is another hash, which is ignored.
fn linked_sha256(headers: &HeaderMap) -> Option<String> {
    let etag = text(headers, "x-linked-etag")?.trim_start_matches("W/").trim_matches('"');
    let is_sha256 = etag.len() == 64 && etag.chars().all(|c| c.is_ascii_hexdigit());
    is_sha256.then(|| etag.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_from_https_to_http_is_refused() {
        let at = |url: &str, to: &str| follow(&Url::parse(url).unwrap(), to).map(String::from);
        assert_eq!(at("https://hub/a/b", "/c?d").unwrap(), "https://hub/c?d");
        assert_eq!(at("http://hub/a", "http://store/b").unwrap(), "http://store/b");
        assert_eq!(at("http://hub/a", "https://store/b").unwrap(), "https://store/b");
        for to in ["http://store/b", "file:///etc/passwd", "https://"] {
            let error = at("https://hub/a", to).unwrap_err().to_string();
            assert!(error.contains(to) && error.contains("expected an https address"), "{error}");
        }
    }

    #[test]
    fn the_address_of_a_file_starts_with_the_address_of_the_hub() {
        let hub = Hub::new("https://mirror.example/models/", None).unwrap();
        assert!(hub.token.is_none(), "an empty token is not set");
        let url = hub.url(["o/m", "resolve", "main", "a b/#.onnx"].into_iter().flat_map(|n| n.split('/')));
        assert_eq!(url.as_str(), "https://mirror.example/models/o/m/resolve/main/a%20b/%23.onnx");
        for address in ["huggingface.co", "ftp://hub", ""] {
            assert!(matches!(Hub::new(address, None), Err(HubError::Address(_))), "{address}");
        }
    }

    #[test]
    fn a_tag_that_is_not_a_sha256_is_ignored() {
        let linked = |etag: &str| {
            let header = [("x-linked-etag", etag)].map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap()));
            linked_sha256(&HeaderMap::from_iter(header))
        };
        assert_eq!(linked(&format!("\"{}\"", "A".repeat(64))), Some("a".repeat(64)));
        assert_eq!(linked(&format!("\"{}\"", "a".repeat(40))), None);
        assert_eq!(linked("\"\""), None);
    }
}
