//! What a connection waits for, beside its client.

use std::{fmt::Display, future::pending, time::Duration};

use akhar_jobs::backend::StreamFollower;
use akhar_platform::database::Transient;
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// The longest time between two looks at what the worker says. Its announcements can be lost.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How long a statement may take before it is tried again, and the pause before.
const STATEMENT_LIMIT: Duration = Duration::from_secs(5);
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Waits for what is under way, if anything is.
pub(super) async fn in_flight<T>(under_way: &mut Option<BoxFuture<'static, T>>) -> T {
    let Some(future) = under_way else { return pending().await };
    let done = future.await;
    *under_way = None;
    done
}

pub(super) async fn woken(follower: Option<&StreamFollower>) {
    match follower {
        Some(follower) => drop(timeout(LOOK_INTERVAL, follower.woken()).await),
        None => pending().await,
    }
}

pub(super) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

/// Tries a statement that can be repeated, until the database answers.
pub(super) async fn until_done<T, E: Display + Transient, F: Future<Output = Result<T, E>>>(
    work: impl Fn() -> F,
) -> Result<T, E> {
    loop {
        match timeout(STATEMENT_LIMIT, work()).await {
            Ok(Err(error)) if error.is_transient() => {
                tracing::debug!(%error, "the stream of a session cannot be reached: trying again");
            }
            Ok(done) => return done,
            Err(_) => tracing::debug!("the database does not answer: trying again"),
        }
        sleep(RETRY_DELAY).await;
    }
}
