//! Claims: free places come in; as many jobs are claimed in one statement, each held until its attempt ends.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::sync::mpsc;

use crate::{
    Fence, Queue,
    backend::{
        connection::OwnConnection,
        group::{Group, GroupError, Statement},
        held::{HeldClaims, Hold},
    },
    store::{self, Claimed},
};

/// A claimed job, held by this process.
#[derive(Debug)]
pub struct ClaimedJob {
    /// The job.
    pub claimed: Claimed,
    /// Its place among the claims held; dropped when the attempt is over.
    pub hold: Hold,
}

/// A claimed job on its way to its attempt.
///
/// A claimed job must be attempted, or nobody would until this process has signed off. So a claim that is
/// dropped on the way, as apalis does with what it fetched when it is told to stop, goes into the list that
/// [`Claims::start`] gave out.
#[derive(Debug)]
pub struct Claim {
    /// None once taken.
    job: Option<Box<ClaimedJob>>,
    fence: Fence,
    dropped: mpsc::UnboundedSender<ClaimedJob>,
}

impl Claim {
    /// The job and the number of the claim.
    pub const fn fence(&self) -> Fence {
        self.fence
    }

    /// The job, to attempt it.
    pub fn into_job(mut self) -> Option<ClaimedJob> {
        self.job.take().map(|job| *job)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            let _ = self.dropped.send(*job); // nobody there: the process ends, and others rescue the job
        }
    }
}

/// Claims jobs for one worker process; a handle.
#[derive(Debug, Clone)]
pub struct Claims {
    group: Group<ClaimJobs>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Also held while claims are registered, and while what is held is compared with the table.
    db: OwnConnection,
    worker: String,
    /// By queue, in the order of [`Queue::ALL`].
    held: [HeldClaims; Queue::ALL.len()],
}

impl Shared {
    fn held(&self, queue: Queue) -> &HeldClaims {
        &self.held[queue as usize]
    }
}

struct ClaimJobs {
    shared: Arc<Shared>,
    dropped: mpsc::UnboundedSender<ClaimedJob>,
}

impl Statement for ClaimJobs {
    type Item = (Queue, usize);
    type Reply = Vec<Claim>;
    const MAX_ITEMS: usize = 8;

    async fn execute(&self, places: &[(Queue, usize)]) -> Result<Vec<Vec<Claim>>, sqlx::Error> {
        let shared = &self.shared;
        let mut db = shared.db.acquire().await?;
        let claimed = store::claim(&mut *db, &shared.worker, places).await;
        let held = claimed.map(|claimed| self.hold(places, claimed));
        db.settle(held)
    }
}

impl ClaimJobs {
    /// The claims for each of the places asked for. One that is held already is left to the attempt under way.
    fn hold(&self, places: &[(Queue, usize)], claimed: Vec<Claimed>) -> Vec<Vec<Claim>> {
        let mut claims: Vec<Vec<Claim>> = places.iter().map(|_| Vec::new()).collect();
        for claimed in claimed {
            let (fence, queue) = (claimed.fence, claimed.queue);
            let Some(hold) = self.shared.held(queue).hold(fence) else { continue };
            let job = Some(Box::new(ClaimedJob { claimed, hold }));
            let claim = Claim { job, fence, dropped: self.dropped.clone() };
            if let Some(asked) = places.iter().position(|(of, _)| *of == queue) {
                claims[asked].push(claim);
            }
        }
        claims
    }
}

impl Claims {
    /// Starts the task that claims in `worker`'s name, on a connection of its own like those of `db`, at most `max_claims(queue)` at a time. Claims dropped
    /// on their way to an attempt arrive at the receiver, which ends with this handle and all claims.
    pub fn start(
        db: &PgPool,
        worker: String,
        max_claims: impl Fn(Queue) -> usize,
    ) -> (Self, mpsc::UnboundedReceiver<ClaimedJob>) {
        let held = Queue::ALL.map(|queue| HeldClaims::new(max_claims(queue)));
        let shared = Arc::new(Shared { db: OwnConnection::like(db), worker, held });
        let (dropped, receiver) = mpsc::unbounded_channel();
        let group = Group::start(ClaimJobs { shared: shared.clone(), dropped });
        (Self { group, shared }, receiver)
    }

    /// In whose name jobs are claimed.
    pub fn worker(&self) -> &str {
        &self.shared.worker
    }

    /// The claims held of one queue.
    pub fn held(&self, queue: Queue) -> &HeldClaims {
        self.shared.held(queue)
    }

    /// Claims at most `n` jobs of a queue.
    pub(super) async fn claim(&self, queue: Queue, n: usize) -> Result<Vec<Claim>, GroupError> {
        self.group.execute((queue, n)).await
    }

    /// Jobs that run in this worker's name and are not held, each with whether that was its last attempt:
    /// claimed by a statement whose answer was lost with its connection, or ended by one that a crash of
    /// Postgres forgot.
    pub async fn unheld(&self) -> Result<Vec<(Fence, bool)>, sqlx::Error> {
        let shared = &self.shared;
        let mut db = shared.db.acquire().await?;
        let running = store::claimed_by(&mut *db, &shared.worker).await;
        let is_held = |fence: Fence| shared.held.iter().any(|held| held.holds(fence));
        let unheld =
            running.map(|running| running.into_iter().filter(|(fence, _)| !is_held(*fence)).collect());
        db.settle(unheld)
    }
}
