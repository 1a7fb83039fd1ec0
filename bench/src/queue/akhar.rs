//! Akhar's queue: jobs are pushed through its apalis backend, and an apalis worker runs them and does
//! nothing. The jobs are asynchronous, so every submission and every end is flushed to disk.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use akhar_jobs::{
    NewJob, Places,
    backend::{Admission, Claims, Endings, FetchedJob, JobBackend, Submissions, Wakeups},
    store::{Ending, Guard},
    uploads::UploadStore,
};
use akhar_platform::database::{Database, Pool};
use akhar_requests::{QUEUES, QUICK};
use akhar_tests::queue::{answer, new_job};
use apalis::prelude::*;
use apalis_core::{backend::persistence::Persistence as _, task::Task};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use uuid::Uuid;

use super::turn::{AT_A_TIME, Mode, Took};

/// Runs `n` empty jobs on a database with the product's schema. The worker holds `n_held` of them at a time.
pub(super) async fn turn(database: &PgConnectOptions, n_held: usize, mode: Mode, n: usize) -> Took {
    let db = Database::connect("akhar-bench", database.clone().into(), 8).await.expect("it answers").pool;
    let wakeups = Arc::new(Wakeups::new(&QUEUES));
    let one = PgPoolOptions::new().max_connections(1).connect_lazy_with(database.clone());
    let mut listener = PgListener::connect_with(&one).await.expect("a listener");
    listener.listen(akhar_jobs::store::JOBS_QUEUED).await.expect("it listens");
    let announced = wakeups.clone();
    let listening = tokio::spawn(async move {
        while let Ok(notification) = listener.recv().await {
            announced.announce(notification.payload());
        }
    });
    let working = async || tokio::spawn(work(db.clone(), wakeups, n_held, n)).await.expect("no panic");
    let took = Took::of(mode, async || push_all(&db, n).await, working).await;
    listening.abort();
    db.close();
    took
}

async fn push_all(db: &Pool, n: usize) {
    let mut submissions = Submissions::start(db, &Admission::new(i64::MAX, &QUEUES));
    let mut n_left = n;
    while n_left > 0 {
        let n = n_left.min(AT_A_TIME);
        let tasks =
            (0..n).map(|_| Task::from(Arc::new(NewJob { account_id: Uuid::nil(), ..new_job() }))).collect();
        submissions.push_tasks(tasks).await.expect("all are accepted");
        n_left -= n;
    }
}

/// Works until `n` jobs have ended in the database.
async fn work(db: Pool, wakeups: Arc<Wakeups>, n_held: usize, n: usize) {
    // A quarter of the places is for jobs that somebody waits for, and nobody waits for these.
    let places = Places::any(n_held * 4 / 3);
    let (claims, _dropped) = Claims::start(&db, "bench".to_owned(), &QUEUES, |_| places);
    let endings = Endings::start(&db, UploadStore::in_database());
    let n_left = Arc::new(AtomicUsize::new(n));
    let over = Arc::new(Notify::new());
    let run = {
        let over = over.clone();
        move |fetched: FetchedJob| {
            let endings = endings.clone();
            let n_left = n_left.clone();
            let over = over.clone();
            async move {
                let mut job = fetched.into_job().expect("it is taken once");
                job.hold.work_is_over();
                let guard = Guard::Claimed(job.claimed.fence);
                let ending =
                    Ending { guard, end: answer(), timing: None, error: None, may_have_webhook: false };
                assert!(endings.end(ending).await.expect("a write"), "another claim has the job");
                drop(job.hold);
                if n_left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    over.notify_one();
                }
                Ok::<(), Infallible>(())
            }
        }
    };
    let max_held = claims.held(QUICK).max_held();
    let worker = WorkerBuilder::new("bench")
        .backend(JobBackend::new(QUICK, claims, wakeups))
        .concurrency(max_held)
        .build(run);
    let stop = async move {
        over.notified().await;
        Ok::<(), WorkerError>(())
    };
    worker.run_until(stop).await.expect("it ends well");
}
