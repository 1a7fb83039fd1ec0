//! Which jobs this process holds: a claimed job comes in when its ticket is taken, and goes out when its
//! attempt ends.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use akhar_jobs::JobId;

/// The jobs held; a handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct InHand(Arc<Mutex<HashSet<JobId>>>);

/// A job held, until dropped.
#[derive(Debug)]
pub(crate) struct Held {
    jobs: InHand,
    job: JobId,
}

impl InHand {
    fn lock(&self) -> MutexGuard<'_, HashSet<JobId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job in hand.
    pub(crate) fn hold(&self, job: JobId) -> Held {
        self.lock().insert(job);
        Held { jobs: self.clone(), job }
    }

    /// Whether a job is held.
    pub(crate) fn holds(&self, job: JobId) -> bool {
        self.lock().contains(&job)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.jobs.lock().remove(&self.job);
    }
}
