//! The file of a request: sent with it, or to be fetched by a worker.

use akhar_accounts::CallerUrl;
use akhar_jobs::Upload;

/// Where the bytes of a request's file come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// The request has them.
    Sent(Upload),
    /// A worker fetches them.
    Url(CallerUrl),
}
