//! Drops a future at any moment, as a caller does who hangs up, and finds what it leaves behind in the database.

use std::{
    future::poll_fn,
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use akhar_platform::database::Pool;
use tokio::time::timeout;

use crate::TIMEOUT;

/// The most polls after which a future is dropped: one that goes on for ever needs a limit.
const MAX_POLLS: usize = 60;

/// How long the statements of futures that were dropped may go on. Postgres itself ends what is idle in a transaction later.
const REST_LIMIT: Duration = Duration::from_secs(4);

/// The statements of other connections that run or wait within a transaction.
const BUSY: &str = "select state || ': ' || left(query, 60) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and state <> 'idle'";

/// Polls a future `n` times, each time once it was woken, and drops it. Returns its output if it has ended before.
pub async fn poll_times<T>(n: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = n;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left <= 1 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Prepares and begins the same work again and again, and drops it after one poll, after two, and so on until it ends, with
/// `check` before the first and after each time. Returns the last output, or what a check has found.
pub async fn at_every_poll<P, T>(
    mut prepare: impl AsyncFnMut() -> P,
    mut work: impl AsyncFnMut(P) -> T,
    mut check: impl AsyncFnMut() -> Result<(), String>,
) -> Result<Option<T>, String> {
    check().await?; // connections are open then
    for n in 1..=MAX_POLLS {
        let prepared = prepare().await;
        let polled = timeout(TIMEOUT, poll_times(n, work(prepared))).await;
        let output = polled.map_err(|_| format!("it is not woken after {n} polls or fewer"))?;
        check().await.map_err(|found| format!("after {n} polls: {found}"))?;
        if output.is_some() {
            return Ok(output);
        }
    }
    Ok(None)
}

/// Waits until no other connection to the database executes a statement or is in a transaction. Otherwise an error names the
/// statements.
pub async fn at_rest(db: &Pool) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let busy: Vec<String> = sqlx::query_scalar(BUSY).fetch_all(db).await.expect("an answer");
        if busy.is_empty() {
            return Ok(());
        }
        if started.elapsed() > REST_LIMIT {
            return Err(format!("{busy:?}"));
        }
    }
}
