//! All statements of the queue at the same time, on the same jobs. None waits for another that waits for it.

use std::time::Duration;

use akhar_jobs::{
    End, Fence, FreePlaces, GroupName, JobId, NewJob,
    store::{self, Ending, Guard, Requeue},
};
use akhar_operators::{Change, ChangeError, JobSearch, changes, webhooks};
use akhar_platform::database::Database;
use akhar_platform::database::Pool;
use akhar_requests::{QUEUES, QUICK};
use akhar_tests::{Cluster, ops::actor};
use akhar_webhooks::store::{Attempted, Ended, LeaseLimits, is_still_ended, lease, settle};
use futures::future::{BoxFuture, FutureExt as _, join_all};
use uuid::Uuid;

use crate::queue::new_job;

/// The most jobs that one statement changes.
const N_JOBS: usize = 40;

/// How often all statements run at the same time.
const N_ROUNDS: usize = 60;

/// The groups that are marked as ended although a job waits or runs, or that have no row.
const WRONG_GROUPS: &str = "select account_id, group_name from jobs j where state in ('queued', 'running') and group_name is not null
    and not exists (
        select from job_groups g where g.account_id = j.account_id and g.name = j.group_name and g.ended_at is null)";

/// The number of groups whose end is to be announced.
const ENDED_GROUPS: &str =
    "select count(*) from webhook_deliveries where group_name is not null and state = 'pending'";

/// A statement that runs. Returns how many jobs it has deleted.
type Running<'a> = BoxFuture<'a, Result<u64, sqlx::Error>>;

/// The jobs in one state, with the numbers of their claims.
async fn jobs_in(db: &Pool, state: &str) -> Vec<Fence> {
    let query = "select id, attempt from jobs where state = $1 order by id desc limit 40";
    let rows: Vec<(Uuid, i32)> = sqlx::query_as(query).bind(state).fetch_all(db).await.expect("rows");
    rows.into_iter().map(|(job, attempt)| Fence { job: JobId(job), attempt }).collect()
}

fn reversed<T: Clone>(items: &[T]) -> Vec<T> {
    items.iter().rev().cloned().collect()
}

fn submit(db: &Pool, jobs: Vec<NewJob>) -> Running<'_> {
    async move { akhar_tests::queue::submit(db, &jobs.iter().collect::<Vec<_>>()).await.map(|_| 0) }.boxed()
}

fn claim<'a>(db: &'a Pool, worker: &'a str) -> Running<'a> {
    async move { store::claim(db, worker, &[FreePlaces::any(QUICK, N_JOBS / 2)]).await.map(|_| 0) }.boxed()
}

/// Ends running jobs, and cancels queued ones.
fn end(db: &Pool, account_id: Uuid, running: Vec<Fence>, queued: Vec<Fence>) -> Running<'_> {
    // Every third running job is cancelled.
    let of_running = |(n, fence): (usize, Fence)| match n % 3 {
        0 => Guard::Unended { job: fence.job, account_id },
        _ => Guard::Claimed(fence),
    };
    let running = running.into_iter().enumerate().map(of_running);
    let queued = queued.into_iter().map(move |fence| Guard::Queued { job: fence.job, account_id });
    let of = |guard| Ending {
        guard,
        end: match guard {
            Guard::Claimed(_) => End::Failed,
            Guard::Queued { .. } | Guard::Unended { .. } => End::Cancelled,
        },
        timing: None,
        error: None,
        may_have_webhook: true,
    };
    let endings: Vec<_> = running.chain(queued).map(of).collect();
    async move { akhar_tests::queue::end(db, &endings).await.map(|_| 0) }.boxed()
}

fn requeue(db: &Pool, running: Vec<Fence>) -> Running<'_> {
    let of = |fence| Requeue {
        fence,
        is_spent: true,
        is_death: false,
        delay: Duration::ZERO,
        error: "a test".to_owned(),
    };
    let requeues: Vec<_> = running.into_iter().map(of).collect();
    async move { store::requeue(db, &requeues).await.map(|_| 0) }.boxed()
}

fn acknowledge(db: &Pool, job: JobId) -> Running<'_> {
    async move { store::acknowledge(db, job).await.map(|_| 0) }.boxed()
}

/// Leases webhooks, and gives up those that are to be sent.
fn attempt_webhooks(db: &Pool) -> Running<'_> {
    let limits = LeaseLimits { n_free: 40, per_host: 40, per_account: 40, ..LeaseLimits::default() };
    async move {
        for delivery in lease(db, &limits).await? {
            if matches!(delivery.ended, Ended::Job { .. }) || is_still_ended(db, &delivery).await? {
                settle(db, &delivery, &Attempted::Dead("a test".to_owned())).await?;
            }
        }
        Ok(0)
    }
    .boxed()
}

