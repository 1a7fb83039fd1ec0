//! One queue's consumer as apalis sees it: decides when to fetch, and hands out what was fetched.

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

/// The queue is looked at least this often: the floor under lost notifications.
const FLOOR: Duration = Duration::from_secs(1);

/// Between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// A queue as an apalis backend.
///
/// It fetches when a place is free and one of these holds: jobs were announced since the last fetch began;
/// the last fetch filled every place it had, so that more may wait; nothing was fetched for a second.
pub struct JobBackend {
    persisted: Persisted<JobStore>,
    wakeups: Arc<Wakeups>,
    config: Option<Queue>,
    /// Wake-ups counted when the last fetch began; none when a fetch is due whatever they say.
    n_wakes_seen: Option<u64>,
    /// Places the fetch under way asked for.
    n_asked: usize,
    floor: Pin<Box<Sleep>>,
}

impl std::fmt::Debug for JobBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobBackend").field("queue", &self.config).finish_non_exhaustive()
    }
}

impl JobBackend {
    /// A backend over `store`, woken by `wakeups`.
    pub fn new(store: JobStore, wakeups: Arc<Wakeups>) -> Self {
        Self {
            config: store.queue(),
            persisted: Persisted::new(store),
            wakeups,
            n_wakes_seen: None,
            n_asked: 0,
            floor: Box::pin(tokio::time::sleep(FLOOR)),
        }
    }

    pub(super) fn store(&self) -> &JobStore {
        &self.persisted
    }

    /// Whether a fetch should begin. If not, the task is woken when that may have changed.
    fn is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let (Some(queue), Some(held)) = (self.config, self.persisted.held().cloned()) else { return false };
        let n_wakes = self.wakeups.of(queue).register(cx);
        let is_late = self.floor.as_mut().poll(cx).is_ready();
        let n_free = held.poll_free(cx);
        let is_announced = self.n_wakes_seen != Some(n_wakes);
        if n_free == 0 || !(is_late || is_announced) {
            return false;
        }
        self.floor.as_mut().reset(Instant::now() + FLOOR);
        let _ = self.floor.as_mut().poll(cx); // wakes us even if the fetch never does
        (self.n_wakes_seen, self.n_asked) = (Some(n_wakes), n_free);
        true
    }

    /// Notes how much a fetch brought: as much as it asked for means that there may be more.
    fn note_fetched(&mut self) {
        let n_fetched = match self.persisted.state() {
            State::Buffered(rest) => rest.len() + 1,
            _ => 1,
        };
        if n_fetched >= self.n_asked {
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
                // The fetch found nothing. What was announced meanwhile is looked at now.
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

/// Pushing through the backend itself: apalis's `TaskSink` follows from this.
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
