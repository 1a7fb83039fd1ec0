//! The rules of the queue, tested on its statements and its backend: which jobs are accepted, which are
//! claimed first, and which ends count.

use std::{collections::HashSet, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use akhar_jobs::{
    Fence, FreePlaces, GroupName, JobId, MAX_ATTEMPTS, NewJob, Places,
    backend::{Admission, Claims, JobBackend, NotAccepted, Submissions, SubmitError, Wakeups},
    fair_share::Limit,
    store::{self, QueueMode, Requeue, RunningJob, Submitted},
};
use akhar_operators::{
    queues::{self, ModeChange},
    workers,
};
use akhar_platform::database::Pool;
use akhar_requests::{MediaType, QUEUES, QUICK, SPEECH, Upload};
use akhar_tests::{Cluster, Stack, ops::actor, until};
use apalis_core::{
    backend::{Backend as _, persistence::Persistence as _},
    task::Task,
    worker::context::WorkerContext,
};
use futures::future::join_all;
use sqlx::{
    Connection as _,
    postgres::{PgListener, PgPoolOptions},
};
use uuid::Uuid;

use crate::{claim, digit, end, submit};

/// The running jobs, as a sweeper finds them that takes every worker for dead.
async fn lost(db: &Pool) -> Vec<RunningJob> {
    let heartbeats = store::heartbeats(db).await.expect("heartbeats");
    store::lost(db, &heartbeats).await.expect("a sweep")
}

async fn database() -> Pool {
    Pool::new(Cluster::shared().database().await.into(), 10)
}

pub(crate) fn new_job(asynchronous: bool) -> NewJob {
    let upload = Upload { media_type: MediaType::Png, bytes: digit().bytes.into() };
    NewJob { upload: Some(upload.into()), asynchronous, ..akhar_tests::queue::new_job() }
}

/// Inserts jobs.
pub(crate) async fn insert(db: &Pool, jobs: &[&NewJob]) -> Vec<Submitted> {
    akhar_tests::queue::submit(db, jobs).await.expect("a write")
}

/// The number of waiting jobs of the quick queue.
async fn n_waiting(db: &Pool) -> i64 {
    let counted = store::waiting(db, QUICK, None).await.expect("a count");
    counted.iter().map(|of_account| of_account.n).sum()
}

fn requeue(fence: Fence, delay: Duration) -> [Requeue; 1] {
    [Requeue { fence, is_spent: true, is_death: false, delay, error: "a test".to_owned() }]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_worker_cannot_end_its_successors_job() {
    let stack = Stack::with().workers(0).start().await;
    let (db, job) = (&stack.db, submit(&stack).await);
    let first = claim(db, "first").await.expect("it is queued");
    assert_eq!(claim(db, "second").await, None, "it is claimed");
    assert_eq!(lost(db).await, [RunningJob { fence: first, is_last_attempt: false, is_suspect: false }]);
    assert_eq!(store::requeue(db, &requeue(first, Duration::ZERO)).await.expect("a write"), [true]);
    let second = claim(db, "second").await.expect("it is queued again");
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert!(!end(db, first, "first").await);
    assert!(end(db, second, "second").await);
    assert!(!end(db, second, "again").await);
    let label: String =
        stack.row("select outcome #>> '{predictions,0,label}' from jobs where id = $1", job).await;
    assert_eq!(label, "second");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_attempt_is_repeated_and_the_last_one_fails_the_job() {
    let mut stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    sqlx::query("update jobs set upload = null, media_type = null")
        .execute(&stack.db)
        .await
        .expect("a write");
    stack.add_worker().await;
    stack.job_is(job, "failed").await;
    let (attempt, error): (i32, String) = (
        stack.row("select attempt from jobs where id = $1", job).await,
        stack.row("select last_error from jobs where id = $1", job).await,
    );
    assert_eq!(attempt, MAX_ATTEMPTS);
    assert!(error.contains("no upload"), "{error}");
    stack.refused(stack.request("GET", &format!("/v1/jobs/{job}/result")), 500).await;
}

/// A column of an index that a claim changed would make it write an entry to every index.
#[tokio::test]
async fn a_claim_writes_no_index_entry() {
    let db = database().await;
    let jobs = [false, true, false, true].map(new_job);
    insert(&db, &jobs.each_ref()).await;
    let n_without_entries = "select pg_stat_get_xact_tuples_hot_updated('jobs'::regclass)";
    let mut connection = db.servers().connect().await.expect("a connection");
    let mut transaction = connection.begin().await.expect("a transaction"); // its counts are reported at its end
    let free = [FreePlaces::any(QUICK, 9)];
    let claimed = store::claim(&mut *transaction, "a", &free).await.expect("a claim");
    let n: i64 = sqlx::query_scalar(n_without_entries).fetch_one(&mut *transaction).await.expect("a number");
    assert_eq!((claimed.len(), n), (4, 4));
    transaction.rollback().await.expect("it answers");
}

#[tokio::test]
async fn running_jobs_are_found_in_every_queue_whoever_waits_for_them() {
    let db = database().await;
    let mut claimed = HashSet::new();
    for queue in QUEUES {
        let jobs = [false, false, true, true].map(new_job);
        insert(&db, &jobs.each_ref()).await;
        let ids: Vec<Uuid> = jobs.iter().map(|job| job.id.0).collect();
        let moved = sqlx::query("update jobs set queue = $1 where id = any($2)").bind(queue.name()).bind(ids);
        moved.execute(&db).await.expect("a write");
        let free = FreePlaces { n_asynchronous: 1, ..FreePlaces::any(queue, 3) };
        let these = store::claim(&db, "a", &[free]).await.expect("a claim");
        claimed.extend(these.iter().map(|job| job.fence.job));
    }
    let running = store::claimed_by(&db, "a").await.expect("a list");
    assert_eq!(claimed.len(), 3 * QUEUES.len());
    assert_eq!(running.iter().map(|job| job.fence.job).collect::<HashSet<_>>(), claimed);
}

#[tokio::test]
async fn a_requeued_job_is_not_claimed_before_its_delay_is_over() {
    let db = database().await;
    let job = new_job(true);
    insert(&db, &[&job]).await;
    let first = claim(&db, "a").await.expect("it is queued");
    assert_eq!(
        store::requeue(&db, &requeue(first, Duration::from_secs(600))).await.expect("a write"),
        [true]
    );
    assert_eq!(claim(&db, "a").await, None, "it is not due");
    sqlx::query("update jobs set run_at = now()").execute(&db).await.expect("a write");
    let second = claim(&db, "a").await.expect("it is due");
    assert_eq!(second.attempt, 2);
    assert_eq!(store::requeue(&db, &requeue(first, Duration::ZERO)).await.expect("a write"), [false]);
    assert!(end(&db, second, "second").await, "a requeue of an earlier claim changes nothing");
}

/// A crash of Postgres can lose a claim. Then the job is queued again, and neither an end nor a requeue of
/// the lost claim may change it.
#[tokio::test]
async fn a_requeue_of_a_lost_claim_does_not_delay_the_job() {
    let db = database().await;
    let job = new_job(true);
    insert(&db, &[&job]).await;
    let lost = claim(&db, "a").await.expect("it is queued");
    sqlx::query("update jobs set state = 'queued', worker = null, attempt = 0")
        .execute(&db)
        .await
        .expect("a crash");
    assert_eq!(
        store::requeue(&db, &requeue(lost, Duration::from_secs(600))).await.expect("a write"),
        [false]
    );
    assert!(!end(&db, lost, "lost").await);
    assert!(claim(&db, "b").await.is_some(), "it is queued");
}

#[tokio::test]
async fn each_job_of_a_group_gets_its_own_result() {
    let db = database().await;
    let (old, new, unreadable) = (new_job(false), new_job(false), new_job(false));
    insert(&db, &[&old]).await;
    let submitted = insert(&db, &[&old, &new]).await;
    assert_eq!(submitted, [Submitted::Exists, Submitted::Accepted]);

    // Through the backend: the queue has room for three more jobs, and one of these jobs cannot be stored.
    let submissions = Submissions::start(&db, &Admission::new(5, &QUEUES));
    let unreadable = NewJob { request_id: "\0".to_owned(), ..unreadable };
    let mut jobs = vec![old.clone(), unreadable];
    jobs.extend((0..5).map(|_| new_job(false)));
    let answers = join_all(jobs.into_iter().map(|job| submissions.submit(Arc::new(job)))).await;
    let n = |of: fn(&Result<Submitted, SubmitError>) -> bool| answers.iter().filter(|a| of(a)).count();
    assert!(matches!(answers[0], Ok(Submitted::Exists)), "{:?}", answers[0]);
    assert!(matches!(answers[1], Err(SubmitError::Batch(_))), "{:?}", answers[1]);
    let n_waiting = n_waiting(&db).await;
    assert!(n_waiting <= 5, "{n_waiting} jobs are waiting, but at most 5 may wait");
    let n_accepted = n(|a| matches!(a, Ok(Submitted::Accepted)));
    assert_eq!(i64::try_from(n_accepted).expect("few"), n_waiting - 2);
    assert_eq!(n(|a| matches!(a, Err(SubmitError::QueueFull(full)) if full.queue == QUICK)), 5 - n_accepted);
}

/// The answer to its first submission was lost, or a request is repeated with its idempotency key.
#[tokio::test]
async fn a_full_queue_refuses_no_job_that_is_in_it() {
    let db = database().await;
    let submissions = Submissions::start(&db, &Admission::new(1, &QUEUES));
    let [first, second] = [new_job(false), new_job(false)].map(Arc::new);
    assert!(matches!(submissions.submit(first.clone()).await, Ok(Submitted::Accepted)));
    let answers = join_all([&first, &second, &first].map(|job| submissions.submit(job.clone()))).await;
    assert!(
        matches!(
            answers.as_slice(),
            [Ok(Submitted::Exists), Err(SubmitError::QueueFull(_)), Ok(Submitted::Exists)]
        ),
        "{answers:?}"
    );
    assert_eq!(n_waiting(&db).await, 1);
}

/// The first statement is that of another process, or of a connection that was lost.
#[tokio::test]
async fn a_full_queue_refuses_no_job_whose_statement_is_not_committed_yet() {
    let db = database().await;
    let submissions = Submissions::start(&db, &Admission::new(1, &QUEUES));
    assert!(matches!(submissions.submit(new_job(false).into()).await, Ok(Submitted::Accepted)));
    for is_committed in [true, false] {
        let job = Arc::new(new_job(false));
        let mut of_first = db.servers().connect().await.expect("a connection");
        let mut first = of_first.begin().await.expect("a transaction");
        store::submit(&mut first, &[&*job]).await.expect("a write");
        let again = tokio::spawn({
            let submissions = submissions.clone();
            async move { submissions.submit(job).await }
        });
        until("the second statement waits for the first one", async || {
            assert!(!again.is_finished(), "it was answered");
            let query = "select count(*) from pg_locks where not granted and locktype = 'advisory'
                and database = (select oid from pg_database where datname = current_database())";
            let n_waiting: i64 = sqlx::query_scalar(query).fetch_one(&db).await.expect("a count");
            (n_waiting == 1).then_some(())
        })
        .await;
        let ended = if is_committed { first.commit().await } else { first.rollback().await };
        ended.expect("it ends");
        match again.await.expect("no panic") {
            Ok(Submitted::Exists) => assert!(is_committed),
            Err(SubmitError::QueueFull(_)) => assert!(!is_committed),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn urgent_jobs_are_claimed_first_then_the_oldest_and_never_more_than_asked_for() {
    let db = database().await;
    let jobs: Vec<NewJob> = [true, false, true, false, false].map(new_job).into();
    for job in &jobs {
        insert(&db, &[job]).await;
    }
    let mut order = Vec::new();
    for n in [2, 2, 2] {
        let claimed = store::claim(&db, "a", &[FreePlaces::any(QUICK, n), FreePlaces::any(SPEECH, 9)])
            .await
            .expect("a claim");
        assert!(claimed.len() <= n);
        let mut ids: Vec<JobId> = claimed.iter().map(|c| c.fence.job).collect();
        ids.sort_unstable(); // the rows of a statement have no order
        order.extend(ids);
    }
    assert_eq!(order, [1, 3, 0, 4, 2].map(|at| jobs[at].id));
}

/// The worker hears of it later, with its next heartbeat.
#[tokio::test]
async fn no_job_is_claimed_once_a_pause_or_a_drain_is_confirmed() {
    let db = database().await;
    store::beat(&db, "a", &[]).await.expect("a heartbeat");
    let quick = new_job(true);
    insert(&db, &[&quick]).await;
    let n_claimed = async || {
        let claimed = store::claim(&db, "a", &[FreePlaces::any(QUICK, 1), FreePlaces::any(SPEECH, 1)]).await;
        let claimed = claimed.expect("a claim");
        for job in &claimed {
            store::requeue(&db, &requeue(job.fence, Duration::ZERO)).await.expect("a write");
        }
        claimed.len()
    };
    let set = async |mode| {
        queues::set_mode(&db, &actor(), QUICK, &ModeChange::to(mode)).await.expect("a change");
    };
    set(QueueMode::Paused).await;
    assert_eq!(n_claimed().await, 0);
    set(QueueMode::Draining).await;
    assert_eq!(n_claimed().await, 1, "those that wait are run");
    workers::drain(&db, &actor(), "a", true).await.expect("a change");
    assert_eq!(n_claimed().await, 0);
    workers::drain(&db, &actor(), "a", false).await.expect("a change");
    assert_eq!(n_claimed().await, 1);
    set(QueueMode::Paused).await;
    let over = "update queue_controls set until = now() - interval '1 second'";
    sqlx::query(over).execute(&db).await.expect("a write");
    assert_eq!(n_claimed().await, 1, "the pause is over");
}

/// Makes suspects of jobs.
async fn suspect(db: &Pool, jobs: &[&NewJob]) {
    let ids: Vec<Uuid> = jobs.iter().map(|job| job.id.0).collect();
    let suspects = sqlx::query("update jobs set deaths = 2 where id = any($1)").bind(ids);
    suspects.execute(db).await.expect("a write");
}

#[tokio::test]
async fn one_statement_claims_one_suspect_of_all_queues_in_its_turn_beside_other_jobs() {
    let db = database().await;
    let jobs: Vec<NewJob> = (0..6).map(|_| new_job(true)).collect();
    for job in &jobs {
        insert(&db, &[job]).await;
    }
    suspect(&db, &[&jobs[1], &jobs[3], &jobs[4], &jobs[5]]).await;
    let moved = sqlx::query("update jobs set queue = 'speech' where id = $1").bind(jobs[5].id.0);
    moved.execute(&db).await.expect("a write");
    let both = |with_suspect| QUEUES.map(|queue| FreePlaces { with_suspect, ..FreePlaces::any(queue, 2) });
    let claim = async |with_suspect| {
        let claimed = store::claim(&db, "a", &both(with_suspect)).await.expect("a claim");
        let at = |job| jobs.iter().position(|of| of.id == job).expect("one of them");
        let mut claimed: Vec<_> = claimed.iter().map(|c| (at(c.fence.job), c.is_suspect)).collect();
        claimed.sort_unstable();
        claimed
    };
    assert_eq!(claim(true).await, [(0, false), (1, true)]);
    assert_eq!(claim(false).await, [(2, false)]);
    assert_eq!(claim(false).await, []);
    assert_eq!(claim(true).await, [(3, true)]);
    assert_eq!(claim(true).await, [(4, true)]);
    assert_eq!(claim(true).await, [(5, true)]);
}

/// Also while the end of the first one is being written: its worker could still die with it.
#[tokio::test]
async fn a_worker_holds_one_suspect_at_a_time_beside_other_jobs() {
    let db = database().await;
    let jobs: Vec<NewJob> = (0..4).map(|_| new_job(true)).collect();
    for job in &jobs {
        insert(&db, &[job]).await;
    }
    suspect(&db, &[&jobs[0], &jobs[1]]).await;
    let (claims, _dropped) = Claims::start(&db, "a".to_owned(), &QUEUES, |_| Places::any(9));
    let mut backend = JobBackend::new(QUICK, claims.clone(), Arc::new(Wakeups::new(&QUEUES)));
    let worker = WorkerContext::new("a-quick");
    let mut next = async || {
        poll_fn(|cx| backend.poll_ready(cx, &worker)).await.expect("it is ready");
        let task = poll_fn(|cx| backend.poll_next(cx, &worker)).await.expect("a task");
        task.expect("a claim").args.into_job().expect("it was not taken")
    };
    let mut held = [next().await, next().await, next().await];
    held.sort_unstable_by_key(|job| job.claimed.fence.job);
    let ids = held.each_ref().map(|job| job.claimed.fence.job);
    assert_eq!(ids, [jobs[0].id, jobs[2].id, jobs[3].id]);
    let [mut first, ..] = held;
    first.hold.work_is_over();
    let later = new_job(true);
    insert(&db, &[&later]).await;
    assert_eq!(next().await.claimed.fence.job, later.id, "the first suspect is held");
    let query = "select state from jobs where id = $1";
    let second: String = sqlx::query_scalar(query).bind(jobs[1].id.0).fetch_one(&db).await.expect("a row");
    assert_eq!(second, "queued");
    drop(first);
    assert_eq!(next().await.claimed.fence.job, jobs[1].id);
}

/// The calls that apalis makes on the two sides of the queue, without a worker process: push, poll and drop.
#[tokio::test]
async fn the_backend_implements_the_traits_of_apalis() {
    let db = database().await;
    let jobs: Vec<Arc<NewJob>> = (0..4).map(|_| Arc::new(new_job(false))).collect();
    let mut submissions = Submissions::start(&db, &Admission::new(3, &QUEUES));
    let pushed = submissions.push_tasks(jobs.iter().cloned().map(Task::from).collect()).await;
    let NotAccepted(refused) = pushed.expect_err("one too many");
    let [(id, Err(SubmitError::QueueFull(full)))] = refused.as_slice() else { panic!("{refused:?}") };
    assert_eq!((*id, full.queue, full.limit), (jobs[3].id, QUICK, Limit::Queue));

    let (claims, mut dropped) = Claims::start(&db, "apalis".to_owned(), &QUEUES, |_| Places::any(2));
    let mut backend = JobBackend::new(QUICK, claims.clone(), Arc::new(Wakeups::new(&QUEUES)));
    let worker = WorkerContext::new("apalis-quick");
    let mut fetched = Vec::new();
    for _ in 0..2 {
        poll_fn(|cx| backend.poll_ready(cx, &worker)).await.expect("it is ready");
        let task = poll_fn(|cx| backend.poll_next(cx, &worker)).await.expect("a task");
        fetched.push(task.expect("a claim").args);
    }
    let next = poll_fn(|cx| Poll::Ready(backend.poll_next(cx, &worker))).await;
    assert!(next.is_pending(), "as many as there are free places");

    // The consumer drops one claim. The claim arrives in the channel of dropped claims and still uses its
    // place.
    drop(fetched.pop());
    let dropped_claim = dropped.recv().await.expect("a dropped claim");
    assert_eq!(claims.held(QUICK).n_held(), 2, "its place is still in use");
    assert!(claims.unheld().await.expect("an answer").is_empty(), "both are held");
    drop(dropped_claim);
    let n_unheld = claims.unheld().await.expect("an answer").len();
    assert_eq!(n_unheld, 1, "the database has one job of this worker that the worker does not hold");

    let job = fetched.remove(0).into_job().expect("it was not taken");
    assert!(end(&db, job.claimed.fence, "first").await);
    drop(job);
    assert_eq!(claims.held(QUICK).n_held(), 0);
    poll_fn(|cx| backend.poll_close(cx, &worker)).await.expect("it closes");
}

#[tokio::test]
async fn the_end_of_each_job_of_a_cancelled_group_is_announced() {
    let db = database().await;
    let group = GroupName::parse("large").expect("a name");
    let account_id = Uuid::now_v7();
    let job = || NewJob { account_id, upload: None, group: Some(group.clone()), ..new_job(true) };
    // The ids of more jobs than fit into a notification.
    let jobs: Vec<NewJob> = (0..3 * store::MAX_ENDINGS).map(|_| job()).collect();
    insert(&db, &jobs.iter().collect::<Vec<_>>()).await;
    let mut listener =
        PgListener::connect_with(&PgPoolOptions::new().connect_lazy_with(db.servers().options()[0].clone()))
            .await
            .expect("a connection");
    listener.listen(store::JOBS_ENDED).await.expect("it listens");

    let cancelled = store::cancel_group(&db, &QUEUES, account_id, &group).await.expect("a write");
    let ids: HashSet<JobId> = jobs.iter().map(|job| job.id).collect();
    assert_eq!(cancelled.jobs.iter().copied().collect::<HashSet<_>>(), ids);
    let mut announced = HashSet::new();
    while announced.len() < ids.len() {
        let notification = listener.recv().await.expect("a notification");
        announced.extend(notification.payload().split(',').map(|id| JobId(id.parse().expect("an id"))));
    }
    assert_eq!(announced, ids);
}
