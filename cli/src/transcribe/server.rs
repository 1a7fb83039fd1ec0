//! The server that transcribes: one elsewhere, or a service of this command's own.

use std::{num::NonZeroUsize, time::Duration};

use akhar_client::{Client, Retries};
use akhar_inference::Registry;
use akhar_platform::{config::Config, database::PrivatePostgres};
use akhar_requests::Operation;
use secrecy::SecretString;

use super::{pace::Pace, settings::Settings};
use crate::{
    elsewhere::{self, Elsewhere},
    failure::Failure,
    serve::Embedded,
};

/// How long the first request is repeated.
const CHECK_LIMIT: Duration = Duration::from_secs(10);
/// How long other requests are repeated. A server that cannot be reached for so long ends the run.
const RETRY_LIMIT: Duration = Duration::from_secs(5 * 60);

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
        Self::open(&elsewhere::http(false)?, base, key, pace).await
    }

    /// Waits until this command's own service is ready, and connects to it.
    pub(super) async fn connect_here(
        service: &mut Embedded,
        key: Option<SecretString>,
        pace: &Pace,
    ) -> Result<Self, Failure> {
        let (base, demo_key) = service.ready().await?;
        // A database that had no keys accepts only the new one: another is for a server elsewhere.
        let key = demo_key.map(SecretString::from).or(key).ok_or_else(|| {
            fail("the database has API keys: set AKHAR_KEY to one of them, or name its file with --key-file")
        })?;
        Self::open(&elsewhere::http(true)?, base, key, pace).await
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
            Err(error) => Err(elsewhere::failure(&base, &error)),
        }
    }
}

/// Checks that this machine has what a service of this command's own needs: ONNX Runtime, the models and Postgres. Returns how
/// many copies of the speech models it can run.
pub(super) fn check_installation(config: &Config, settings: &Settings) -> Result<NonZeroUsize, Failure> {
    akhar_worker::runtime(config)?;
    let registry = Registry::open(&config.models_dir)?;
    let translation = settings.translates().then_some(Operation::Translation);
    for operation in [Operation::SpeechRecognition].into_iter().chain(translation) {
        for lang in settings.lang().codes() {
            registry.serving(operation.name(), Some(lang))?;
        }
    }
    if config.database_url.is_none() {
        PrivatePostgres::programs()?;
    }
    Ok(akhar_worker::speech_copies(&registry)?)
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

fn fail(text: impl Into<String>) -> Failure {
    Failure::Command(text.into())
}
