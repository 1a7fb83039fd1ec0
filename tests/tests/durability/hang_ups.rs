//! The tasks of a worker are dropped after each poll, as when it stops: nothing is left in a transaction, and what was
//! written stays.

use std::{future::poll_fn, sync::Arc, time::Duration};

use akhar_jobs::{
    Fence, Places,
    backend::{Claims, Endings, JobBackend, Wakeups},
    store::{self, Ending, Guard, Requeue},
    uploads::{Orphans, UploadStore},
};
use akhar_platform::database::{Database, Pool};
use akhar_tests::{
    Cluster,
    hang_ups::{at_every_poll, at_rest},
};
use futures::future::try_join_all;
use uuid::Uuid;

use crate::{
    claim,
    queue::{insert, new_job},
};

use akhar_requests::{QUEUES, QUICK};
/// The connections of the pool. As many heartbeats at a time are written after each drop.
const N_CONNECTIONS: usize = 3;

/// How long jobs are kept.
const KEPT: Duration = Duration::from_secs(3600);

/// The name under which jobs are claimed.
const WORKER: &str = "worker";

/// What a worker does with the database beside its attempts.
#[derive(Debug, Clone, Copy)]
enum Work {
    Beat,
    Claim,
    Progress,
    End,
    Requeue,
    Cancel,
    Sweep,
    SweepUploads,
    RecordMinute,
    Leave,
}

impl Work {
    const ALL: [Self; 10] = [
        Self::Beat,
        Self::Claim,
        Self::Progress,
        Self::End,
        Self::Requeue,
        Self::Cancel,
        Self::Sweep,
        Self::SweepUploads,
        Self::RecordMinute,
        Self::Leave,
    ];
}

/// The connections of a worker, and others.
struct Worker {
    database: Database,
    endings: Endings,
    claims: Claims,
    db: Pool,
}

impl Worker {
    async fn start() -> Self {
        let options = Cluster::shared().database().await;
        let database = Database::connect("akhar-worker", options.clone().into(), N_CONNECTIONS)
            .await
            .expect("it answers");
        let endings = Endings::start(&database.pool, UploadStore::in_database());
        let (claims, _) = Claims::start(&database.pool, WORKER.to_owned(), &QUEUES, |_| Places::any(1000));
        Self { database, endings, claims, db: Pool::new(options.into(), N_CONNECTIONS) }
    }

    /// Makes a minute due, and one job to be claimed. Claims another one.
    async fn prepare(&self) -> Fence {
        sqlx::query("delete from queue_minutes").execute(&self.db).await.expect("a minute is due");
        insert(&self.db, &[&new_job(true), &new_job(true)]).await;
        claim(&self.db, WORKER).await.expect("a job")
    }

    async fn work(&self, work: Work, fence: Fence) {
        let db = &self.database.pool;
        match work {
            Work::Beat => drop(store::beat(db, WORKER, &[]).await.expect("a write")),
            Work::Claim => self.claim().await,
            Work::Progress => drop(store::note_progress(db, fence, 1.0, 0, &[]).await.expect("a write")),
            Work::End => {
                let ending = Ending::dead(fence, "it broke".to_owned(), true);
                self.endings.end(ending).await.expect("a write");
            }
            Work::Requeue => {
                let error = "it broke".to_owned();
                let requeue =
                    Requeue { fence, is_spent: true, is_death: false, delay: Duration::ZERO, error };
                self.endings.requeue(requeue).await.expect("a write");
            }
            Work::Cancel => drop(store::cancel(db, Guard::Claimed(fence)).await.expect("a write")),
            Work::Sweep => self.sweep().await,
            Work::SweepUploads => {
                Orphans::new(UploadStore::in_database()).pass(db).await.expect("a pass");
            }
            Work::RecordMinute => drop(akhar_operators::minutes::record_minute(db).await.expect("a write")),
            Work::Leave => store::leave(db, "another").await.expect("a write"),
        }
    }

    /// Claims a job as apalis does.
    async fn claim(&self) {
        use apalis_core::{backend::Backend as _, worker::context::WorkerContext};
        let wakeups = Arc::new(Wakeups::new(&QUEUES));
        let mut backend = JobBackend::new(QUICK, self.claims.clone(), wakeups);
        let worker = WorkerContext::new("apalis-quick");
        poll_fn(|context| backend.poll_ready(context, &worker)).await.expect("it is ready");
        drop(poll_fn(|context| backend.poll_next(context, &worker)).await);
    }

    async fn sweep(&self) {
        let db = &self.database.pool;
        let found = store::heartbeats(db).await.expect("heartbeats");
        let clock = store::clock(db, found[0].found_at).await.expect("a time");
        store::lost(db, &found).await.expect("jobs");
        store::overdue(db, &clock, &QUEUES.map(|queue| (queue, KEPT))).await.expect("jobs");
        store::make_due(db).await.expect("a write");
        store::expire(db, &clock, KEPT, KEPT).await.expect("a write");
        store::forget_workers(db, &[]).await.expect("a write");
    }

    /// Checks that nothing is left of what went before, and that writes are kept.
    async fn check(&self) -> Result<(), String> {
        let names: Vec<String> = (0..N_CONNECTIONS).map(|_| Uuid::now_v7().to_string()).collect();
        let beats = try_join_all(names.iter().map(|name| store::beat(&self.database.pool, name, &[])));
        beats.await.map_err(|error| error.to_string())?;
        at_rest(&self.db).await?;
        let kept = sqlx::query_scalar("select count(*) from workers where name = any($1)").bind(&names);
        let n_kept: i64 = kept.fetch_one(&self.db).await.expect("a count");
        match usize::try_from(n_kept) {
            Ok(N_CONNECTIONS) => Ok(()),
            _ => Err(format!("{n_kept} of {N_CONNECTIONS} heartbeats are kept")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_dropped_at_any_moment_leaves_no_transaction_and_undoes_nothing() {
    let mut problems = Vec::new();
    for work in Work::ALL {
        let worker = Worker::start().await;
        let prepare = async || worker.prepare().await;
        let work_on = async |fence| worker.work(work, fence).await;
        match at_every_poll(prepare, work_on, async || worker.check().await).await {
            Ok(ended) => assert!(ended.is_some(), "{work:?} does not end"),
            Err(problem) => problems.push(format!("{work:?} {problem}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
