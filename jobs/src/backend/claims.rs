//! Claims jobs for one worker process: one statement claims as many jobs as there are free places. Each claim is held
//! until its attempt ends.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::{
    Fence, Queue,
    backend::{
        connection::DedicatedConnection,
        group::{Group, GroupError, Statement},
        held::{HeldByQueue, HeldClaims, Hold},
    },
    store::{self, Claimed},
};

/// A claimed job, held by this process.
#[derive(Debug)]
pub struct ClaimedJob {
    /// The job.
    pub claimed: Claimed,
    /// The entry among the claims that this process holds. Dropping it frees a place for another job.
    pub hold: Hold,
}

/// A claimed job whose attempt has not started.
///
/// No other process takes over a claimed job while this process is alive, so this process must attempt it. apalis
/// drops fetched tasks when it is stopped. A claim that is dropped before its attempt is therefore sent to the
/// receiver that [`Claims::start`] returned.
#[derive(Debug)]
pub struct Claim {
    /// `None` once the attempt has taken the job.
    job: Option<Box<ClaimedJob>>,
    fence: Fence,
    dropped: mpsc::UnboundedSender<ClaimedJob>,
}

impl Claim {
    /// The job's id and the number of this claim.
    pub const fn fence(&self) -> Fence {
        self.fence
    }

    /// Takes the job, to attempt it.
    pub fn into_job(mut self) -> Option<ClaimedJob> {
        self.job.take().map(|job| *job)
    }
}

impl Drop for Claim {
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
    group: Group<ClaimJobs>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Also locked while claims are registered, and while the held claims are compared with the table.
    db: DedicatedConnection,
    worker: String,
    held: HeldByQueue,
}

struct ClaimJobs {
    shared: Arc<Shared>,
    dropped: mpsc::UnboundedSender<ClaimedJob>,
}

impl Statement for ClaimJobs {
    type Item = (Queue, usize);
    type Reply = Vec<Claim>;
    const NAME: &'static str = "claim";
    const MAX_ITEMS: usize = 8;

    fn n_jobs(claims: &[Vec<Claim>]) -> usize {
        claims.iter().map(Vec::len).sum()
    }

    async fn execute(&self, places: &[(Queue, usize)]) -> Result<Vec<Vec<Claim>>, sqlx::Error> {
        let shared = &self.shared;
        let mut db = shared.db.acquire().await?;
        let claimed = store::claim(&mut *db, &shared.worker, places).await;
        let held = claimed.map(|claimed| self.hold(places, claimed));
        db.release(held)
    }
}

impl ClaimJobs {
    /// Registers the claimed jobs and returns the claims for each entry of `places`. Skips a claim that is held
    /// already: an attempt at it is running.
    fn hold(&self, places: &[(Queue, usize)], claimed: Vec<Claimed>) -> Vec<Vec<Claim>> {
        let mut claims: Vec<Vec<Claim>> = places.iter().map(|_| Vec::new()).collect();
        for claimed in claimed {
            let (fence, queue) = (claimed.fence, claimed.queue);
            let Some(hold) = self.shared.held.of(queue).hold(fence) else { continue };
            let job = Some(Box::new(ClaimedJob { claimed, hold }));
            let claim = Claim { job, fence, dropped: self.dropped.clone() };
            if let Some(at) = places.iter().position(|(requested, _)| *requested == queue) {
                claims[at].push(claim);
            }
        }
        claims
    }
}

impl Claims {
    /// Starts the task that claims jobs in the name of `worker`. It uses its own connection with the options of `db`,
    /// and holds at most `max_claims(queue)` claims of each queue at a time. The receiver gets the claims that are
    /// dropped before their attempt. It ends when this handle and all claims are dropped.
    pub fn start(
        db: &PgPool,
        worker: String,
        max_claims: impl Fn(Queue) -> usize,
    ) -> (Self, mpsc::UnboundedReceiver<ClaimedJob>) {
        let held = HeldByQueue::new(max_claims);
        let shared = Arc::new(Shared { db: DedicatedConnection::like(db), worker, held });
        let (dropped, receiver) = mpsc::unbounded_channel();
        let group = Group::start(ClaimJobs { shared: shared.clone(), dropped });
        (Self { group, shared }, receiver)
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

    /// Claims at most `n` jobs of a queue.
    pub(super) async fn claim(&self, queue: Queue, n: usize) -> Result<Vec<Claim>, GroupError> {
        self.group.execute((queue, n)).await
    }

    /// Jobs that the table shows as running for this worker although this process holds no claim of them. The `bool`
    /// says whether the attempt is the job's last. Such a job was claimed by a statement whose result was lost with
    /// its connection, or its end was lost in a crash of Postgres.
    pub async fn unheld(&self) -> Result<Vec<(Fence, bool)>, sqlx::Error> {
        let shared = &self.shared;
        let mut db = shared.db.acquire().await?;
        let running = store::claimed_by(&mut *db, &shared.worker).await;
        let unheld = running
            .map(|running| running.into_iter().filter(|(fence, _)| !shared.held.holds(*fence)).collect());
        db.release(unheld)
    }
}
