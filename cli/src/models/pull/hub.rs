//! The hub: a file's name and what is there of it come in; the answer that holds the rest comes out.
//!
//! The hub answers for large files with a redirect to wherever they are stored, and says their SHA-256 in
//! that redirect; so redirects are followed here, by hand. The token goes to the hub and to no other host.

use std::{sync::Arc, time::Duration};

use akhar_inference::catalogue::{Entry, Part};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{ACCEPT_ENCODING, HeaderMap, IF_RANGE, LOCATION, RANGE},
    redirect::Policy,
};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use secrecy::{ExposeSecret as _, SecretString};

use super::error::{HubError, cause};

/// Redirects followed for one file.
const MAX_HOPS: usize = 10;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Silence after which a connection counts as broken.
const SILENCE_LIMIT: Duration = Duration::from_secs(30);

pub(super) struct Hub {
    client: Client,
    base: Url,
    token: Option<SecretString>,
}

/// An answer of 200, 206 or 416.
pub(super) struct Answer {
    pub(super) response: Response,
    /// What the hub says the whole file's SHA-256 is.
    pub(super) sha256: Option<String>,
}

impl Hub {
    pub(super) fn new(address: &str, token: Option<SecretString>) -> Result<Self, HubError> {
        let base = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let base = base.ok_or_else(|| HubError::Address(address.to_owned()))?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls()?)
            .redirect(Policy::none())
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(SILENCE_LIMIT)
            .user_agent(concat!("akhar/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| HubError::Tls(cause(&error)))?;
        // Set to nothing, as a file of settings may have it, is not set.
        let token = token.filter(|token| !token.expose_secret().is_empty());
        Ok(Self { client, base, token })
    }

    /// Where a model can be looked at.
    pub(super) fn page(&self, entry: &Entry) -> Url {
        self.url(entry.repo.split('/'))
    }

    /// Asks for a file: all of it, or from a byte on as long as it is still the file that had this `ETag`.
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
                None => return self.judge(entry, response, sha256),
            }
        }
        Err(HubError::Redirect { url: url.into(), to: format!("on after {MAX_HOPS} redirects") })
    }

    fn judge(&self, entry: &Entry, response: Response, sha256: Option<String>) -> Result<Answer, HubError> {
        // A redirect's target may carry a signature: it is nobody's business.
        let mut shown = response.url().clone();
        shown.set_query(None);
        let (url, status) = (shown.to_string(), response.status());
        match status {
            StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                Ok(Answer { response, sha256 })
            }
            StatusCode::NOT_FOUND => Err(HubError::NotThere { url }),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let said = text(response.headers(), "x-error-message");
                let said =
                    said.map(|said| format!(", \"{}\"", said.trim_end_matches('.'))).unwrap_or_default();
                let seen = if self.token.is_some() { "; the one that is set may not" } else { "" };
                Err(HubError::Refused { url, status, said, page: self.page(entry).into(), seen })
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

/// Certificates of the system, where it has any, beside those of the usual authorities.
fn tls() -> Result<ClientConfig, HubError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|e| HubError::Tls(e.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

fn follow(url: &Url, to: &str) -> Result<Url, HubError> {
    let next = url.join(to).ok().filter(|next| match next.scheme() {
        "https" => true,
        "http" => url.scheme() == "http",
        _ => false,
    });
    next.ok_or_else(|| HubError::Redirect { url: url.to_string(), to: format!("to {to:?}") })
}

/// A header's text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Large files are named by their SHA-256; small ones by another hash, which says nothing here.
fn linked_sha256(headers: &HeaderMap) -> Option<String> {
    let etag = text(headers, "x-linked-etag")?.trim_start_matches("W/").trim_matches('"');
    let is_sha256 = etag.len() == 64 && etag.chars().all(|c| c.is_ascii_hexdigit());
    is_sha256.then(|| etag.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_followed_but_not_away_from_https() {
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
    fn a_files_address_is_below_the_hubs() {
        let hub = Hub::new("https://mirror.example/models/", Some(String::new().into())).unwrap();
        assert!(hub.token.is_none(), "set to nothing");
        let url = hub.url(["o/m", "resolve", "main", "a b/#.onnx"].into_iter().flat_map(|n| n.split('/')));
        assert_eq!(url.as_str(), "https://mirror.example/models/o/m/resolve/main/a%20b/%23.onnx");
        for address in ["huggingface.co", "ftp://hub", ""] {
            assert!(matches!(Hub::new(address, None), Err(HubError::Address(_))), "{address}");
        }
    }

    #[test]
    fn only_a_sha256_is_taken_for_one() {
        let linked = |etag: &str| {
            let header = [("x-linked-etag", etag)].map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap()));
            linked_sha256(&HeaderMap::from_iter(header))
        };
        assert_eq!(linked(&format!("\"{}\"", "A".repeat(64))), Some("a".repeat(64)));
        assert_eq!(linked(&format!("\"{}\"", "a".repeat(40))), None);
        assert_eq!(linked("\"\""), None);
    }
}
