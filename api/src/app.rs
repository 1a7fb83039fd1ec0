//! The state that all requests of a process share.

use std::{ops::Deref, sync::Arc, time::Duration};

use akhar_jobs::{
    Operation, Queue,
    backend::{Admission, JobStore, Lookups, Submissions},
};
use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use axum::extract::FromRef;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    auth::{caller::Authenticator, key_cache::KeyCache, rates::Rates},
    budget::Budget,
    input::memory::BodyMemory,
    jobs::{streams::Streams, waiters::Waiters},
};

/// A handle on the shared state, which is cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) database: Database,
    pub(crate) auth: Arc<Authenticator>,
    pub(crate) waiters: Waiters,
    pub(crate) submissions: Submissions,
    pub(crate) lookups: Lookups,
    pub(crate) streams: Streams,
    body_memory: Arc<Budget<Queue>>,
    /// The most bytes of a recording that is sent to the OpenAI-compatible routes.
    pub(crate) max_audio_bytes: usize,
    quick_wait: Duration,
    speech_wait: Duration,
    draining: CancellationToken,
    /// Tasks that go on when their request's client disconnects. A stopping process waits for them.
    pub(crate) tasks: TaskTracker,
}

impl Deref for App {
    type Target = Shared;
    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl FromRef<App> for Arc<Authenticator> {
    fn from_ref(app: &App) -> Self {
        app.auth.clone()
    }
}

impl App {
    /// Creates the shared state and starts the tasks that submit and read jobs.
    pub(crate) fn new(config: &Config, database: Database, shutdown: &Shutdown) -> Self {
        let queue = database.volatile.clone();
        let n_requests = config.max_requests.get();
        let auth = Authenticator {
            database: database.durable.clone(),
            keys: KeyCache::default(),
            requests: Budget::new(n_requests, n_requests - n_requests / 4),
            rates: Rates::default(),
        };
        Self(Arc::new(Shared {
            database,
            auth: Arc::new(auth),
            waiters: Waiters::new(shutdown.deadline.clone()),
            submissions: Submissions::start(&JobStore::to_submit(
                queue.clone(),
                Admission::new(config.max_waiting),
            )),
            lookups: Lookups::start(&queue),
            streams: Streams::start(&queue, config.max_streams),
            body_memory: BodyMemory::budget(config.max_upload_bytes),
            max_audio_bytes: config.max_audio_bytes.get().min(BodyMemory::most(config.max_upload_bytes)),
            quick_wait: Duration::from_secs(config.quick_wait_s),
            speech_wait: Duration::from_secs(config.speech_wait_s),
            draining: shutdown.soft.clone(),
            tasks: TaskTracker::new(),
        }))
    }

    /// How long a request to this operation waits for its outcome before it gets a 202.
    pub(crate) fn wait_limit(&self, operation: Operation) -> Duration {
        match operation.queue() {
            Queue::Quick => self.quick_wait,
            Queue::Speech => self.speech_wait,
        }
    }

    /// The memory for the bodies of this queue's requests.
    pub(crate) fn body_memory(&self, queue: Queue) -> BodyMemory {
        BodyMemory::of(&self.body_memory, queue)
    }

    /// Whether the process is shutting down. It then finishes the requests in progress and accepts no new ones.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    /// A token that is cancelled when the process starts to shut down.
    pub(crate) fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Empties the key cache and wakes all waiters. Call this when notifications may have been missed.
    pub(crate) fn catch_up(&self) {
        self.auth.keys.forget_all();
        self.waiters.wake_all();
    }
}
