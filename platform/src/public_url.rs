//! A setting: the URL at which clients reach the API.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

/// The URL at which clients reach the API through a proxy, such as `https://example.org/akhar`, without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicUrl {
    text: String,
    /// Where its path begins.
    path_at: usize,
}

impl PublicUrl {
    /// The URL as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its path, such as `/akhar`. Empty if the API has a host of its own.
    pub fn path(&self) -> &str {
        &self.text[self.path_at..]
    }
}

/// A text is not the URL of an API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the URL of a server, expected one such as https://example.org/akhar, with plain letters, digits and any of \
     -._~/ in its path"
)]
pub struct NotAPublicUrl(String);

impl TryFrom<String> for PublicUrl {
    type Error = NotAPublicUrl;

    /// Percent-encoded paths are refused: proxies differ in what they make of them.
    fn try_from(text: String) -> Result<Self, NotAPublicUrl> {
        let url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let read = url.and_then(|url| {
            let origin = url.origin().ascii_serialization();
            let path = url.path().trim_end_matches('/');
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
            // A user, a query or a fragment is not part of it.
            let is_whole = text.trim_end_matches('/') == format!("{origin}{path}");
            (is_whole && !path.contains("//") && path.bytes().all(is_plain))
                .then(|| Self { path_at: origin.len(), text: origin + path })
        });
        read.ok_or(NotAPublicUrl(text))
    }
}

impl From<PublicUrl> for String {
    fn from(url: PublicUrl) -> Self {
        url.text
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_has_a_path_or_none() {
        let read = |text: &str| PublicUrl::try_from(text.to_owned());
        for (text, path) in [
            ("https://example.org/akhar", "/akhar"),
            ("https://example.org/akhar/", "/akhar"),
            ("http://127.0.0.1:8080/a/b-c/", "/a/b-c"),
            ("https://akhar.example.org", ""),
            ("https://akhar.example.org/", ""),
        ] {
            let url = read(text).unwrap();
            assert_eq!((url.path(), url.as_str()), (path, text.trim_end_matches('/')), "{text}");
        }
        for wrong in [
            "",
            "/akhar",
            "akhar.example.org/akhar",
            "ftp://example.org/akhar",
            "https://example.org/akhar?a=b",
            "https://example.org/akhar#a",
            "https://example.org/akhar//b",
            "https://example.org/a/../b",
            "https://example.org/a%20b",
            "https://example.org/ਅ",
            "https://example.org/\"a",
            "https://user@example.org/akhar",
        ] {
            assert_eq!(read(wrong), Err(NotAPublicUrl(wrong.to_owned())), "{wrong}");
        }
    }
}
