//! The file of a request: sent with it or before it, or to be fetched by a worker.

use akhar_jobs::JobId;
use akhar_requests::Upload;
use akhar_webhooks::CallerUrl;
use uuid::Uuid;

/// Where the bytes of a request's file come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// The request has them.
    Sent(Upload),
    /// A worker fetches them.
    Url(CallerUrl),
    /// The caller has written them to the bucket, as the upload with this id.
    Upload(Uuid),
    /// The caller sends them while the job with this id runs.
    Live(JobId),
}
