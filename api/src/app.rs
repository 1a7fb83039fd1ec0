//! What every request shares: configuration, database and shutdown come in, one cheap handle goes out.

use std::{ops::Deref, sync::Arc, time::Duration};

use akhar_jobs::{
    Operation, Queue,
    backend::{Admission, JobStore, Lookups, Submissions},
};
use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use bytes::Bytes;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{auth::key_cache::KeyCache, jobs::waiters::Waiters, openapi::openapi_json};

/// A handle on what every request shares.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Database,
    pub(crate) keys: KeyCache,
    pub(crate) waiters: Waiters,
    /// One permit for each request held at a time.
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) submissions: Submissions,
    pub(crate) lookups: Lookups,
    pub(crate) openapi_json: Bytes,
    quick_wait: Duration,
    speech_wait: Duration,
    draining: CancellationToken,
}

impl Deref for App {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl App {
    /// One for this process.
    pub(crate) fn new(config: &Config, database: Database, shutdown: &Shutdown) -> Self {
        let queue = database.volatile.clone();
        Self(Arc::new(Shared {
            database,
            keys: KeyCache::default(),
            waiters: Waiters::default(),
            permits: Arc::new(Semaphore::new(config.max_requests.get().min(Semaphore::MAX_PERMITS))),
            submissions: Submissions::start(JobStore::to_submit(
                queue.clone(),
                Admission::new(config.max_waiting),
            )),
            lookups: Lookups::start(queue),
            openapi_json: openapi_json().into(),
            quick_wait: Duration::from_secs(config.quick_wait_s),
            speech_wait: Duration::from_secs(config.speech_wait_s),
            draining: shutdown.soft.clone(),
        }))
    }

    /// How long a response to this operation is held.
    pub(crate) fn wait_limit(&self, operation: Operation) -> Duration {
        match operation.queue() {
            Queue::Quick => self.quick_wait,
            Queue::Speech => self.speech_wait,
        }
    }

    /// Told to stop: what is in flight ends, nothing new begins.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// Announcements may have been missed: everybody looks again.
    pub(crate) fn catch_up(&self) {
        self.keys.forget_all();
        self.waiters.wake_all();
    }
}
