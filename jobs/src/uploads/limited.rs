//! The objects of a folder or bucket, which nothing reaches without a time limit.

use std::{error::Error, io, path::PathBuf, sync::Arc, time::Duration};

use object_store::ObjectStore;
use tokio::time::timeout;

use super::{error::with_sources, presign::Presigner};

/// How long writing, reading, listing, deleting or signing may take, with all retries.
const LIMIT: Duration = Duration::from_secs(30);

/// What an operation uses.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The folder, if it is one.
    pub(super) folder: Option<PathBuf>,
    /// Signs URLs, if it is a bucket.
    pub(super) presigner: Option<Presigner>,
}

impl Objects {
    /// Fails if they are in a folder that is gone.
    pub(super) async fn has_folder(&self) -> io::Result<()> {
        match &self.folder {
            Some(folder) => tokio::fs::read_dir(folder).await.map(drop),
            None => Ok(()),
        }
    }
}

/// Objects that only [`LimitedObjects::within_limit`] can use.
#[derive(Debug, Clone)]
pub(super) struct LimitedObjects(Objects);

impl LimitedObjects {
    pub(super) fn new(objects: Objects) -> Self {
        Self(objects)
    }

    /// Waits for an operation until it ends or the time is over. The error says why it failed.
    pub(super) async fn within_limit<T, E: Error>(
        &self,
        operation: impl AsyncFnOnce(&Objects) -> Result<T, E>,
    ) -> Result<T, String> {
        match timeout(LIMIT, operation(&self.0)).await {
            Ok(result) => result.map_err(|error| with_sources(&error)),
            Err(_) => Err(format!("it took longer than {LIMIT:?}")),
        }
    }
}
