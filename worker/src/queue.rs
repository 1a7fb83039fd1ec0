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
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use akhar_jobs::{JobId, Queue, TicketId, store};
use akhar_platform::config::Config;
use apalis::prelude::*;
use apalis_core::backend::{
    BackendConfig,
    finalize::Ephemeral,
    persistence::{Persisted, Persistence, State, TaskEvent},
};
use apalis_postgres::{Config as StorageConfig, Error as StorageError, PgTask, queries};
use sqlx::PgPool;
use tokio::time::Sleep;
use tower::layer::util::Identity;
use ulid::Ulid;

use crate::{attempt::Attempts, bell::Bells, sweeper::SILENCE};

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
    /// Tickets a fetch may take. While fetched tickets wait for a free place nobody else can have them,
    /// so only where jobs last milliseconds is it more than one.
    batch: usize,
    /// Time an attempt may take.
    timeout: Duration,
}

impl Limits {
    pub(crate) fn of(queue: Queue, config: &Config) -> Self {
        let (concurrency, batch, timeout_s) = match queue {
            Queue::Quick => (config.worker_concurrency.get(), 4, config.quick_timeout_s),
            Queue::Speech => (config.speech_concurrency.get(), 1, config.speech_timeout_s),
        };
        Self { concurrency, batch: batch.min(concurrency), timeout: Duration::from_secs(timeout_s) }
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
    let tickets = Tickets::new(&attempts.database.volatile, queue, limits, bells.clone());
    let attempts = attempts.clone();
    let soft = attempts.shutdown.soft.clone();
    let deliver = move |payload: Vec<u8>, ticket: TaskId| {
        let attempts = attempts.clone();
        async move {
            deliver(attempts, &payload, &ticket, limits.timeout).await;
            Ok::<(), Infallible>(())
        }
    };
    let worker = WorkerBuilder::new(consumer).backend(tickets).concurrency(limits.concurrency).build(deliver);
    let stop = async move {
        soft.cancelled().await;
        Ok::<(), WorkerError>(())
    };
    worker.run_until(stop).await.map_err(|e| e.to_string())
}

/// Starts the attempt a ticket asks for. One that asks for nothing readable is dropped: kept, it would
/// come back for ever.
async fn deliver(attempts: Arc<Attempts>, payload: &[u8], ticket: &TaskId, timeout: Duration) {
    let Some(ticket) = ticket.as_ulid().map(TicketId) else {
        tracing::error!(%ticket, "a ticket without a ULID");
        return;
    };
    match serde_json::from_slice::<JobId>(payload) {
        Ok(job) => attempts.deliver(job, ticket, timeout).await,
        Err(error) => {
            tracing::error!(ticket = %ticket.0, %error, "a ticket that names no job");
            if let Err(error) = store::drop_ticket(&attempts.database.volatile, ticket).await {
                tracing::warn!(%error, "could not drop it");
            }
        }
    }
}

/// A queue's tickets as an apalis backend: looks when the bell rang, when a full batch came last time,
/// and every [`FLOOR`]; otherwise rests.
struct Tickets {
    persisted: Persisted<TicketStore>,
    queue: Queue,
    batch: usize,
    bells: Arc<Bells>,
    /// What the bell said when the last fetch began; none when a fetch is due whatever it says.
    n_heard: Option<u64>,
    floor: Pin<Box<Sleep>>,
}

impl Tickets {
    fn new(db: &PgPool, queue: Queue, limits: Limits, bells: Arc<Bells>) -> Self {
        let config = StorageConfig::default()
            .queue(queue.name())
            .batch_size(limits.batch)
            .heartbeat_interval(HEARTBEAT)
            .missed_heartbeats(usize::try_from(SILENCE.as_secs()).unwrap_or(3));
        let store = TicketStore { db: db.clone(), queue, config, n_fetched: Arc::default() };
        Self {
            persisted: Persisted::new(store),
            queue,
            batch: limits.batch,
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
    type Task = PgTask;
    type Error = StorageError;

    fn poll_ready(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), StorageError>> {
        self.persisted.poll_ready(cx, worker, HEARTBEAT)
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<PgTask, StorageError>>> {
        loop {
            let is_resting = matches!(self.persisted.state(), State::Ready);
            if is_resting && !self.is_due(cx) {
                return Poll::Pending;
            }
            let next = self.persisted.poll_next(cx, worker);
            let was_full = self.persisted.n_fetched.load(Ordering::Relaxed) >= self.batch;
            let is_over = matches!(self.persisted.state(), State::Ready);
            if is_over && was_full {
                self.n_heard = None; // there may be more
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
    type Args = Vec<u8>;
    type Id = Ulid;
    type Kind = Ephemeral;
    type Config = StorageConfig;
    type Layer = Identity;

    fn config(&self) -> &StorageConfig {
        &self.persisted.config
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Identity {
        Identity::new()
    }
}

/// What the state machine asks of the database, each a statement of its own.
#[derive(Debug, Clone)]
struct TicketStore {
    db: PgPool,
    queue: Queue,
    config: StorageConfig,
    /// What the last fetch brought.
    n_fetched: Arc<AtomicUsize>,
}

impl Persistence for TicketStore {
    type Compact = Vec<u8>;
    type Response = ();
    type Error = StorageError;

    async fn register(&mut self, worker: &WorkerContext) -> Result<(), StorageError> {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
        let seen = i64::try_from(now).unwrap_or(i64::MAX).into();
        let mut db = self.db.acquire().await?;
        queries::register_worker(&mut *db, self.queue.name(), worker, &seen, "akhar").await?;
        drop(db);
        self.heartbeat(worker).await
    }

    async fn heartbeat(&mut self, worker: &WorkerContext) -> Result<(), StorageError> {
        let mut db = self.db.acquire().await?;
        queries::keep_alive(&mut *db, self.queue.name(), worker).await?;
        let n = queries::reenqueue_orphaned(&mut *db, self.queue.name(), SILENCE.as_secs()).await?;
        if n > 0 {
            tracing::info!(n, "freed the tickets of silent consumers");
        }
        Ok(())
    }

    async fn fetch_next(&mut self, worker: &WorkerContext) -> Result<Vec<PgTask>, StorageError> {
        let tickets =
            store::take_tickets(&self.db, self.queue, worker.name(), self.config.batch_size).await?;
        self.n_fetched.store(tickets.len(), Ordering::Relaxed);
        let task = |(ticket, payload): (TicketId, Vec<u8>)| {
            TaskBuilder::new(payload).task_id(TaskId::from_ulid(ticket.0)).build()
        };
        Ok(tickets.into_iter().map(task).collect())
    }

    async fn reenqueue_abandoned(
        &mut self,
        tickets: Vec<PgTask>,
        worker: &WorkerContext,
    ) -> Result<u64, StorageError> {
        tracing::debug!(n = tickets.len(), "returning tickets");
        Ok(store::release_tickets(&self.db, worker.name()).await?)
    }

    async fn handle_events(&mut self, _: Vec<TaskEvent<()>>, _: &WorkerContext) -> Result<(), StorageError> {
        Ok(()) // nothing is acknowledged here, so nothing comes
    }

    async fn push_tasks(&mut self, tickets: Vec<PgTask>) -> Result<(), StorageError> {
        let mut db = self.db.acquire().await?;
        queries::push_tasks(&mut *db, self.queue.name(), tickets).await
    }
}
