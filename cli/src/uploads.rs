//! Opens the store that `AKHAR_UPLOAD_STORE` names.

use std::time::Duration;

use akhar_jobs::uploads::{S3Access, UploadStore};
use akhar_platform::{config::Config, http_client};
use secrecy::ExposeSecret as _;

use crate::failure::Failure;

/// How long connecting to a bucket's service may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long a bucket's service may send and receive nothing.
const READ_LIMIT: Duration = Duration::from_secs(20);
/// How long a stopping process waits for objects to be deleted. Those that remain are found by listing.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// Opens the store, and checks that it can be used.
pub(crate) async fn open(config: &Config) -> Result<UploadStore, Failure> {
    let store = UploadStore::open(&config.upload_store, config.upload_store_min_bytes, access)?;
    store.check().await?;
    Ok(store)
}

/// Waits until the objects that were to be deleted are gone.
pub(crate) async fn close(store: UploadStore) {
    if tokio::time::timeout(CLOSE_LIMIT, store.deletions_tried()).await.is_err() {
        tracing::warn!("some uploads whose jobs have ended are deleted later");
    }
}

fn access() -> Result<S3Access, String> {
    let client = http_client::builder()
        .map_err(|error| error.to_string())?
        .connect_timeout(CONNECT_LIMIT)
        .read_timeout(READ_LIMIT)
        .build()
        .map_err(|error| error.to_string())?;
    let variables = Config::aws_variables().into_iter();
    let settings = variables.map(|(name, value)| (name, value.expose_secret().to_owned())).collect();
    Ok(S3Access { client, settings })
}