fn find_ends(db: &Pool) -> Running<'_> {
    async move { store::find_ends(db, &QUEUES).await.map(|()| 0) }.boxed()
}

/// The error of the database because of which an operator's change was not made.
fn database(error: ChangeError) -> sqlx::Error {
    match error {
        ChangeError::Database(error) => error,
        ChangeError::Forbidden(forbidden) => panic!("{forbidden}"),
    }
}

fn redeliver(db: &Pool) -> Running<'_> {
    async move {
        webhooks::redeliver_dead(db, &actor()).await.map_err(database)?;
        Ok(0)
    }
    .boxed()
}

/// Returns jobs that the service failed to process to their queues, as an operator does.
fn retry(db: &Pool) -> Running<'_> {
    async move {
        let search = JobSearch::default();
        changes::apply(db, &actor(), Change::Retry, &search, N_JOBS / 4).await.map_err(database)?;
        Ok(0)
    }
    .boxed()
}

/// Deletes jobs that have ended, each as its caller does.
fn delete(db: &Pool, account_id: Uuid, ended: Vec<Fence>) -> Running<'_> {
    async move {
        let mut n_deleted = 0;
        for fence in ended {
            n_deleted += u64::from(store::delete(db, fence.job, account_id).await?.is_some());
        }
        Ok(n_deleted)
    }
    .boxed()
}

fn expire(db: &Pool) -> Running<'_> {
    async move {
        let now = sqlx::query_scalar("select now()").fetch_one(db).await?;
        let clock = store::clock(db, now).await?;
        store::make_due(db).await?;
        store::expire(db, &clock, Duration::ZERO, Duration::ZERO).await
    }
    .boxed()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_of_the_queue_deadlocks_with_another() {
    let options = Cluster::shared().database().await;
    let database = Database::connect("akhar-test", options.clone().into(), 32).await.expect("it answers");
    let (db, account_id) = (&database.pool, Uuid::now_v7());
    let accounts = [account_id, Uuid::now_v7()];
    let mut n_deleted = 0;
    let mut n_ended_groups = 0;
    for _ in 0..N_ROUNDS {
        let (running, queued) = (jobs_in(db, "running").await, jobs_in(db, "queued").await);
        let ended = [jobs_in(db, "failed").await, jobs_in(db, "cancelled").await].concat();
        let webhook_url = Some("https://receiver.example/".into());
        let new = |account_id| {
            // The ids of the jobs are in another order than the names of their groups. A group has few jobs, so that it ends.
            let job = new_job(false);
            let [.., one, two] = job.id.0.into_bytes();
            let group = GroupName::parse(&format!("{}{}", ["c", "a", "b"][usize::from(one % 3)], two % 64));
            let group_webhook_url = webhook_url.clone();
            NewJob { account_id, webhook_url: webhook_url.clone(), group, group_webhook_url, ..job }
        };
        let new_of = |accounts: [Uuid; 2]| -> Vec<_> { (0..N_JOBS).map(|n| new(accounts[n % 2])).collect() };
        let new: Vec<_> = new_of(accounts);
        let mut changes = vec![
            submit(db, new.clone()),
            submit(db, reversed(&new)),
            submit(db, new_of([accounts[1], accounts[0]])),
            retry(db),
            claim(db, "one"),
            claim(db, "two"),
            end(db, account_id, running.clone(), queued[..queued.len() / 4].to_vec()),
            end(db, account_id, reversed(&running), reversed(&queued[..queued.len() / 4])),
            requeue(db, running.clone()),
            requeue(db, reversed(&running)),
            delete(db, account_id, ended.clone()),
            delete(db, account_id, reversed(&ended)),
            expire(db),
            expire(db),
            find_ends(db),
            find_ends(db),
            attempt_webhooks(db),
            attempt_webhooks(db),
            redeliver(db),
        ];
        changes.extend(running.iter().chain(&queued).step_by(20).map(|fence| acknowledge(db, fence.job)));
        for changed in join_all(changes).await {
            n_deleted += changed.expect("no statement fails");
        }
        let wrong: Vec<(Uuid, String)> = sqlx::query_as(WRONG_GROUPS).fetch_all(db).await.expect("rows");
        assert_eq!(wrong, []);
        n_ended_groups += sqlx::query_scalar::<_, i64>(ENDED_GROUPS).fetch_one(db).await.expect("a count");
    }
    let deadlocks = "select deadlocks from pg_stat_database where datname = current_database()";
    let n_deadlocks: i64 = sqlx::query_scalar(deadlocks).fetch_one(db).await.expect("a count");
    assert!(n_deleted > 100, "{n_deleted} jobs ended and were deleted");
    assert!(n_ended_groups > 0, "no group ended");
    assert_eq!(n_deadlocks, 0);
}
