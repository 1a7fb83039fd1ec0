//! Repeats a guarded write until the database accepts it.

use std::time::Duration;

use akhar_jobs::backend::BatchError;
use akhar_platform::{
    database::{is_transient, may_recover},
    shutdown::Shutdown,
};
use backon::{ConstantBuilder, Retryable as _};
use futures::FutureExt as _;
use tokio::time::timeout;

/// The delay between two tries while the database cannot be reached.
const DELAYS: ConstantBuilder =
    ConstantBuilder::new().with_delay(Duration::from_millis(100)).without_max_times();

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
    write: impl FnMut() -> F,
) -> Option<T>
where
    F: Future<Output = Result<T, BatchError>>,
{
    let hard = shutdown.hard.clone();
    let written = write
        .retry(DELAYS)
        .when(|error| {
            matches!(error, BatchError::Database(error) if may_recover(error))
                && !shutdown.hard.is_cancelled()
        })
        .adjust(|error, delay| match error {
            BatchError::Database(error) if !is_transient(error) => {
                tracing::error!(what, %error, "the database has no space left: trying again");
                Some(EXHAUSTED_DELAY)
            }
            _ => {
                tracing::warn!(what, %error, "cannot reach the database: trying again");
                delay
            }
        })
        .sleep(move |delay| timeout(delay, hard.clone().cancelled_owned()).map(drop));
    let failed =
        |error: &_| tracing::error!(what, %error, "the database did not take a write: giving up on it");
    written.await.inspect_err(failed).ok()
}
