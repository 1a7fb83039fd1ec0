//! Tests that no job is lost or answered twice: one file for each kind of crash, restart, stop and start.

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

mod bulk;
mod clock;
mod connections;
mod crashes;
mod decoding;
mod dropped_begin;
mod expiry;
mod failover;
mod fair_queuing;
mod fairness;
mod full_disk;
mod hang_ups;
mod killed_api;
mod killed_postgres;
mod live;
mod locks;
mod migrating;
mod minutes;
mod neighbours;
mod notifications;
mod pooler;
mod probes;
mod promotion;
mod protocol;
mod proxies;
mod queue;
mod replica;
mod restarts;
mod restores;
mod scaling;
mod serving;
mod silence;
mod starting;
mod stopping;
mod supervisor;
mod unread;
mod webhooks;

use std::{collections::BTreeMap, process::Output};

use akhar_jobs::{
    Fence, FreePlaces, Timing,
    store::{self, Ending, Guard},
};
use akhar_platform::database::Pool;
use akhar_requests::{Outcome, Prediction, QUICK};
use akhar_tests::{
    Form, Stack,
    ends::record_ends,
    http::send,
    images::{Fixture, fixture_of},
    load::Sent,
};
use uuid::Uuid;

fn digit() -> Fixture {
    fixture_of("੫")
}

/// What a command wrote to its standard error.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Submits an asynchronous job.
async fn submit(stack: &Stack) -> Uuid {
    let image = digit();
    send(stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async"))
        .await
        .job()
}

/// Counts the rows that break a rule of the table. The rules are not check constraints, because Postgres
/// would parse those again for every statement.
const INVALID_ROWS: &str = "select count(*) from jobs where not coalesce(
    state in ('queued', 'running', 'succeeded', 'failed', 'cancelled') and priority in (0, 1)
    and attempt between 0 and max_attempts
    and (state = 'running') = (worker is not null)
    and (state = 'running') = (id in (select running.id from running_jobs() running))
    and (state in ('succeeded', 'failed', 'cancelled')) = (ended_at is not null)
    and (state in ('succeeded', 'failed')) = (outcome is not null)
    and (media_type is null)
        = (upload is null and (upload_url is null or ended_at is not null and outcome->>'kind' is distinct from 'failed'))
    and (upload is null or upload_url is null)
    and (recording_url is null or upload is null and upload_url is null)
    and (upload_url is null) = (upload_bytes is null) and (upload_sha256 is null or upload_url is not null)
    and (state in ('queued', 'running') or upload is null and recording_url is null or outcome->>'kind' = 'failed'), false)";

/// Claims one job of the quick queue for `worker`. `None` if no job is due.
async fn claim(db: &Pool, worker: &str) -> Option<Fence> {
    let claimed = store::claim(db, worker, &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
    claimed.first().map(|claimed| claimed.fence)
}

/// Ends a claimed job with this label as its answer. Returns whether the write changed the job.
async fn end(db: &Pool, fence: Fence, label: &str) -> bool {
    let predictions = vec![Prediction { label: label.to_owned(), score: 1.0 }];
    let ending = Ending {
        guard: Guard::Claimed(fence),
        end: Outcome::Predictions { predictions }.try_into().expect("JSON"),
        timing: Some(Timing::default()),
        error: None,
        may_have_webhook: false,
    };
    akhar_tests::queue::end(db, &[ending]).await.expect("a write").met == [true]
}

/// Checks that every job has ended exactly once. Returns the number of jobs.
async fn every_job_ended_once(stack: &Stack) -> i64 {
    let count = async |query: &'static str| -> i64 {
        sqlx::query_scalar(query).fetch_one(&stack.db).await.expect(query)
    };
    akhar_tests::until("no job is queued or running", async || {
        let n = count("select count(*) from jobs where state in ('queued', 'running')").await;
        (n == 0).then_some(())
    })
    .await;
    assert_eq!(
        count("select count(*) from (select from ends group by job_id having count(*) > 1) e").await,
        0
    );
    let (n_jobs, n_ends) =
        (count("select count(*) from jobs").await, count("select count(*) from ends").await);
    assert_eq!(n_jobs, n_ends);
    assert_eq!(
        count("select count(*) from jobs where upload is not null and outcome->>'kind' <> 'failed'").await,
        0,
        "an upload outlived its job"
    );
    assert_eq!(count(INVALID_ROWS).await, 0, "a row breaks a rule of the jobs table");
    n_jobs
}

/// The number of answers with each status. Panics if a request has no answer.
fn statuses(sent: &[Sent]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for request in sent {
        let answer = request.answer.as_ref().unwrap_or_else(|error| panic!("no answer: {error}"));
        *counts.entry(answer.status).or_default() += 1;
    }
    counts
}
