//! Opens the store that `AKHAR_UPLOAD_STORE` names.

use std::time::Duration;

use akhar_jobs::uploads::{S3Access, UploadStore};
use akhar_platform::{
    config::Config,
    http_client::{self, Limits},
};
use secrecy::ExposeSecret as _;

use crate::failure::Failure;

/// How long a bucket's service may take. The store limits each operation with all its requests.
const LIMITS: Limits = Limits {
    connect: Duration::from_secs(5),
    stall: Duration::from_secs(10),
    whole: Some(Duration::from_secs(30)),
};
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
    let client = http_client::builder(LIMITS).map_err(|error| error.to_string())?;
    let client = client.build().map_err(|error| error.to_string())?;
    let variables = Config::aws_variables().into_iter();
    let settings = variables.map(|(name, value)| (name, value.expose_secret().to_owned())).collect();
    Ok(S3Access { client, settings })
}
