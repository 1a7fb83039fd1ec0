//! Reads the upload of a claimed job, also while the store of uploads does not answer.

use std::time::Duration;

use akhar_jobs::{
    JobUpload, Upload,
    uploads::{FetchError, UploadStore},
};
use backon::{ConstantBuilder, Retryable as _};
use tokio::time::Instant;

/// How long reading is tried again before the attempt fails. The store may be restarting.
const LIMIT: Duration = Duration::from_secs(60);
/// The pauses before another try. The store has then been tried for some seconds.
const PAUSES: ConstantBuilder =
    ConstantBuilder::new().with_delay(Duration::from_millis(500)).without_max_times();

/// The upload of a job, if it has one.
pub(super) async fn fetch(
    store: &UploadStore,
    upload: Option<JobUpload>,
) -> Result<Option<Upload>, FetchError> {
    let Some(upload) = upload else { return Ok(None) };
    let deadline = Instant::now() + LIMIT;
    let fetched = (|| store.fetch(upload.clone()))
        .retry(PAUSES)
        .when(|error| matches!(error, FetchError::Unavailable(_)))
        .adjust(|_, pause| pause.filter(|pause| Instant::now() + *pause < deadline))
        .notify(|error, _| tracing::warn!(%error, "cannot read the upload: trying again"));
    fetched.await.map(Some)
}
