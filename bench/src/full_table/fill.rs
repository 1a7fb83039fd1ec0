//! Fills the table of a service with jobs that ended in each way, and with jobs that wait.

use akhar_jobs::{
    End, FreePlaces,
    store::{self, Ending, Guard},
};
use akhar_requests::QUICK;
use akhar_tests::{Stack, http::send, queue};
use serde_json::json;
use uuid::Uuid;

use super::copies::{copy, vacuum};
use crate::load::digit;

/// Of a hundred finished jobs, these failed and were cancelled. The others succeeded.
pub(super) const FAILED: i64 = 5;
pub(super) const CANCELLED: i64 = 1;
pub(super) const WAITING: i64 = 200_000;

/// The errors of the failed jobs.
pub(super) const ERRORS: [&str; 5] = [
    "the attempt took longer than 30s",
    "the job's worker died or lost the job, and no attempts are left",
    "the model failed: out of memory",
    "the upload is lost: no such object",
    "the attempt panicked: index out of bounds",
];

const HALF_A_DAY_S: f64 = 12.0 * 3600.0;
const AN_HOUR_S: f64 = 3600.0;

/// Stops the worker, and fills the table with `n` copies of jobs that ended in each way.
pub(super) async fn finished(stack: &mut Stack, n: usize) {
    let n = i64::try_from(n).expect("a number of rows");
    let (n_failed, n_cancelled) = (n * FAILED / 100, n * CANCELLED / 100);
    let succeeded = send(digit(stack)).await.header("akhar-job").parse().expect("the id of a job");
    stack.workers.remove(0).kill().await;
    copy(&stack.db, succeeded, n - n_failed - n_cancelled, HALF_A_DAY_S).await;
    let per_error = n_failed / i64::try_from(ERRORS.len()).expect("a few");
    for error in ERRORS {
        let job = accept(stack).await;
        end(stack, End::Failed, Some(error)).await;
        copy(&stack.db, job, per_error - 1, HALF_A_DAY_S).await;
    }
    let job = accept(stack).await;
    end(stack, End::Cancelled, None).await;
    copy(&stack.db, job, n_cancelled - 1, HALF_A_DAY_S).await;
    vacuum(&stack.db).await;
}

/// Adds copies of a job that waits.
pub(super) async fn waiting(stack: &Stack) {
    let job = accept(stack).await;
    copy(&stack.db, job, WAITING - 1, AN_HOUR_S).await;
    vacuum(&stack.db).await;
}

/// Submits an asynchronous job. It stays queued, because there is no worker.
async fn accept(stack: &Stack) -> Uuid {
    let request = stack.request("POST", "/v1/models/handwriting-generator").header("prefer", "respond-async");
    send(request.json(&json!({"text": "ਕਲਮ"}))).await.job()
}

/// Claims the waiting job and ends it.
async fn end(stack: &Stack, end: End, error: Option<&str>) {
    let claimed = store::claim(&stack.db, "bench", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
    let error = error.map(str::to_owned);
    let guard = Guard::Claimed(claimed[0].fence);
    let ending = Ending { guard, end, timing: None, error, may_have_webhook: false };
    assert!(queue::end(&stack.db, &[ending]).await.expect("a write").any());
}
