//! Reads the upload of a claimed job, also while the store of uploads does not answer.

use std::time::Duration;

use akhar_jobs::{
    JobUpload, Upload,
    uploads::{FetchError, UploadStore},
};
use tokio::time::Instant;

/// How long reading is tried again before the attempt fails. The store may be restarting.
const LIMIT: Duration = Duration::from_secs(60);
/// The pause before another try. The store has then been tried for some seconds.
const PAUSE: Duration = Duration::from_millis(500);

/// The upload of a job, if it has one.
pub(super) async fn fetch(
    store: &UploadStore,
    upload: Option<JobUpload>,
) -> Result<Option<Upload>, FetchError> {
    let Some(upload) = upload else { return Ok(None) };
    let deadline = Instant::now() + LIMIT;
    loop {
        match store.fetch(upload.clone()).await {
            Err(FetchError::Unavailable(error)) if Instant::now() + PAUSE < deadline => {
                tracing::warn!(%error, "cannot read the upload: trying again");
                tokio::time::sleep(PAUSE).await;
            }
            fetched => return fetched.map(Some),
        }
    }
}
