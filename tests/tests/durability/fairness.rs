//! Accounts share the workers and the waiting places of a queue: no account keeps the others from being answered.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    FreePlaces, JobUpload, NewJob, UploadContent,
    backend::{Admission, Submissions},
    store::{self, Ending, Guard, Requeue},
};
use akhar_operators::{Change, JobSearch, changes};
use akhar_platform::database::{Database, Pool};
use akhar_requests::{QUEUES, QUICK, SPEECH};
use akhar_tests::{
    Answer, Cluster, Form, Stack,
    http::send,
    ops::actor,
    speech::{recording, silence, wav},
    until,
};
use sqlx::{Connection as _, PgConnection};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::{digit, queue::new_job};

/// A request of the account of `key`, for the digit in a picture.
fn request(stack: &Stack, key: &str) -> reqwest::RequestBuilder {
    stack.post_as(key, "digit-recognition", &Form::upload(&digit().bytes))
}

/// Sends asynchronous requests until one is refused. Returns the number of accepted ones, and the refusal.
async fn fill(stack: &Stack, key: &str) -> (usize, Answer) {
    for n_accepted in 0.. {
        let answer = send(request(stack, key).header("prefer", "respond-async")).await;
        if answer.status != 202 {
            return (n_accepted, answer);
        }
    }
    unreachable!("the queue has a limit")
}

fn retry_after_s(refused: &Answer) -> u64 {
    refused.header("retry-after").parse().expect("seconds")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_of_an_account_is_not_delayed_by_all_requests_of_another() {
    let mut stack = Stack::with().workers(0).set("AKHAR_WORKER_CONCURRENCY", 1).start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let key = stack.key.clone();
    let many: Vec<_> = (0..30).map(|_| tokio::spawn(send(request(&stack, &key)))).collect();
    stack.jobs_are(30, "queued").await;
    let one = tokio::spawn(send(request(&stack, &other)));
    stack.jobs_are(31, "queued").await;
    stack.add_worker().await;
    for answer in many.into_iter().chain([one]) {
        assert_eq!(answer.await.expect("no panic").status, 200);
    }
    let n_before: i64 = sqlx::query_scalar(
        "select count(*) from jobs j, (
             select started_at from jobs where account_id = (select account_id from api_keys where name = 'other')) one
         where j.started_at < one.started_at",
    )
    .fetch_one(&stack.db)
    .await
    .expect("a count");
    assert!(n_before <= 1, "{n_before} jobs of the other account started first");
}

