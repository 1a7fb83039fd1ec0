//! Reads the upload of a claimed job, also while the store of uploads does not answer: into memory, or to a file on disk if its
//! caller has written it to the store.

use std::{io, time::Duration};

use akhar_jobs::{
    JobUpload, UploadObject,
    uploads::{FetchError, UploadStore},
};
use akhar_requests::{MediaType, Upload};
use backon::{ConstantBuilder, Retryable as _};
use tokio::time::Instant;

use super::temporary_file::{TemporaryFile, not_written};
use crate::decode::job_file::{Content, JobFile};

/// How long reading is tried again before the job returns to its queue and others get its place. The store may be restarting.
const LIMIT: Duration = Duration::from_secs(5);
/// The pauses before another try. The store has then been tried for some seconds.
const PAUSES: ConstantBuilder =
    ConstantBuilder::new().with_delay(Duration::from_millis(500)).without_max_times();

/// How much of an upload that its caller has written is in memory at a time, bytes.
const PART: usize = 4 * 1024 * 1024;

/// Why an upload cannot be read.
#[derive(Debug)]
pub(super) enum UploadError {
    /// Trying again does not help.
    Lost(String),
    /// It may pass.
    Unavailable(String),
}

impl From<FetchError> for UploadError {
    fn from(error: FetchError) -> Self {
        match error {
            FetchError::Lost { .. } => Self::Lost(error.to_string()),
            FetchError::Unavailable(error) => Self::Unavailable(error.to_string()),
        }
    }
}

impl From<io::Error> for UploadError {
    fn from(error: io::Error) -> Self {
        Self::Unavailable(not_written(&error))
    }
}

/// The upload of a job, if it has one. `received` is called for each part of one that is read in parts.
pub(super) async fn fetch(
    store: &UploadStore,
    upload: Option<(JobUpload, MediaType)>,
    received: impl Fn(),
) -> Result<Option<JobFile>, UploadError> {
    let Some((upload, media_type)) = upload else { return Ok(None) };
    Ok(Some(if let Some(object) = upload.of_caller() {
        JobFile { media_type, content: in_parts(store, object, received).await? }
    } else {
        let bytes = patiently(|| store.fetch(upload.content.clone())).await?;
        Upload { media_type, bytes }.into()
    }))
}

/// Reads an object to a file on disk.
async fn in_parts(
    store: &UploadStore,
    object: &UploadObject,
    received: impl Fn(),
) -> Result<Content, UploadError> {
    let n_bytes = usize::try_from(object.n_bytes).unwrap_or(usize::MAX);
    let mut file = TemporaryFile::create(Some(n_bytes)).await?;
    while file.len() < n_bytes {
        let part = file.len() as u64..n_bytes.min(file.len() + PART) as u64;
        let part = patiently(|| store.read_part(object, part.clone())).await?;
        file.write(&part).await?;
        received();
    }
    Ok(file.finish().await?)
}

/// Reads from the store, again and again while it does not answer.
async fn patiently<T, F: Future<Output = Result<T, FetchError>>>(
    read: impl FnMut() -> F,
) -> Result<T, FetchError> {
    let deadline = Instant::now() + LIMIT;
    read.retry(PAUSES)
        .when(|error| matches!(error, FetchError::Unavailable(_)))
        .adjust(|_, pause| pause.filter(|pause| Instant::now() + *pause < deadline))
        .notify(|error, _| tracing::warn!(%error, "cannot read the upload: trying again"))
        .await
}
