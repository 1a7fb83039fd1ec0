//! Repeats a guarded write until the database accepts it.

use std::time::Duration;

use akhar_jobs::backend::GroupError;
use akhar_platform::{
    database::{is_transient, may_recover},
    shutdown::Shutdown,
};

/// The delay between two tries while the database cannot be reached.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The delay between two tries while the server has no disk space or memory left. Its log gets a line for each try.
const EXHAUSTED_DELAY: Duration = Duration::from_secs(1);

/// Makes one guarded write, and repeats it while the database cannot be reached or has no space left, until a hard
/// shutdown. The result of an attempt would be lost otherwise, and the job would run again.
///
/// `None` means that the write was not made; another worker's sweeper will find the job later. `what` names
/// the write in the log.
pub(super) async fn retry_until_shutdown<T, F>(
    what: &'static str,
    shutdown: &Shutdown,
    mut write: impl FnMut() -> F,
) -> Option<T>
where
    F: Future<Output = Result<T, GroupError>>,
{
    loop {
        let delay = match write().await {
            Ok(done) => return Some(done),
            Err(GroupError::Database(error)) if is_transient(&error) => {
                tracing::warn!(what, %error, "cannot reach the database: trying again");
                RETRY_DELAY
            }
            Err(GroupError::Database(error)) if may_recover(&error) => {
                tracing::error!(what, %error, "the database has no space left: trying again");
                EXHAUSTED_DELAY
            }
            Err(error) => {
                tracing::error!(what, %error, "the database refused a write: giving up on it");
                return None;
            }
        };
        tokio::select! {
            () = tokio::time::sleep(delay) => (),
            () = shutdown.hard.cancelled() => return None,
        }
    }
}