/// An account with many answered requests sends one to the api at `address`, right after a new account has sent many to the
/// apis at `flooded`. Returns how many of those are served first.
async fn n_served_before_a_steady_account(stack: &mut Stack, address: &str, flooded: &[&str]) -> i64 {
    let newcomer = stack.keys(&["create", "--name", "newcomer"]).await;
    let client = reqwest::Client::new();
    let request = |base: &str, key: &str| {
        let request = client.post(format!("{base}/v1/models/digit-recognition")).bearer_auth(key);
        Form::upload(&digit().bytes).send_with(request)
    };
    for _ in 0..50 {
        assert_eq!(send(request(address, &stack.key)).await.status, 200);
    }
    stack.workers.pop().expect("a worker").kill().await;
    let to_flood = |n| tokio::spawn(send(request(flooded[n % flooded.len()], &newcomer)));
    let flood: Vec<_> = (0..60).map(to_flood).collect();
    stack.jobs_are(60, "queued").await;
    let one = tokio::spawn(send(request(address, &stack.key)));
    stack.jobs_are(61, "queued").await;
    stack.add_worker().await;
    for answer in flood.into_iter().chain([one]) {
        assert_eq!(answer.await.expect("no panic").status, 200);
    }
    sqlx::query_scalar(
        "select count(*) from jobs j, api_keys k where k.name = 'newcomer' and j.account_id = k.account_id
             and j.started_at < (select max(started_at) from jobs where account_id <> k.account_id)",
    )
    .fetch_one(&stack.db)
    .await
    .expect("a count")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_with_a_history_is_served_in_turn_beside_the_flood_of_a_new_one() {
    let mut stack = Stack::with().set("AKHAR_WORKER_CONCURRENCY", 1).start().await;
    let address = stack.base.clone();
    let n_before = n_served_before_a_steady_account(&mut stack, &address, &[&address]).await;
    assert!(n_before <= 2, "{n_before} jobs of the new account started first");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_is_served_in_turn_whichever_apis_it_and_others_use() {
    let mut stack = Stack::with().set("AKHAR_WORKER_CONCURRENCY", 1).start().await;
    let (_api, second) = stack.start_api().await;
    let first = stack.base.clone();
    let n_before = n_served_before_a_steady_account(&mut stack, &first, &[&first, &second]).await;
    assert!(n_before <= 2, "{n_before} jobs of the new account started first");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_cannot_take_every_waiting_place() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_WAITING", 10).start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let (n_accepted, _) = fill(&stack, &stack.key).await;
    assert_eq!(n_accepted, 8, "four of five places");
    let problem = stack.refused(request(&stack, &stack.key), 429).await;
    assert_eq!(problem.slug, "account-busy");

    let (n_accepted, refused) = fill(&stack, &other).await;
    assert_eq!(n_accepted, 2, "the other account gets the places that are left");
    assert_eq!(refused.problem(503).slug, "queue-full");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_told_to_wait_longer_the_slower_the_queue_is() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_WAITING", 5).start().await;
    let (_, refused) = fill(&stack, &stack.key).await;
    let first_s = retry_after_s(&refused);
    until("a refused request is told to wait longer, because no job starts", async || {
        let refused = send(request(&stack, &stack.key)).await;
        (retry_after_s(&refused) > first_s + 1).then_some(())
    })
    .await;
}

/// Bytes of speech that runs for many minutes, in less than a mebibyte or in more.
fn long_recording(is_large: bool) -> Vec<u8> {
    recording("pa-water.mp3").bytes.repeat(if is_large { 150 } else { 120 })
}

/// Submits an asynchronous job for a recording.
async fn submit_recording(stack: &Stack, key: &str, recording: &[u8]) -> Uuid {
    let request = stack.post_as(key, "speech-recognition", &Form::upload(recording));
    send(request.header("prefer", "respond-async")).await.job()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_recording_does_not_wait_for_the_long_ones_of_other_accounts() {
    let stack = Stack::start().await;
    let large = long_recording(true);
    let mut accounts = Vec::new();
    for name in ["first", "second", "third"] {
        accounts.push(stack.keys(&["create", "--name", name]).await);
    }
    for key in &accounts {
        for _ in 0..3 {
            submit_recording(&stack, key, &large).await;
        }
    }
    stack.jobs_are(3, "running").await;
    // The fourth account has a short recording, and the first one has to wait with one.
    let waiting = submit_recording(&stack, &accounts[0], &recording("pa-water.mp3").bytes).await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let short = submit_recording(&stack, &other, &recording("pa-water.mp3").bytes).await;
    stack.job_is(short, "succeeded").await;
    let n_before: i64 = sqlx::query_scalar("select count(*) from jobs where ended_at is not null")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n_before, 1, "only the short one of the account that had nothing else has ended");
    stack.job_is(waiting, "queued").await;
    let n_of_account: Vec<i64> = sqlx::query_scalar(
        "select count(*) from jobs where state = 'running' group by account_id order by min(created_at)",
    )
    .fetch_all(&stack.db)
    .await
    .expect("counts");
    assert_eq!(n_of_account, [2, 1], "of the places for large uploads, one is for who waits");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_waits_does_not_wait_for_asynchronous_recordings_of_its_own_account() {
    let stack = Stack::start().await;
    let long = long_recording(true);
    for _ in 0..10 {
        submit_recording(&stack, &stack.key, &long).await;
    }
    stack.jobs_are(2, "running").await;
    let clip = Form::upload(&recording("pa-water.mp3").bytes);
    assert_eq!(send(stack.post("speech-recognition", &clip)).await.status, 200);
    let _waiting =
        AbortOnDropHandle::new(tokio::spawn(send(stack.post("speech-recognition", &Form::upload(&long)))));
    until("a large recording that a caller waits for has a place", async || {
        let running = "select count(*) from jobs where priority = 1 and state = 'running'";
        let n: i64 = sqlx::query_scalar(running).fetch_one(&stack.db).await.expect("a count");
        (n == 1).then_some(())
    })
    .await;
    let n_ended: i64 =
        sqlx::query_scalar("select count(*) from jobs where ended_at is not null and priority = 0")
            .fetch_one(&stack.db)
            .await
            .expect("a count");
    assert_eq!(n_ended, 0, "the others had begun before");
}

#[tokio::test]
async fn a_claim_leaves_out_accounts_and_large_uploads_that_have_all_their_places() {
    let db = database().await;
    let (full, other) = (Uuid::now_v7(), Uuid::now_v7());
    let upload = |n_bytes: usize| {
        let content = UploadContent::Row(vec![7; n_bytes].into());
        Some(JobUpload { media_type: "image/png".to_owned(), content })
    };
    let job = |asynchronous, account_id, n_bytes| NewJob {
        account_id,
        upload: upload(n_bytes),
        ..new_job(asynchronous)
    };
    let jobs = [
        job(true, full, 10),
        job(false, full, 10),
        job(true, other, 1024 * 1024 + 1),
        job(false, other, 1024 * 1024 + 1),
        job(true, other, 1024 * 1024),
        job(false, other, 1024 * 1024),
    ];
    for job in &jobs {
        crate::queue::insert(&db, &[job]).await;
    }
    // Now and then, the first asynchronous job of the queue would be claimed first.
    sqlx::query("update jobs set created_at = now() - interval '2 minutes'")
        .execute(&db)
        .await
        .expect("a write");
    let free = FreePlaces {
        full_accounts: vec![(full, false), (full, true)],
        with_large: false,
        with_large_asynchronous: false,
        ..FreePlaces::any(QUICK, 9)
    };
    let mut claimed = store::claim(&db, "a", &[free]).await.expect("a claim");
    claimed.sort_unstable_by_key(|claimed| claimed.fence.job);
    let ids: Vec<_> = claimed.iter().map(|claimed| claimed.fence.job).collect();
    assert_eq!(ids, [jobs[4].id, jobs[5].id]);
    let claimed = store::claim(&db, "a", &[FreePlaces::any(QUICK, 9)]).await.expect("a claim");
    assert_eq!(claimed.len(), 4, "the others");
}

#[tokio::test]
async fn a_claim_takes_only_so_many_asynchronous_jobs_as_it_may() {
    let db = database().await;
    let [account, other] = [Uuid::now_v7(), Uuid::now_v7()];
    let waiting = jobs(account, 2, false);
    insert(&db, &waiting).await;
    insert(&db, &jobs(account, 3, true)).await;
    insert(&db, &jobs(other, 3, true)).await;
    let claim = async |n, n_asynchronous| {
        let full_accounts = vec![(account, true)];
        let free = FreePlaces { n_asynchronous, full_accounts, ..FreePlaces::any(QUICK, n) };
        let claimed = store::claim(&db, "a", &[free]).await.expect("a claim");
        let of = |asynchronous| claimed.iter().filter(|c| c.is_asynchronous == asynchronous).count();
        assert!(claimed.iter().all(|c| !c.is_asynchronous || c.account_id == other));
        (of(false), of(true))
    };
    assert_eq!(claim(1, 1).await, (1, 0));
    assert_eq!(claim(3, 0).await, (1, 0));
    assert_eq!(claim(3, 1).await, (0, 1));
    assert_eq!(claim(3, 3).await, (0, 2));
}

async fn database() -> Pool {
    Pool::new(Cluster::shared().database().await.into(), 10)
}

#[tokio::test]
async fn turns_alternate_between_accounts() {
    let db = database().await;
    let submissions = Submissions::start(&db, &Admission::new(100, &QUEUES));
    let accounts = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];
    for (account_id, n) in accounts.into_iter().zip([9, 3, 1]) {
        for _ in 0..n {
            let job = NewJob { account_id, ..new_job(false) };
            submissions.submit(Arc::new(job)).await.expect("it is accepted");
        }
    }
    assert_eq!(next_claimed(&db, &accounts, 8).await, [0, 1, 2, 0, 1, 0, 1, 0]);
}

fn jobs(account_id: Uuid, n: usize, asynchronous: bool) -> Vec<NewJob> {
    (0..n).map(|_| NewJob { account_id, ..new_job(asynchronous) }).collect()
}

async fn insert(db: &Pool, jobs: &[NewJob]) {
    crate::queue::insert(db, &jobs.iter().collect::<Vec<_>>()).await;
}

/// The positions of the accounts of the jobs that are claimed next, one after another.
async fn next_claimed(db: &Pool, accounts: &[Uuid], n: usize) -> Vec<usize> {
    let mut order = Vec::new();
    for _ in 0..n {
        let claimed = store::claim(db, "a", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
        order
            .push(accounts.iter().position(|account| *account == claimed[0].account_id).expect("an account"));
    }
    order
}

#[tokio::test]
async fn an_account_with_a_history_and_a_new_one_start_where_the_queue_is() {
    let db = database().await;
    let submissions = Submissions::start(&db, &Admission::new(100, &QUEUES));
    let accounts = [Uuid::now_v7(), Uuid::now_v7()];
    let submit = |account: usize| {
        let job = NewJob { account_id: accounts[account], ..new_job(false) };
        submissions.submit(Arc::new(job))
    };
    for _ in 0..20 {
        submit(0).await.expect("it is accepted");
        assert_eq!(next_claimed(&db, &accounts, 1).await, [0]);
    }
    for account in [1, 1, 1, 1, 1, 1, 0, 0] {
        submit(account).await.expect("it is accepted");
    }
    assert_eq!(next_claimed(&db, &accounts, 8).await, [1, 0, 1, 0, 1, 1, 1, 1]);
}

#[tokio::test]
async fn an_account_that_cancels_its_jobs_and_one_that_was_idle_start_where_the_queue_is() {
    let db = database().await;
    let [cancelling, busy, idle] = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];
    let cancelled = jobs(cancelling, 50, false);
    let guards = cancelled.iter().map(|job| Guard::Queued { job: job.id, account_id: cancelling });
    let endings: Vec<_> = guards.map(Ending::cancelled).collect();
    insert(&db, &cancelled).await;
    akhar_tests::queue::end(&db, &endings).await.expect("a write");
    insert(&db, &jobs(busy, 30, false)).await;
    assert_eq!(next_claimed(&db, &[cancelling, busy, idle], 10).await, [1; 10]);
    insert(&db, &[jobs(cancelling, 3, false), jobs(idle, 3, false)].concat()).await;
    assert_eq!(next_claimed(&db, &[cancelling, busy, idle], 8).await, [1, 0, 2, 1, 0, 2, 1, 0]);
}

#[tokio::test]
async fn a_job_that_returns_to_its_queue_keeps_its_turn() {
    let db = database().await;
    let accounts = [Uuid::now_v7(), Uuid::now_v7()];
    insert(&db, &jobs(accounts[0], 3, false)).await;
    let first = crate::claim(&db, "a").await.expect("it is queued");
    let requeue = Requeue {
        fence: first,
        is_spent: true,
        is_death: false,
        delay: Duration::ZERO,
        error: "a test".to_owned(),
    };
    assert_eq!(store::requeue(&db, &[requeue]).await.expect("a write"), [true]);
    insert(&db, &jobs(accounts[1], 2, false)).await;
    let again = crate::claim(&db, "a").await.expect("it is queued");
    assert_eq!((again.job, again.attempt), (first.job, 2));
    assert_eq!(next_claimed(&db, &accounts, 4).await, [0, 1, 0, 1]);
}

/// It was a job that a caller waited for, with a turn among those, and is now asynchronous.
#[tokio::test]
async fn a_job_that_an_operator_returns_to_its_queue_gets_a_new_turn() {
    let db = database().await;
    let accounts = [Uuid::now_v7(), Uuid::now_v7()];
    insert(&db, &jobs(accounts[0], 30, false)).await;
    next_claimed(&db, &accounts, 29).await;
    let claimed = crate::claim(&db, "a").await.expect("it is queued");
    let dead = Ending::dead(claimed, "a test".to_owned(), false);
    assert!(akhar_tests::queue::end(&db, &[dead]).await.expect("a write").any());
    insert(&db, &jobs(accounts[1], 3, true)).await;
    let retried = changes::apply(&db, &actor(), Change::Retry, &JobSearch::default(), 10).await;
    assert_eq!(retried.expect("a write"), 1);
    assert_eq!(next_claimed(&db, &accounts, 4).await, [1, 0, 1, 1]);
}

/// A snapshot that stays open keeps the index entries of all jobs that are claimed after it.
#[tokio::test]
async fn the_turn_of_a_job_is_found_without_the_jobs_that_were_claimed_and_those_of_other_accounts() {
    let options = Cluster::shared().database().await;
    let db = Database::connect("akhar-test", options.clone().into(), 8).await.expect("it answers").pool;
    let accounts = [Uuid::now_v7(), Uuid::now_v7()];
    let mut of_snapshot = db.servers().connect().await.expect("a connection");
    let mut snapshot =
        of_snapshot.begin_with("begin isolation level repeatable read").await.expect("a transaction");
    sqlx::query("select count(*) from jobs").execute(&mut *snapshot).await.expect("a snapshot");
    insert(&db, &jobs(accounts[0], 100, false)).await;
    next_claimed(&db, &accounts, 100).await;
    insert(&db, &jobs(accounts[1], 100, false)).await;
    insert(&db, &jobs(accounts[0], 2, false)).await;
    let new = jobs(accounts[0], 1, false);
    let mut of_transaction = db.servers().connect().await.expect("a connection");
    let mut transaction = of_transaction.begin().await.expect("a transaction"); // its counts are reported at its end
    let before = n_read(&mut transaction).await;
    store::submit(&mut transaction, &[&new[0]]).await.expect("a write");
    let submitted = n_read(&mut transaction).await;
    store::claim(&mut *transaction, "a", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
    let claimed = n_read(&mut transaction).await;
    transaction.rollback().await.expect("it answers");
    assert_eq!((submitted - before, claimed - submitted), (1, 0), "the account's last waiting job");
    snapshot.rollback().await.expect("it answers");
}

/// The number of index entries that this connection has read for turns.
async fn n_read(db: &mut PgConnection) -> i64 {
    sqlx::query_scalar(
        "select pg_stat_get_xact_tuples_returned(oid) from pg_class where relname = 'jobs_unended_of_account'",
    )
    .fetch_one(db)
    .await
    .expect("a number")
}

#[tokio::test]
async fn an_asynchronous_job_is_claimed_although_callers_keep_all_workers_busy() {
    let db = database().await;
    let submissions = Submissions::start(&db, &Admission::new(1000, &QUEUES));
    let asynchronous = new_job(true);
    submissions.submit(Arc::new(asynchronous.clone())).await.expect("it is accepted");
    sqlx::query("update jobs set created_at = now() - interval '2 minutes'")
        .execute(&db)
        .await
        .expect("a write");
    let mut n_before = 0;
    // Each claim takes the asynchronous job with a probability of one quarter.
    loop {
        submissions.submit(Arc::new(new_job(false))).await.expect("it is accepted");
        let claimed = store::claim(&db, "a", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
        assert_eq!(claimed.len(), 1);
        if claimed[0].fence.job == asynchronous.id {
            break;
        }
        n_before += 1;
        assert!(n_before < 300, "the asynchronous job is never claimed");
    }
}

#[tokio::test]
async fn a_claim_of_many_jobs_takes_an_old_asynchronous_job_once() {
    let db = database().await;
    for _ in 0..20 {
        let asynchronous = new_job(true);
        crate::queue::insert(&db, &[&asynchronous, &new_job(false)]).await;
        sqlx::query("update jobs set created_at = now() - interval '2 minutes'")
            .execute(&db)
            .await
            .expect("a write");
        let claimed = store::claim(&db, "a", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
        assert_eq!(claimed.len(), 1, "never more than asked for");
        let claimed = store::claim(&db, "a", &[FreePlaces::any(QUICK, 3), FreePlaces::any(SPEECH, 2)])
            .await
            .expect("a claim");
        assert_eq!(claimed.len(), 1, "the other job");
    }
}

/// A job with a large upload is on disk once it is submitted, because the api does not keep the upload.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_upload_survives_a_crash_while_its_caller_waits() {
    let cluster = Cluster::own();
    cluster.flush_late().await;
    let db = Pool::new(cluster.database().await.into(), 10);
    let submissions = Submissions::start(&db, &Admission::new(100, &QUEUES));
    let small = new_job(false);
    let mut large = new_job(false);
    if let Some(upload) = &mut large.upload {
        upload.content = UploadContent::Row(vec![7; 100_000].into());
    }
    assert!(large.is_flushed() && !small.is_flushed());
    let id = large.id;
    submissions.submit(Arc::new(large)).await.expect("it is accepted");
    submissions.submit(Arc::new(small)).await.expect("it is accepted");
    cluster.kill().await;
    cluster.start_again().await;
    let found = until("the database answers", async || {
        let query = "select id, length(upload) from jobs";
        sqlx::query_as::<_, (Uuid, i32)>(query).fetch_all(&db).await.ok()
    })
    .await;
    assert_eq!(found, [(id.0, 100_000)]);
}

/// The requests come one after another, so that the api needs memory for the reading of only one at a time.
#[tokio::test(flavor = "multi_thread")]
async fn the_api_does_not_keep_the_uploads_of_callers_that_wait() {
    let stack = Stack::with().workers(0).start().await;
    let recording = wav(&silence(60));
    let mut waiting = JoinSet::new();
    let mut before_kib = 0;
    for n in 1..=41 {
        waiting.spawn(send(stack.post("speech-recognition", &Form::upload(&recording))));
        stack.jobs_are(n, "queued").await;
        if n == 1 {
            (before_kib, _) = stack.api.memory_kib();
        }
    }
    let (after_kib, _) = stack.api.memory_kib();
    let uploads_kib = u64::try_from(recording.len() * 40 / 1024).expect("it fits");
    let grown_kib = after_kib.saturating_sub(before_kib);
    assert!(grown_kib < uploads_kib / 2, "{grown_kib} KiB for {uploads_kib} KiB of waiting uploads");
}
