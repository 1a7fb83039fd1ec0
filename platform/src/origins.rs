//! A setting that lists the origins of web pages.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::Url;

/// The origin of a web page, written as browsers do: `https://app.example`, `http://localhost:5173`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(String);

impl Origin {
    /// The origin as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the origin of a web page, expected origins such as https://app.example, separated by commas"
)]
pub struct NotAnOrigin(String);

impl FromStr for Origin {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // A path, a user or an upper-case host is not part of what browsers send.
        let origin = url.map(|url| url.origin().ascii_serialization()).filter(|origin| origin == text);
        origin.map(Self).ok_or_else(|| NotAnOrigin(text.to_owned()))
    }
}

/// Origins, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origins(pub Vec<Origin>);

impl TryFrom<String> for Origins {
    type Error = NotAnOrigin;

    fn try_from(text: String) -> Result<Self, NotAnOrigin> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Origins> for String {
    fn from(origins: Origins) -> Self {
        origins.to_string()
    }
}

impl fmt::Display for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<&str> = self.0.iter().map(Origin::as_str).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_written_as_browsers_do() {
        let read = |text: &str| Origins::try_from(text.to_owned());
        let origins = read("https://app.example,http://localhost:5173 , http://[::1]:8080,").unwrap();
        assert_eq!(origins.to_string(), "https://app.example, http://localhost:5173, http://[::1]:8080");
        assert_eq!(read("").unwrap(), Origins::default());
        for wrong in [
            "*",
            "null",
            "app.example",
            "https://app.example/",
            "https://App.example",
            "https://app.example:443",
            "https://u@app.example",
            "ftp://app.example",
            "file:///",
        ] {
            assert_eq!(read(&format!("http://a, {wrong}")), Err(NotAnOrigin(wrong.to_owned())), "{wrong}");
        }
    }
}
