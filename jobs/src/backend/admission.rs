//! How much may wait: a queue's bound comes in; how many of some new jobs it still takes comes out.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sqlx::PgPool;

use crate::{Queue, store};

/// A count is used for this long before the next is made beside the submissions.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The bound on jobs that wait in one queue.
///
/// Counting rows with every submission would cost more than the submission. So the last count is kept and
/// what this process submitted since is added, which is never less than what waits of this process's jobs.
/// Where that reaches the bound, the rows are counted before a job is refused. Other processes' jobs are
/// seen with the next count, within a second while jobs are submitted.
#[derive(Debug, Clone)]
pub struct Admission(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_waiting: i64,
    estimates: Mutex<[Estimate; Queue::ALL.len()]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    /// Jobs counted, and submitted since.
    n_waiting: i64,
    /// When the count began; none before the first.
    counted_at: Option<Instant>,
    /// A count is under way.
    is_counting: bool,
}

impl Admission {
    /// At most `max_waiting` jobs may wait in each queue.
    pub fn new(max_waiting: i64) -> Self {
        Self(Arc::new(Inner { max_waiting, estimates: Mutex::default() }))
    }

    /// The bound.
    pub fn max_waiting(&self) -> i64 {
        self.0.max_waiting
    }

    /// How many of `n_new` jobs the queue takes; they count as waiting from now on.
    pub(super) async fn admit(&self, db: &PgPool, queue: Queue, n_new: usize) -> Result<usize, sqlx::Error> {
        let n_new = i64::try_from(n_new).unwrap_or(i64::MAX);
        let estimate = self.lock()[queue as usize];
        let is_first = estimate.counted_at.is_none();
        if is_first || estimate.n_waiting.saturating_add(n_new) > self.0.max_waiting {
            self.count(db, queue).await?;
        } else if estimate.counted_at.is_some_and(|at| at.elapsed() > MAX_AGE) && !estimate.is_counting {
            self.lock()[queue as usize].is_counting = true;
            let (admission, db) = (self.clone(), db.clone());
            tokio::spawn(async move {
                if let Err(error) = admission.count(&db, queue).await {
                    tracing::debug!(%error, "waiting jobs not counted");
                }
                admission.lock()[queue as usize].is_counting = false;
            });
        }
        let mut estimates = self.lock();
        let estimate = &mut estimates[queue as usize];
        let n_admitted = n_new.min(self.0.max_waiting - estimate.n_waiting).max(0);
        estimate.n_waiting += n_admitted;
        Ok(usize::try_from(n_admitted).unwrap_or(0))
    }

    async fn count(&self, db: &PgPool, queue: Queue) -> Result<(), sqlx::Error> {
        let (began, n_before) = (Instant::now(), self.lock()[queue as usize].n_waiting);
        let n_waiting = store::n_waiting(db, queue, self.0.max_waiting).await?;
        let mut estimates = self.lock();
        let estimate = &mut estimates[queue as usize];
        // What was submitted meanwhile may be in the count or not: it counts.
        let n_since = (estimate.n_waiting - n_before).max(0);
        (estimate.n_waiting, estimate.counted_at) = (n_waiting + n_since, Some(began));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, [Estimate; Queue::ALL.len()]> {
        self.0.estimates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
