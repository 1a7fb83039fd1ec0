//! The statements of the queue on one table, and their times.

use std::time::Instant;

use akhar_jobs::{
    Fence, FreePlaces, NewJob,
    store::{self, Ending, Guard},
};
use akhar_platform::database::Database;
use akhar_requests::{MediaType, QUICK, Upload};
use akhar_tests::{images::fixture_of, queue};
use sqlx::postgres::PgConnectOptions;
use uuid::Uuid;

/// Jobs in one turn.
pub(super) const PER_TURN: usize = 200;

/// A database, and times of its statements so far, ms.
pub(super) struct Table {
    db: Database,
    /// Submissions of synchronous and of asynchronous jobs.
    pub(super) submit: [Vec<f64>; 2],
    /// Claims of them.
    pub(super) claim: [Vec<f64>; 2],
}

impl Table {
    /// Connects as the product does: its connections plan in their own way.
    pub(super) async fn open(database: &PgConnectOptions) -> Self {
        let db = Database::connect("akhar-bench", database.clone().into(), 4).await.expect("it answers");
        Self { db, submit: Default::default(), claim: Default::default() }
    }

    /// Submits, claims and ends jobs one after another. On the full table, a claim can take one of the waiting jobs.
    pub(super) async fn turn(&mut self, is_asynchronous: bool) {
        let kind = usize::from(is_asynchronous);
        let mut db = self.db.pool.servers().connect().await.expect("a connection");
        for _ in 0..PER_TURN {
            let job = job(is_asynchronous);
            let started = Instant::now();
            store::submit(&mut db, &[&job]).await.expect("a submission");
            self.submit[kind].push(started.elapsed().as_secs_f64() * 1e3);
            let started = Instant::now();
            let claimed =
                store::claim(&mut db, "bench", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
            self.claim[kind].push(started.elapsed().as_secs_f64() * 1e3);
            let fences: Vec<Fence> = claimed.iter().map(|claimed| claimed.fence).collect();
            assert_eq!(fences.len(), 1, "a claim takes one job");
            let endings: Vec<Ending> = fences.into_iter().map(succeeded).collect();
            assert!(store::end(&mut db, &endings).await.expect("a write").any());
        }
    }
}

/// A job for a digit.
pub(super) fn job(asynchronous: bool) -> NewJob {
    let bytes = fixture_of("੫").bytes.into();
    let upload = Upload { media_type: MediaType::Png, bytes };
    NewJob { account_id: Uuid::nil(), upload: Some(upload.into()), asynchronous, ..queue::new_job() }
}

/// The end of a job that recognised nothing.
pub(super) fn succeeded(fence: Fence) -> Ending {
    Ending {
        guard: Guard::Claimed(fence),
        end: queue::answer(),
        timing: None,
        error: None,
        may_have_webhook: false,
    }
}
