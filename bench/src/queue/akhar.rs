//! Akhar's queue: jobs are pushed through its apalis backend, and an apalis worker runs them and does
//! nothing. The jobs are asynchronous, so every submission and every end is flushed to disk.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use akhar_jobs::{
    JobId, NewJob, Outcome, Parameters, Places, Queue, TopK,
    backend::{Admission, Claims, Endings, FetchedJob, JobBackend, Submissions, Wakeups},
    store::{Ending, Guard},
    uploads::UploadStore,
};
use akhar_platform::database::{Database, Pool};
use apalis::prelude::*;
use apalis_core::{backend::persistence::Persistence as _, task::Task};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio::sync::Notify;
use uuid::Uuid;

use super::turn::{AT_A_TIME, Mode, Took};

/// Runs `n` empty jobs on a database with the product's schema. The worker holds `n_held` of them at a time.
pub(super) async fn turn(database: &PgConnectOptions, n_held: usize, mode: Mode, n: usize) -> Took {
    let db = Database::connect("akhar-bench", database.clone().into(), 8).await.expect("it answers").pool;
    let wakeups = Arc::new(Wakeups::default());
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
    let mut submissions = Submissions::start(db, &Admission::new(i64::MAX));
    let mut n_left = n;
    while n_left > 0 {
        let n = n_left.min(AT_A_TIME);
        let tasks = (0..n).map(|_| Task::from(Arc::new(empty_job()))).collect();
        submissions.push_tasks(tasks).await.expect("all are accepted");
        n_left -= n;
    }
}

/// A job without an upload.
pub(crate) fn empty_job() -> NewJob {
    let id = Uuid::now_v7();
    NewJob {
        id: JobId(id),
        account_id: Uuid::nil(),
        parameters: Parameters::DigitRecognition { top_k: TopK::new(3).expect("a valid number") },
        upload: None,
        reserved_upload: None,
        recording_url: None,
        request_id: id.to_string(), // like an id that the api makes
        traceparent: None,
        asynchronous: true,
        webhook_url: None,
        retain_s: None,
        group: None,
        group_webhook_url: None,
        labels: BTreeMap::new(),
        max_queued: None,
    }
}

/// Works until `n` jobs have ended in the database.
async fn work(db: Pool, wakeups: Arc<Wakeups>, n_held: usize, n: usize) {
    // A quarter of the places is for jobs that somebody waits for, and nobody waits for these.
    let places = Places::any(n_held * 4 / 3);
    let (claims, _dropped) = Claims::start(&db, "bench".to_owned(), |_| places);
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
                let outcome = Some(Outcome::Predictions { predictions: Vec::new() });
                let guard = Guard::Claimed(job.claimed.fence);
                let ending = Ending { guard, outcome, timing: None, error: None, may_have_webhook: false };
                assert!(endings.end(ending).await.expect("a write"), "another claim has the job");
                drop(job.hold);
                if n_left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    over.notify_one();
                }
                Ok::<(), Infallible>(())
            }
        }
    };
    let max_held = claims.held(Queue::Quick).max_held();
    let worker = WorkerBuilder::new("bench")
        .backend(JobBackend::new(Queue::Quick, claims, wakeups))
        .concurrency(max_held)
        .build(run);
    let stop = async move {
        over.notified().await;
        Ok::<(), WorkerError>(())
    };
    worker.run_until(stop).await.expect("it ends well");
}
