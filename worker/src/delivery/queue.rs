//! The apalis adapter: a queue's tickets come in; attempts are started. The only file here that names
//! apalis.
//!
//! apalis gives the worker, its limits, consumers' heartbeats and the re-delivery of what dead ones held.
//! What is ours, and why: the backend, built on apalis's own state machine, because the stock one loses
//! wake-ups that arrive during an empty fetch (or polls for seconds) and wraps every statement in a
//! transaction; there is no acknowledgement, because the finish deletes the ticket in its own
//! statement; and a consumer that a database error ended is rebuilt under a new name.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use akhar_jobs::{
    Queue, TicketId,
    store::{self, Taken},
};
use akhar_platform::config::Config;
use apalis::prelude::*;
use apalis_core::backend::{
    BackendConfig,
    finalize::Ephemeral,
    persistence::{Persisted, Persistence, State, TaskEvent},
};
use apalis_postgres::{Error as StorageError, queries};
use sqlx::PgPool;
use tokio::{sync::oneshot, time::Sleep};
use tower::layer::util::Identity;
use ulid::Ulid;

use crate::{
    delivery::{attempt::Attempts, in_hand::Held, wakeup::Bells},
    liveness::sweeper::SILENCE,
};

/// The queue is looked at least this often: the floor under lost notifications.
const FLOOR: Duration = Duration::from_secs(1);

/// apalis's heartbeat; a consumer silent for [`SILENCE`] loses its tickets.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Wait before an ended consumer is rebuilt; spread so that processes do not return at once.
const REBUILD: Duration = Duration::from_millis(200);

/// What one queue's consumer may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Attempts at a time.
    concurrency: usize,
    /// Time an attempt may take.
    timeout: Duration,
}

impl Limits {
    pub(crate) fn of(queue: Queue, config: &Config) -> Self {
        let (concurrency, timeout_s) = match queue {
            Queue::Quick => (config.worker_concurrency.get(), config.quick_timeout_s),
            Queue::Speech => (config.speech_concurrency.get(), config.speech_timeout_s),
        };
        Self { concurrency, timeout: Duration::from_secs(timeout_s) }
    }
}

/// Consumes one queue until told to stop; rebuilds the consumer whenever apalis gives up.
pub(crate) async fn consume(queue: Queue, limits: Limits, attempts: Arc<Attempts>, bells: Arc<Bells>) {
    let soft = attempts.shutdown.soft.clone();
    while !soft.is_cancelled() {
        let consumer = format!("{}-{}-{}", attempts.worker, queue.name(), Ulid::generate());
        tracing::debug!(queue = queue.name(), consumer, "consuming");
        let ended = consume_as(&consumer, queue, limits, &attempts, &bells).await;
        if let Err(error) = store::release_tickets(&attempts.database.volatile, &consumer).await {
            tracing::debug!(%error, "tickets not released: they are freed by its silence");
        }
        if !soft.is_cancelled() {
            tracing::warn!(queue = queue.name(), error = ended.err(), "queue consumer ended: rebuilding");
            tokio::time::sleep(REBUILD.mul_f64(1.0 + rand::random::<f64>())).await;
        }
    }
}

async fn consume_as(
    consumer: &str,
    queue: Queue,
    limits: Limits,
    attempts: &Arc<Attempts>,
    bells: &Arc<Bells>,
) -> Result<(), String> {
    let store =
        TicketStore { queue, timeout: limits.timeout, attempts: attempts.clone(), more: Arc::default() };
    let tickets = Tickets::new(store, bells.clone());
    let soft = attempts.shutdown.soft.clone();
    let deliver = |parcel: Parcel| async {
        parcel.deliver().await;
        Ok::<(), Infallible>(())
    };
    let worker = WorkerBuilder::new(consumer).backend(tickets).concurrency(limits.concurrency).build(deliver);
    let stop = async move {
        soft.cancelled().await;
        Ok::<(), WorkerError>(())
    };
    worker.run_until(stop).await.map_err(|e| e.to_string())
}

/// What a task of apalis's carries here: a ticket and its job, which is in hand from the moment it is
/// claimed, so that a second ticket for it is recognised.
///
/// A claimed job must be worked. So a parcel is delivered even when whoever carries it drops it, as apalis
/// does when it is told to stop: otherwise nobody would work the job until this process has signed off.
struct Parcel {
    /// None once delivered.
    contents: Option<(Taken, Option<Held>)>,
    timeout: Duration,
    attempts: Arc<Attempts>,
}

impl Parcel {
    async fn deliver(mut self) {
        if let Some((taken, held)) = self.contents.take() {
            self.attempts.clone().deliver(taken, held, self.timeout).await;
        }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        let Some((taken, held)) = self.contents.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let delivery = self.attempts.clone().deliver(taken, held, self.timeout);
        self.attempts.tracker.spawn_on(delivery, &runtime);
    }
}

/// A queue's tickets as an apalis backend, one at a time, so that none waits here while another worker is
/// free: looks when the bell rang, when more were due last time, and every [`FLOOR`]; otherwise rests.
struct Tickets {
    persisted: Persisted<TicketStore>,
    queue: Queue,
    bells: Arc<Bells>,
    /// What the bell said when the last fetch began; none when a fetch is due whatever it says.
    n_heard: Option<u64>,
    floor: Pin<Box<Sleep>>,
}

