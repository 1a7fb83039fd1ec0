//! Claims jobs for one worker process: one statement claims as many jobs as there are free places. Each claim is held
//! until its attempt ends.

use std::sync::Arc;

use akhar_platform::database::Pool;
use sqlx::PgConnection;
use tokio::sync::{Mutex, mpsc};

use crate::{
    FreePlaces, Places, Queue,
    backend::{
        batch::{Batch, BatchError, Statement},
        held::{HeldByQueue, HeldClaims, Hold, JobKind},
    },
    store::{self, Claimed, RunningJob},
};

/// A claimed job, held by this process.
#[derive(Debug)]
pub struct ClaimedJob {
    /// The job.
    pub claimed: Claimed,
    /// The entry among the claims that this process holds. It frees a place for another job when the work is over.
    pub hold: Hold,
}

/// A claimed job whose attempt has not started.
///
/// No other process takes over a claimed job while this process is alive, so this process must attempt it. apalis drops
/// fetched tasks when it is stopped. A job that is dropped before its attempt is therefore sent to the receiver that
/// [`Claims::start`] returned.
#[derive(Debug)]
pub struct FetchedJob {
    /// `None` once the attempt has taken the job.
    job: Option<Box<ClaimedJob>>,
    dropped: mpsc::UnboundedSender<ClaimedJob>,
}

impl FetchedJob {
    /// Takes the job, to attempt it.
    pub fn into_job(mut self) -> Option<ClaimedJob> {
        self.job.take().map(|job| *job)
    }
}

impl Drop for FetchedJob {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            // If the receiver is gone, the process is ending, and another worker recovers the job.
            let _ = self.dropped.send(*job);
        }
    }
}

/// A handle on the task that claims jobs for one worker process.
#[derive(Debug, Clone)]
pub struct Claims {
    batch: Batch<ClaimJobs>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    db: Pool,
    worker: String,
    held: HeldByQueue,
    /// Locked from a claim until it is held, and while the held claims are compared with the table.
    claiming: Mutex<()>,
}

struct ClaimJobs {
    shared: Arc<Shared>,
    dropped: mpsc::UnboundedSender<ClaimedJob>,
}

impl Statement for ClaimJobs {
    type Item = FreePlaces;
    type Reply = Vec<FetchedJob>;
    const NAME: &'static str = "claim";
    const MAX_ITEMS: usize = 8;

    fn n_jobs(fetched: &[Vec<FetchedJob>]) -> usize {
        fetched.iter().map(Vec::len).sum()
    }

    async fn execute(
        &self,
        db: &mut PgConnection,
        places: &[FreePlaces],
    ) -> Result<Vec<Vec<FetchedJob>>, sqlx::Error> {
        let _claiming = self.shared.claiming.lock().await;
        let with_suspect = !self.shared.held.has_suspect();
        let places: Vec<_> = places.iter().map(|free| FreePlaces { with_suspect, ..free.clone() }).collect();
        let claimed = store::claim(db, &self.shared.worker, &places).await?;
        Ok(self.hold(&places, claimed))
    }
}

impl ClaimJobs {
    /// Holds the claims and returns the jobs for each entry of `places`. Skips a claim that is held already: an attempt
    /// at it is running.
    fn hold(&self, places: &[FreePlaces], claimed: Vec<Claimed>) -> Vec<Vec<FetchedJob>> {
        let mut fetched: Vec<Vec<FetchedJob>> = places.iter().map(|_| Vec::new()).collect();
        for claimed in claimed {
            let queue = claimed.queue;
            let claims = self.shared.held.of(queue);
            let kind = JobKind {
                account_id: claimed.account_id,
                is_asynchronous: claimed.is_asynchronous,
                is_large: claimed.is_large(),
                is_suspect: claimed.is_suspect,
            };
            let Some(hold) = claims.hold(claimed.fence, kind) else { continue };
            let job = Some(Box::new(ClaimedJob { claimed, hold }));
            let job = FetchedJob { job, dropped: self.dropped.clone() };
            if let Some(at) = places.iter().position(|requested| requested.queue == queue) {
                fetched[at].push(job);
            }
        }
        fetched
    }
}

impl Claims {
    /// Starts the task that claims jobs in the name of `worker`. It uses its own connection with the options of `db`,
    /// and runs as many jobs of each of these queues at a time as it has places. The receiver gets the claims that are
    /// dropped before their attempt. It ends when this handle and all claims are dropped.
    pub fn start(
        db: &Pool,
        worker: String,
        queues: &'static [Queue],
        places: impl Fn(Queue) -> Places,
    ) -> (Self, mpsc::UnboundedReceiver<ClaimedJob>) {
        let held = HeldByQueue::new(queues, places);
        let shared = Arc::new(Shared { db: db.clone(), worker, held, claiming: Mutex::default() });
        let (dropped, receiver) = mpsc::unbounded_channel();
        let batch = Batch::start(db.of_task(), ClaimJobs { shared: shared.clone(), dropped });
        (Self { batch, shared }, receiver)
    }

    /// The name of the worker that jobs are claimed for.
    pub fn worker(&self) -> &str {
        &self.shared.worker
    }

    /// The claims of one queue that this process holds.
    pub fn held(&self, queue: Queue) -> &HeldClaims {
        self.shared.held.of(queue)
    }

    /// A handle on the claims of all queues, which does not keep the task of this one alive.
    pub fn all_held(&self) -> HeldByQueue {
        self.shared.held.clone()
    }

    /// Claims jobs of a queue for free places.
    pub(super) async fn claim(&self, queue: Queue) -> Result<Vec<FetchedJob>, BatchError> {
        match self.held(queue).free(queue) {
            None => Ok(Vec::new()),
            Some(free) => self.batch.execute(free).await,
        }
    }

    /// Jobs that the table shows as running for this worker although this process holds no claim of them. Such a job was
    /// claimed by a statement whose result was lost with its connection, or its end was lost in a crash of Postgres.
    pub async fn unheld(&self) -> Result<Vec<RunningJob>, sqlx::Error> {
        let shared = &self.shared;
        let _no_claim_begins = shared.claiming.lock().await;
        let mut running = store::claimed_by(&shared.db, &shared.worker).await?;
        running.retain(|job| !shared.held.holds(job.fence));
        Ok(running)
    }
}
