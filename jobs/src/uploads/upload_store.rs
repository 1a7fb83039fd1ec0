//! Decides where uploads are kept, writes and reads them, and deletes those that nobody needs.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use sqlx::PgExecutor;
use uuid::Uuid;

use super::{
    background::Deletions,
    error::{FetchError, UploadStoreError},
    location::{Location, S3Access},
    locations::Locations,
};
use crate::{JobId, JobUpload, UploadContent, UploadObject, store};

/// The most bytes that are hashed on the thread of the caller, which takes less than a millisecond.
const MAX_HASHED_AT_ONCE: usize = 256 * 1024;

/// How often an object with other bytes than were written is read before it counts as lost. The bytes may have been damaged
/// on their way. With the pauses, this takes ten seconds.
const MAX_READS: u32 = 5;
/// The pause after the first of these reads. Each further one is longer by as much.
const PAUSE: Duration = Duration::from_secs(1);

/// A handle on the store of uploads, which is cheap to clone.
#[derive(Debug, Clone)]
pub struct UploadStore {
    locations: Arc<Locations>,
    /// Uploads with fewer bytes stay in the database.
    min_bytes: usize,
    deletions: Deletions,
}

/// The name of an object: the job that it was written for and an id of its own. Two requests with the same idempotency
/// key have one job, and each has an object.
pub(super) fn new_name(job: JobId) -> String {
    format!("{job}.{}", Uuid::now_v7())
}

/// The job in the name of an object, or of a file that is being written. `None` if this program has not written it.
pub(super) fn job_of(name: &str) -> Option<JobId> {
    let (job, object) = name.split_once('.')?;
    let object = object.split_once('#').map_or(object, |(object, _)| object);
    Uuid::try_parse(object).ok()?;
    Some(JobId(Uuid::try_parse(job).ok()?))
}

impl UploadStore {
    /// Opens the store that `AKHAR_UPLOAD_STORE` names. Uploads of fewer than `min_bytes` stay in the database. `access`
    /// is called when a bucket is opened. Sends no request: see [`UploadStore::check`]. Must be called in a runtime, on
    /// which deletions run.
    pub fn open(
        setting: &str,
        min_bytes: usize,
        access: impl Fn() -> Result<S3Access, String> + Send + Sync + 'static,
    ) -> Result<Self, UploadStoreError> {
        let locations = Arc::new(Locations::open(setting, Box::new(access))?);
        Ok(Self { deletions: Deletions::start(locations.clone()), locations, min_bytes })
    }

    /// A store that keeps all uploads in the database, and reads none outside it.
    pub fn in_database() -> Self {
        let access = Box::new(|| Err("this process reads no uploads outside the database".to_owned()));
        let locations = Arc::new(Locations::of_database(access));
        Self { deletions: Deletions::start(locations.clone()), locations, min_bytes: 0 }
    }

    /// The location and the name of the object with this address.
    pub(super) fn resolve(&self, url: &str) -> Result<(Location, String), UploadStoreError> {
        self.locations.resolve(url)
    }

    /// The location that new uploads are written to. `None` if they stay in the database.
    pub(super) fn configured(&self) -> Option<&Location> {
        self.locations.configured.as_ref()
    }

    /// Checks that the store can be used: writes, reads, lists and deletes an object.
    pub async fn check(&self) -> Result<(), UploadStoreError> {
        match self.configured() {
            Some(location) => location.check(&new_name(JobId(Uuid::nil()))).await,
            None => Ok(()),
        }
    }

    /// Writes the upload of a job that is about to be submitted to where it is kept. An upload that stays in the database
    /// is written with the job's row.
    pub async fn place(&self, job: JobId, bytes: Bytes) -> Result<UploadContent, UploadStoreError> {
        let Some(location) = self.configured().filter(|_| bytes.len() >= self.min_bytes) else {
            return Ok(UploadContent::Row(bytes));
        };
        let name = new_name(job);
        let object = UploadObject {
            url: location.object_url(&name),
            n_bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            sha256: Some(hash(bytes.clone()).await),
        };
        if let Err(error) = location.write(&name, bytes).await {
            self.deletions.delete(object.url); // the object may exist
            return Err(error);
        }
        Ok(UploadContent::Object(object))
    }

    /// Reads the upload of a claimed job, and checks that its bytes are those that were written.
    pub async fn fetch(&self, upload: UploadContent) -> Result<Bytes, FetchError> {
        let object = match upload {
            UploadContent::Row(bytes) => return Ok(bytes),
            UploadContent::Object(object) => object,
        };
        let (location, name) = self.resolve(&object.url)?;
        for nth in 1..=MAX_READS {
            let bytes = location.read(&name, object.n_bytes).await?;
            if object.sha256 == Some(hash(bytes.clone()).await) {
                return Ok(bytes);
            }
            tracing::warn!(url = object.url, nth, "an upload has other bytes than were written");
            if nth < MAX_READS {
                tokio::time::sleep(PAUSE * nth).await;
            }
        }
        Err(FetchError::Lost { url: object.url, what: "has other bytes than were written".to_owned() })
    }

    /// Deletes objects soon. If that fails, a later listing finds them (see [`super::Orphans`]).
    pub fn delete(&self, objects: impl IntoIterator<Item = String>) {
        objects.into_iter().for_each(|url| self.deletions.delete(url));
    }

    /// Deletes objects before it returns. One that does not exist is no error.
    pub async fn delete_now(
        &self,
        objects: impl IntoIterator<Item = String>,
    ) -> Result<(), UploadStoreError> {
        self.locations.delete(objects).await.into_iter().next().map_or(Ok(()), |(error, _)| Err(error))
    }

    /// Deletes the upload of a job that was not accepted. Keeps it if the job has it after all: an earlier try to submit
    /// the job may have succeeded.
    pub async fn release(
        &self,
        db: impl PgExecutor<'_>,
        job: JobId,
        upload: Option<&JobUpload>,
    ) -> Result<(), sqlx::Error> {
        // One that the caller has written stays, for another request.
        let written = upload.and_then(JobUpload::object).filter(|object| object.sha256.is_some());
        let Some(object) = written else { return Ok(()) };
        let used = store::used_objects(db, &[(job, object.url.clone())]).await?;
        if used.is_empty() {
            self.deletions.delete(object.url.clone());
        }
        Ok(())
    }

    /// Waits until all deletions before this call were tried.
    pub async fn deletions_tried(&self) {
        self.deletions.tried().await;
    }
}

async fn hash(bytes: Bytes) -> [u8; 32] {
    if bytes.len() <= MAX_HASHED_AT_ONCE {
        return Sha256::digest(&bytes).into();
    }
    match tokio::task::spawn_blocking(move || Sha256::digest(&bytes).into()).await {
        Ok(hash) => hash,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
