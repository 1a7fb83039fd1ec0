//! Work that would block the threads of asynchronous code.

use std::panic::resume_unwind;

use tokio::task::{JoinError, spawn_blocking};

/// Runs the work on a thread that it may block. A panic of the work goes on in the caller.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    joined(spawn_blocking(work).await)
}

/// What a task has returned that is not aborted. Its panic goes on in the caller.
pub fn joined<T>(ended: Result<T, JoinError>) -> T {
    ended.unwrap_or_else(|panic| resume_unwind(panic.into_panic()))
}
