//! Writes that must be made: a guarded write comes in; it is tried until the database takes it.

use std::time::Duration;

use akhar_jobs::backend::GroupError;
use akhar_platform::{database::is_transient, shutdown::Shutdown};

/// Wait between two tries while the database is away.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes one guarded write, again and again while the database is away, until told to stop at once.
/// `None`: it was not made; another worker's sweeper will notice.
pub(super) async fn retry_until_shutdown<T, F>(
    what: &'static str,
    shutdown: &Shutdown,
    mut write: impl FnMut() -> F,
) -> Option<T>
where
    F: Future<Output = Result<T, GroupError>>,
{
    loop {
        match write().await {
            Ok(done) => return Some(done),
            Err(GroupError::Database(error)) if is_transient(&error) => {
                tracing::warn!(what, %error, "the database is away: trying again");
            }
            Err(error) => {
                tracing::error!(what, %error, "gave up on a write");
                return None;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => (),
            () = shutdown.hard.cancelled() => return None,
        }
    }
}
