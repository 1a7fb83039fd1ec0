//! The server that transcribes: one elsewhere, or a service of this command's own.

use std::{fs, num::NonZeroUsize, path::Path, time::Duration};

use akhar_client::{Client, ClientError, Retries};
use akhar_inference::Registry;
use akhar_platform::{config::Config, database::PrivatePostgres, http_client};
use secrecy::{ExposeSecret as _, SecretString};

use super::{pace::Pace, settings::Settings};
use crate::{failure::Failure, serve::Embedded};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long a connection may transfer nothing. Longer than the server holds the response to a request that waits.
const READ_LIMIT: Duration = Duration::from_secs(90);
/// How long the first request is repeated.
const CHECK_LIMIT: Duration = Duration::from_secs(10);
/// How long other requests are repeated. A server that cannot be reached for so long ends the run.
const RETRY_LIMIT: Duration = Duration::from_secs(5 * 60);

/// A server elsewhere.
#[derive(Debug)]
pub(super) struct Elsewhere {
    base: String,
    key: SecretString,
}

impl Elsewhere {
    /// The server at `url`.
    pub(super) fn new(url: &str, key: Option<SecretString>) -> Result<Self, Failure> {
        check(url)?;
        let key = key.ok_or_else(|| {
            fail(format!("there is no API key for {url}: set AKHAR_KEY, or name its file with --key-file"))
        })?;
        Ok(Self { base: url.trim_end_matches('/').to_owned(), key })
    }
}

/// A server that answers.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) client: Client,
    /// The address, for messages.
    pub(super) base: String,
}

impl Server {
    /// Connects to a server elsewhere. The `pace` gets its refusals.
    pub(super) async fn connect(Elsewhere { base, key }: Elsewhere, pace: &Pace) -> Result<Self, Failure> {
        Self::open(&http(false)?, base, key, pace).await
    }

    /// Waits until this command's own service is ready, and connects to it.
    pub(super) async fn connect_here(
        service: &mut Embedded,
        key: Option<SecretString>,
        pace: &Pace,
    ) -> Result<Self, Failure> {
        let (base, demo_key) = service.ready().await?;
        let key = key.or_else(|| demo_key.map(SecretString::from)).ok_or_else(|| {
            fail("the database has API keys: set AKHAR_KEY to one of them, or name its file with --key-file")
        })?;
        Self::open(&http(true)?, base, key, pace).await
    }

    /// Checks that the server accepts the key.
    async fn open(
        http: &reqwest::Client,
        base: String,
        key: SecretString,
        pace: &Pace,
    ) -> Result<Self, Failure> {
        let client = Client::new(http.clone(), &base, key);
        match client.clone().retrying(Retries::within(CHECK_LIMIT)).jobs(1).await {
            Ok(_) => Ok(Self { client: client.retrying(retries(RETRY_LIMIT, pace)), base }),
            Err(error) => Err(failure(&base, &error)),
        }
    }
}

/// Checks that this machine has what a service of this command's own needs: ONNX Runtime, the models and Postgres. Returns how
/// many copies of the speech models it can run.
pub(super) fn check_installation(config: &Config, settings: &Settings) -> Result<NonZeroUsize, Failure> {
    akhar_worker::runtime(config)?;
    let registry = Registry::open(&config.models_dir)?;
    let translation = settings.translates().then_some("translation");
    for operation in ["speech-recognition"].into_iter().chain(translation) {
        for lang in settings.lang().codes() {
            registry.serving(operation, Some(lang))?;
        }
    }
    if config.database_url.is_none() {
        PrivatePostgres::programs(config.postgres_bin.as_deref())?;
    }
    Ok(akhar_worker::speech_copies(&registry)?)
}

/// Refuses what is not an address of a server.
fn check(url: &str) -> Result<(), Failure> {
    let parsed = reqwest::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let text =
        || fail(format!("--url or AKHAR_URL is {url:?}, expected an address such as https://akhar.example"));
    parsed.map(drop).ok_or_else(text)
}

/// Why a run cannot go on with the server at `base`.
pub(super) fn failure(base: &str, error: &ClientError) -> Failure {
    match error {
        ClientError::Problem { problem, .. } => {
            fail(format!("the server at {base} refuses requests ({}): {}", problem.status, problem.detail))
        }
        ClientError::Http(error) => fail(format!("cannot reach the server at {base}: {}", causes(error))),
        ClientError::Json(error) => fail(format!("{base} does not answer like an Akhar server: {error}")),
    }
}

/// An error with its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let all = std::iter::successors(Some(error), |error| error.source());
    all.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// The key in a file.
pub(super) fn key_in(file: &Path) -> Result<SecretString, Failure> {
    let text = fs::read_to_string(file);
    let text = text.map_err(Failure::io(format!("cannot read the API key in {}", file.display())))?;
    match text.trim() {
        "" => Err(fail(format!("{} is empty, expected an API key", file.display()))),
        key => Ok(key.into()),
    }
}

/// An empty key counts as not set, because a settings file may have an empty value.
pub(super) fn key_of(config: &Config) -> Option<SecretString> {
    config.key.clone().filter(|key| !key.expose_secret().trim().is_empty())
}

fn retries(limit: Duration, pace: &Pace) -> Retries {
    let pace = pace.clone();
    Retries::within(limit).on_error(move |error| {
        tracing::debug!(%error, "repeating a request");
        if matches!(error.status(), Some(429 | 503)) {
            pace.refused();
        }
    })
}

fn http(is_here: bool) -> Result<reqwest::Client, Failure> {
    let cannot = |error: &dyn std::fmt::Display| fail(format!("cannot set up TLS: {error}"));
    let client = http_client::builder()
        .map_err(|error| cannot(&error))?
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(READ_LIMIT);
    let client = if is_here { client.no_proxy() } else { client };
    client.build().map_err(|error| cannot(&error))
}

fn fail(text: impl Into<String>) -> Failure {
    Failure::Command(text.into())
}