impl Tickets {
    fn new(store: TicketStore, bells: Arc<Bells>) -> Self {
        Self {
            queue: store.queue,
            persisted: Persisted::new(store),
            bells,
            n_heard: None,
            floor: Box::pin(tokio::time::sleep(FLOOR)),
        }
    }

    /// Whether a fetch should begin, noting what it will have seen.
    fn is_due(&mut self, cx: &mut Context<'_>) -> bool {
        let n_rings = self.bells.of(self.queue).hear(cx);
        let is_late = self.floor.as_mut().poll(cx).is_ready();
        if !is_late && self.n_heard == Some(n_rings) {
            return false;
        }
        self.floor.as_mut().reset(tokio::time::Instant::now() + FLOOR);
        let _ = self.floor.as_mut().poll(cx); // wakes us even if the fetch never does
        self.n_heard = Some(n_rings);
        true
    }
}

impl Backend for Tickets {
    type Task = Task<Parcel>;
    type Error = StorageError;

    fn poll_ready(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), StorageError>> {
        self.persisted.poll_ready(cx, worker, HEARTBEAT)
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<Task<Parcel>, StorageError>>> {
        loop {
            let is_resting = matches!(self.persisted.state(), State::Ready);
            if is_resting && !self.is_due(cx) {
                return Poll::Pending;
            }
            let next = self.persisted.poll_next(cx, worker);
            let is_over = matches!(self.persisted.state(), State::Ready);
            if is_over && self.persisted.more.swap(false, Ordering::Relaxed) {
                self.n_heard = None;
            }
            match next {
                // The fetch found nothing: rung for meanwhile, it is due again.
                Poll::Pending if is_over => (),
                next => return next,
            }
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), StorageError>> {
        self.persisted.poll_close(cx, worker)
    }
}

impl BackendConfig for Tickets {
    type Args = Parcel;
    type Id = Ulid;
    type Kind = Ephemeral;
    type Config = Queue;
    type Layer = Identity;

    fn config(&self) -> &Queue {
        &self.queue
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Identity {
        Identity::new()
    }
}

/// What the state machine asks of the database, each a statement of its own.
#[derive(Clone)]
struct TicketStore {
    queue: Queue,
    timeout: Duration,
    attempts: Arc<Attempts>,
    /// What the last fetch said of further tickets.
    more: Arc<AtomicBool>,
}

impl TicketStore {
    fn db(&self) -> &PgPool {
        &self.attempts.database.volatile
    }

    async fn take(&self, consumer: &str) -> Result<Option<(TicketId, Parcel)>, StorageError> {
        let Some(taken) = store::take(self.db(), self.queue, consumer, &self.attempts.worker).await? else {
            return Ok(None);
        };
        self.more.store(taken.more, Ordering::Relaxed);
        let held = taken.claimed.as_ref().map(|job| self.attempts.in_hand.hold(job.id));
        let (ticket, contents) = (taken.ticket, Some((taken, held)));
        Ok(Some((ticket, Parcel { contents, timeout: self.timeout, attempts: self.attempts.clone() })))
    }
}

impl Persistence for TicketStore {
    type Compact = Parcel;
    type Response = ();
    type Error = StorageError;

    async fn register(&mut self, worker: &WorkerContext) -> Result<(), StorageError> {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let seen = i64::try_from(now).unwrap_or(i64::MAX).into();
        let mut db = self.db().acquire().await?;
        queries::register_worker(&mut *db, self.queue.name(), worker, &seen, "akhar").await?;
        drop(db);
        self.heartbeat(worker).await
    }

    async fn heartbeat(&mut self, worker: &WorkerContext) -> Result<(), StorageError> {
        let mut db = self.db().acquire().await?;
        queries::keep_alive(&mut *db, self.queue.name(), worker).await?;
        let n = queries::reenqueue_orphaned(&mut *db, self.queue.name(), SILENCE.as_secs()).await?;
        if n > 0 {
            tracing::info!(n, "freed the tickets of silent consumers");
        }
        Ok(())
    }

    async fn fetch_next(&mut self, worker: &WorkerContext) -> Result<Vec<Task<Parcel>>, StorageError> {
        // A task of its own: broken off half-way, a fetch would leave a claimed job in nobody's hands.
        let (reply, fetched) = oneshot::channel();
        let (store, consumer) = (self.clone(), worker.name().to_owned());
        self.attempts.tracker.spawn(async move {
            let _ = reply.send(store.take(&consumer).await); // nobody there: the parcel is dropped
        });
        let taken = fetched.await.unwrap_or(Ok(None))?;
        let task = |(ticket, parcel): (TicketId, Parcel)| {
            TaskBuilder::new(parcel).task_id(TaskId::from_ulid(ticket.0)).build()
        };
        Ok(taken.into_iter().map(task).collect())
    }

    async fn reenqueue_abandoned(
        &mut self,
        tasks: Vec<Task<Parcel>>,
        _: &WorkerContext,
    ) -> Result<u64, StorageError> {
        Ok(tasks.len() as u64) // dropped, and so delivered
    }

    async fn handle_events(&mut self, _: Vec<TaskEvent<()>>, _: &WorkerContext) -> Result<(), StorageError> {
        Ok(()) // nothing is acknowledged here, so nothing comes
    }

    async fn push_tasks(&mut self, _: Vec<Task<Parcel>>) -> Result<(), StorageError> {
        Ok(()) // tickets are made with their jobs, in jobs/src/store; a parcel is dropped, and so delivered
    }
}
