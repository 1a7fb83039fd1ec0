//! Retries queries while the database restarts.

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use tokio::time::{Instant, timeout_at};

use super::is_transient;

/// How long a query is retried while the database is unavailable.
const LIMIT: Duration = Duration::from_secs(5);

/// The pauses between its attempts.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_millis(500))
    .without_max_times();

/// Errors that can be transient.
pub trait Transient {
    /// Whether the same query may succeed if it is tried again shortly.
    fn is_transient(&self) -> bool;
}

impl Transient for sqlx::Error {
    fn is_transient(&self) -> bool {
        is_transient(self)
    }
}

/// Calls `attempt` until it succeeds, fails with an error that is not transient, or 5 s have passed. Its argument is
/// the number of failed attempts so far. The query must be idempotent, because a connection can be lost after its
/// transaction was committed.
pub async fn retry_transient<T, E, F>(mut attempt: impl FnMut(u32) -> F) -> Result<T, E>
where
    E: Transient + From<sqlx::Error>,
    F: Future<Output = Result<T, E>>,
{
    let deadline = Instant::now() + LIMIT;
    let mut attempts = 0_u32..;
    let retried = (|| attempt(attempts.next().unwrap_or(u32::MAX)))
        .retry(PAUSES)
        .when(E::is_transient)
        .adjust(|_, pause| pause.filter(|pause| Instant::now() + *pause < deadline));
    timeout_at(deadline, retried).await.unwrap_or_else(|_| Err(sqlx::Error::PoolTimedOut.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_transient_error_is_retried() {
        let answer: Result<u32, sqlx::Error> =
            retry_transient(async |n| if n < 3 { Err(sqlx::Error::PoolTimedOut) } else { Ok(n) }).await;
        assert_eq!(answer.unwrap(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_that_is_not_transient_is_not_retried() {
        let mut n_attempts = 0;
        let answer: Result<(), sqlx::Error> = retry_transient(|_| {
            n_attempts += 1;
            std::future::ready(Err(sqlx::Error::RowNotFound))
        })
        .await;
        assert!(answer.is_err() && n_attempts == 1);
    }

    #[tokio::test(start_paused = true)]
    async fn retries_end_at_the_time_limit() {
        let started = Instant::now();
        let hung: Result<(), sqlx::Error> = retry_transient(|_| std::future::pending()).await;
        assert!(hung.is_err() && started.elapsed() == LIMIT);
        let away: Result<(), sqlx::Error> =
            retry_transient(|_| std::future::ready(Err(sqlx::Error::WorkerCrashed))).await;
        assert!(away.is_err() && started.elapsed() <= 2 * LIMIT);
    }
}
