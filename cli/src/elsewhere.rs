//! A server elsewhere: its address, the key for it, and why it cannot be used.

use std::{path::Path, time::Duration};

use akhar_client::ClientError;
use akhar_platform::{
    config::Config,
    http_client::{self, Limits},
    text,
};
use secrecy::{ExposeSecret as _, SecretString};

use crate::failure::Failure;

/// The limits of requests to the server. It holds the response to a request that waits for less than the second one.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(10),
    stall: Duration::from_secs(90),
    whole: Some(Duration::from_secs(600)),
};

/// A server elsewhere.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) base: String,
    pub(crate) key: SecretString,
}

impl Elsewhere {
    /// The server at `url`, or else at that of the configuration. `None` if neither names one.
    pub(crate) fn named(
        config: &Config,
        url: Option<&str>,
        key: Option<&SecretString>,
    ) -> Result<Option<Self>, Failure> {
        let Some(url) = url.or(config.url.as_deref()).filter(|url| !url.is_empty()) else { return Ok(None) };
        check(url)?;
        let key = key.cloned().ok_or_else(|| {
            fail(format!("there is no API key for {url}: set AKHAR_KEY, or name its file with --key-file"))
        })?;
        Ok(Some(Self { base: url.trim_end_matches('/').to_owned(), key }))
    }
}

/// The key in a file, or else that of the configuration.
pub(crate) fn key(config: &Config, file: Option<&Path>) -> Result<Option<SecretString>, Failure> {
    Ok(file.map(key_in).transpose()?.or_else(|| key_of(config)))
}

/// Refuses what is not an address of a server.
fn check(url: &str) -> Result<(), Failure> {
    let parsed = reqwest::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let text = || {
        fail(format!(
            "the address of the server is {url:?}, expected an address such as https://akhar.example"
        ))
    };
    parsed.map(drop).ok_or_else(text)
}

/// Why a run cannot go on with the server at `base`.
pub(crate) fn failure(base: &str, error: &ClientError) -> Failure {
    match error {
        ClientError::Problem { problem, .. } => {
            let reason = problem.errors.first().map_or(&problem.detail, |first| &first.detail);
            fail(format!("the server at {base} refuses requests ({}): {reason}", problem.status))
        }
        ClientError::Http { error, .. } => {
            fail(format!("cannot reach the server at {base}: {}", causes(error)))
        }
        ClientError::Json(_) | ClientError::TooLarge { .. } => {
            fail(format!("{base} does not answer like an Akhar server: {error}"))
        }
    }
}

/// An error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The key in a file.
fn key_in(file: &Path) -> Result<SecretString, Failure> {
    let text = text::read(file);
    let text = text.map_err(Failure::io(format!("cannot read the API key in {}", file.display())))?;
    match text.trim() {
        "" => Err(fail(format!("{} is empty, expected an API key", file.display()))),
        key => Ok(key.into()),
    }
}

/// An empty key counts as not set, because a settings file may have an empty value.
fn key_of(config: &Config) -> Option<SecretString> {
    config.key.clone().filter(|key| !key.expose_secret().trim().is_empty())
}

/// A client for a server elsewhere, or for one of this process.
pub(crate) fn http(is_here: bool) -> Result<reqwest::Client, Failure> {
    let cannot = |error: &dyn std::fmt::Display| fail(format!("cannot set up TLS: {error}"));
    let client = http_client::builder(LIMITS).map_err(|error| cannot(&error))?;
    let client = if is_here { client.no_proxy() } else { client };
    client.build().map_err(|error| cannot(&error))
}

fn fail(text: impl Into<String>) -> Failure {
    Failure::Command(text.into())
}
