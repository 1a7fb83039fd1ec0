//! How long answers of the database are waited for.

use std::{io, time::Duration};

use tokio::time::timeout;

/// How long a statement waits for a connection before the database counts as unavailable.
pub(super) const ACQUIRE_LIMIT: Duration = Duration::from_secs(5);

/// The error of an answer that did not come in time.
fn silence(limit: Duration) -> sqlx::Error {
    let reason = format!("the database did not answer within {limit:?}");
    io::Error::new(io::ErrorKind::TimedOut, reason).into()
}

/// Whether it is such an error.
pub(super) fn is_silence(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut)
}

/// Waits for an answer of the database, but not longer than `limit`.
pub(super) async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    timeout(limit, answer).await.unwrap_or_else(|_| Err(silence(limit)))
}
