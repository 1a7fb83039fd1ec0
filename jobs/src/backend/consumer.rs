//! The apalis backend of one queue: decides when to fetch jobs, and returns fetched jobs to apalis.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use apalis_core::{
    backend::{
        Backend, BackendConfig,
        finalize::Ephemeral,
        persistence::{Persisted, State},
    },
    task::Task,
    worker::context::WorkerContext,
};
use futures::Sink;
use tokio::time::{Instant, Sleep};
use tower::layer::util::Identity;

use crate::{
    Queue,
    backend::{
        persistence::{JobStore, JobTask, QueueError},
        wakeups::Wakeups,
    },
};

/// The queue is polled at least this often, because a notification can be lost.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A queue as an apalis backend.
///
/// It fetches when this process may take another job of the queue and one of these is true:
/// - jobs were announced since the last fetch began;
/// - the last fetch returned as many jobs as it asked for, so more may be waiting;
/// - the last fetch began a second ago or earlier.
pub struct JobBackend {
    persisted: Persisted<JobStore>,
    wakeups: Arc<Wakeups>,
    config: Option<Queue>,
    /// The number of wake-ups when the last fetch began. `None` if a fetch is due without a further wake-up.
    n_wakes_seen: Option<u64>,
    /// The number of jobs that the last fetch asked for.
    n_requested: usize,
    poll_timer: Pin<Box<Sleep>>,
}

impl std::fmt::Debug for JobBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobBackend").field("queue", &self.config).finish_non_exhaustive()
    }
}

impl JobBackend {
    /// A backend that fetches from `store` and is woken by `wakeups`.
    pub fn new(store: JobStore, wakeups: Arc<Wakeups>) -> Self {
        Self {
            config: store.queue(),
            persisted: Persisted::new(store),
            wakeups,
            n_wakes_seen: None,
            n_requested: 0,
            poll_timer: Box::pin(tokio::time::sleep(POLL_INTERVAL)),
        }
    }

    pub(super) fn store(&self) -> &JobStore {
        &self.persisted
    }

    /// Whether a fetch should begin. If not, the task is woken when the answer may have changed.
    fn is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let (Some(queue), Some(held)) = (self.config, self.persisted.held().cloned()) else { return false };
        let n_wakes = self.wakeups.of(queue).register(cx);
        let is_late = self.poll_timer.as_mut().poll(cx).is_ready();
        let n_free = held.poll_free(cx);
        let is_announced = self.n_wakes_seen != Some(n_wakes);
        if n_free == 0 || !(is_late || is_announced) {
            return false;
        }
        self.poll_timer.as_mut().reset(Instant::now() + POLL_INTERVAL);
        let _ = self.poll_timer.as_mut().poll(cx); // wakes this task even if the fetch never does
        (self.n_wakes_seen, self.n_requested) = (Some(n_wakes), n_free);
        true
    }

    /// Makes the next fetch due at once if the last one returned as many jobs as it asked for.
    fn note_fetched(&mut self) {
        let n_fetched = match self.persisted.state() {
            State::Buffered(rest) => rest.len() + 1,
            _ => 1,
        };
        if n_fetched >= self.n_requested {
            self.n_wakes_seen = None;
        }
    }
}

impl Backend for JobBackend {
    type Task = Task<JobTask>;
    type Error = QueueError;

    fn poll_ready(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), QueueError>> {
        self.persisted.poll_ready(cx, worker, HEARTBEAT)
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<Task<JobTask>, QueueError>>> {
        loop {
            let is_buffered = matches!(self.persisted.state(), State::Buffered(_));
            if matches!(self.persisted.state(), State::Ready) && !self.is_due(cx) {
                return Poll::Pending;
            }
            let next = self.persisted.poll_next(cx, worker);
            match &next {
                Poll::Ready(Some(Ok(_))) if !is_buffered => self.note_fetched(),
                // The fetch found nothing. Jobs may have been announced in the meantime, so check again.
                Poll::Pending if matches!(self.persisted.state(), State::Ready) => continue,
                _ => (),
            }
            return next;
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), QueueError>> {
        self.persisted.poll_close(cx, worker)
    }
}

impl BackendConfig for JobBackend {
    type Args = JobTask;
    type Id = uuid::Uuid;
    type Kind = Ephemeral;
    type Config = Option<Queue>;
    type Layer = Identity;

    fn config(&self) -> &Option<Queue> {
        &self.config
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Identity {
        Identity::new()
    }
}

/// Pushes tasks through the backend. apalis implements `TaskSink` for every such sink.
impl Sink<Task<JobTask>> for JobBackend {
    type Error = QueueError;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), QueueError>> {
        Sink::poll_ready(Pin::new(&mut self.persisted), cx)
    }

    fn start_send(mut self: Pin<&mut Self>, task: Task<JobTask>) -> Result<(), QueueError> {
        Sink::start_send(Pin::new(&mut self.persisted), task)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), QueueError>> {
        Sink::poll_flush(Pin::new(&mut self.persisted), cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), QueueError>> {
        Sink::poll_close(Pin::new(&mut self.persisted), cx)
    }
}
