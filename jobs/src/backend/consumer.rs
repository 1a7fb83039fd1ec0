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
        persistence::{Persisted, Persistence, State, TaskEvent},
    },
    task::Task,
    worker::context::WorkerContext,
};
use tokio::time::{Instant, Sleep};
use tower::layer::util::Identity;

use crate::{
    Queue,
    backend::{
        batch::BatchError,
        claims::{Claims, FetchedJob},
        wakeups::Wakeups,
    },
};

/// The queue is polled at least this often, because a notification can be lost.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The side of a queue that claims jobs, as apalis's [`Persistence`]: fetching claims.
#[derive(Debug, Clone)]
struct Consumer {
    queue: Queue,
    claims: Claims,
}

impl Persistence for Consumer {
    type Compact = FetchedJob;
    type Response = ();
    type Error = BatchError;

    async fn fetch_next(&mut self, _: &WorkerContext) -> Result<Vec<Task<FetchedJob>>, BatchError> {
        let fetched = self.claims.claim(self.queue).await?;
        Ok(fetched.into_iter().map(Task::from).collect())
    }

    /// Called with the tasks that apalis fetched and did not start. Dropping a task sends its job to the worker, which
    /// attempts it (see [`FetchedJob`]).
    async fn reenqueue_abandoned(
        &mut self,
        tasks: Vec<Task<FetchedJob>>,
        _: &WorkerContext,
    ) -> Result<u64, BatchError> {
        Ok(tasks.len() as u64)
    }

    // The heartbeats are the worker's: they must go on while its consumers stop. The endings are not apalis's events,
    // because they would wait for a fetch. A consumer submits nothing: a job that is pushed back is dropped and attempted.

    async fn register(&mut self, _: &WorkerContext) -> Result<(), BatchError> {
        Ok(())
    }

    async fn heartbeat(&mut self, _: &WorkerContext) -> Result<(), BatchError> {
        Ok(())
    }

    async fn handle_events(&mut self, _: Vec<TaskEvent<()>>, _: &WorkerContext) -> Result<(), BatchError> {
        Ok(())
    }

    async fn push_tasks(&mut self, _: Vec<Task<FetchedJob>>) -> Result<(), BatchError> {
        Ok(())
    }
}

/// A queue as an apalis backend.
///
/// It fetches when this process may take another job of the queue and one of these is true:
/// - jobs were announced since the last fetch began, or a place became free that only some jobs can have;
/// - the last fetch returned as many jobs as it asked for, so more may be waiting;
/// - the last fetch began a second ago or earlier.
pub struct JobBackend {
    persisted: Persisted<Consumer>,
    wakeups: Arc<Wakeups>,
    /// The number of wake-ups, and that of freed shares, when the last fetch began. `None` if a fetch is due without a
    /// further one.
    seen: Option<(u64, u64)>,
    /// The number of jobs that the last fetch asked for.
    n_requested: usize,
    poll_timer: Pin<Box<Sleep>>,
}

impl std::fmt::Debug for JobBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobBackend").field("queue", &self.persisted.queue).finish_non_exhaustive()
    }
}

impl JobBackend {
    /// A backend that claims jobs of `queue` and is woken by `wakeups`.
    pub fn new(queue: Queue, claims: Claims, wakeups: Arc<Wakeups>) -> Self {
        Self {
            persisted: Persisted::new(Consumer { queue, claims }),
            wakeups,
            seen: None,
            n_requested: 0,
            poll_timer: Box::pin(tokio::time::sleep(POLL_INTERVAL)),
        }
    }

    /// Whether a fetch should begin. If not, the task is woken when the answer may have changed.
    fn is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let queue = self.persisted.queue;
        let n_wakes = self.wakeups.of(queue).register(cx);
        let is_late = self.poll_timer.as_mut().poll(cx).is_ready();
        let free = self.persisted.claims.held(queue).poll_free(cx);
        let seen = Some((n_wakes, free.n_shares_freed));
        let is_announced = self.seen != seen;
        if free.n == 0 || !(is_late || is_announced) {
            return false;
        }
        self.poll_timer.as_mut().reset(Instant::now() + POLL_INTERVAL);
        let _ = self.poll_timer.as_mut().poll(cx); // wakes this task even if the fetch never does
        self.seen = seen;
        self.n_requested = free.n;
        true
    }

    /// Makes the next fetch due at once if the last one returned as many jobs as it asked for.
    fn note_fetched(&mut self) {
        let n_fetched = match self.persisted.state() {
            State::Buffered(rest) => rest.len() + 1,
            _ => 1,
        };
        if n_fetched >= self.n_requested {
            self.seen = None;
        }
    }
}

impl Backend for JobBackend {
    type Task = Task<FetchedJob>;
    type Error = BatchError;

    fn poll_ready(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), BatchError>> {
        self.persisted.poll_ready(cx, worker, Duration::MAX)
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<Task<FetchedJob>, BatchError>>> {
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

    fn poll_close(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), BatchError>> {
        self.persisted.poll_close(cx, worker)
    }
}

/// apalis builds a worker only from a backend with a configuration and a layer. This one needs neither.
impl BackendConfig for JobBackend {
    type Args = FetchedJob;
    type Id = ();
    type Kind = Ephemeral;
    type Config = ();
    type Layer = Identity;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Identity {
        Identity::new()
    }
}
