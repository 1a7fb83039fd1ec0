//! The apalis adapter: a queue's tickets come in; attempts are started. The only file here that names
//! apalis.
//!
//! What apalis leaves to us, and why: results are not acknowledged through it (the finish deletes the
//! ticket in its own statement); it wakes up through our [`Bell`] (its own strategies lose wake-ups
//! that arrive during an empty fetch, or poll for seconds); a database error ends its worker, so it is
//! rebuilt under a new name.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use akhar_jobs::{JobId, Queue, TicketId, store};
use akhar_platform::{config::Config, shutdown::Shutdown};
use apalis::prelude::*;
use apalis_core::backend::ext::poll_strategy::{PollSnapshot, PollStrategy};
use apalis_postgres::{Config as StorageConfig, PostgresStorage};
use futures::task::AtomicWaker;
use sqlx::{PgPool, postgres::PgListener};
use tokio::time::{Instant, Sleep};
use ulid::Ulid;

use crate::{attempt::Attempts, sweeper::SILENCE};

/// Looks again this long after the bell rang: a fetch that ran just then may have missed the ticket.
const TRAILING: [Duration; 3] =
    [Duration::from_millis(2), Duration::from_millis(8), Duration::from_millis(30)];

/// Looks at least this often: the floor under lost notifications.
const FLOOR: Duration = Duration::from_secs(1);

/// apalis's heartbeat; three missed free the tickets its consumer holds.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Wait before a failed consumer or listener is rebuilt; spread so that processes do not return at once.
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
    pub(crate) fn of(queue: Queue, concurrency: usize, config: &Config) -> Self {
        let (batch, timeout_s) = match queue {
            Queue::Quick => (4.min(concurrency), config.quick_timeout_s),
            Queue::Speech => (1, config.speech_timeout_s),
        };
        Self { concurrency, batch, timeout: Duration::from_secs(timeout_s) }
    }
}

/// Rings when tickets came in, or a place came free.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    quick: Clapper,
    speech: Clapper,
}

#[derive(Debug, Default)]
struct Clapper {
    n_rings: AtomicU64,
    waker: AtomicWaker,
}

impl Bell {
    fn of(&self, queue: Queue) -> &Clapper {
        match queue {
            Queue::Quick => &self.quick,
            Queue::Speech => &self.speech,
        }
    }

    fn ring(&self, queue: Queue) {
        let clapper = self.of(queue);
        clapper.n_rings.fetch_add(1, Ordering::Release);
        clapper.waker.wake();
    }

    fn ring_all(&self) {
        for queue in Queue::ALL {
            self.ring(queue);
        }
    }
}

/// Rings the bell when Postgres announces a ticket; reconnects for as long as it must.
pub(crate) async fn listen(db: PgPool, bell: Arc<Bell>, shutdown: Shutdown) {
    loop {
        let listening = async {
            let mut listener = PgListener::connect_with(&db).await?;
            listener.listen(store::TICKET_INSERTED).await?;
            bell.ring_all(); // for what was missed while nobody listened
            while let Some(notification) = listener.try_recv().await? {
                match queue_of(notification.payload()) {
                    Some(queue) => bell.ring(queue),
                    None => bell.ring_all(),
                }
            }
            Ok::<(), sqlx::Error>(())
        };
        tokio::select! {
            ended = listening => tracing::warn!(error = ended.err().map(tracing::field::display), "listener lost: reconnecting"),
            () = shutdown.soft.cancelled() => return,
        }
        tokio::time::sleep(jittered(REBUILD)).await;
    }
}

fn queue_of(payload: &str) -> Option<Queue> {
    #[derive(serde::Deserialize)]
    struct Inserted<'a> {
        job_type: &'a str,
    }
    Queue::from_name(serde_json::from_str::<Inserted>(payload).ok()?.job_type)
}

/// Consumes one queue until told to stop; rebuilds the consumer whenever apalis gives up.
pub(crate) async fn consume(queue: Queue, limits: Limits, attempts: Arc<Attempts>, bell: Arc<Bell>) {
    let soft = attempts.shutdown.soft.clone();
    while !soft.is_cancelled() {
        let consumer = format!("{}-{}-{}", attempts.worker, queue.name(), Ulid::generate());
        tracing::debug!(queue = queue.name(), consumer, "consuming");
        let ended = consume_as(&consumer, queue, limits, &attempts, &bell).await;
        if let Err(error) = store::release_tickets(&attempts.database.volatile, &consumer).await {
            tracing::debug!(%error, "tickets not released: they are freed by its silence");
        }
        if !soft.is_cancelled() {
            tracing::warn!(queue = queue.name(), error = ended.err(), "queue consumer ended: rebuilding");
            tokio::time::sleep(jittered(REBUILD)).await;
        }
    }
}

async fn consume_as(
    consumer: &str,
    queue: Queue,
    limits: Limits,
    attempts: &Arc<Attempts>,
    bell: &Arc<Bell>,
) -> Result<(), String> {
    let config = StorageConfig::default()
        .queue(queue.name())
        .batch_size(limits.batch)
        .lock_tasks(false)
        .persist_results(false)
        .heartbeat_interval(HEARTBEAT)
        .missed_heartbeats(usize::try_from(SILENCE.as_secs()).unwrap_or(3));
    let tickets = PostgresStorage::<JobId>::new(&attempts.database.volatile)
        .with_config(config)
        .poll_with_strategy(OnBell::new(queue, bell.clone()));
    let (attempts, bell, soft) = (attempts.clone(), bell.clone(), attempts.shutdown.soft.clone());
    let deliver = move |job: JobId, ticket: TaskId| {
        let (attempts, bell) = (attempts.clone(), bell.clone());
        async move {
            if let Some(ticket) = ticket.as_ulid() {
                attempts.deliver(job, TicketId(ticket), limits.timeout).await;
            }
            bell.ring(queue); // a place is free
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

fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(1.0 + rand::random::<f64>())
}

/// Polls when the bell rings, shortly after it rang, and at least every [`FLOOR`].
struct OnBell {
    queue: Queue,
    bell: Arc<Bell>,
    n_heard: u64,
    /// How many of [`TRAILING`] are still to come.
    n_trailing: usize,
    rang_at: Instant,
    timer: Pin<Box<Sleep>>,
}

impl OnBell {
    fn new(queue: Queue, bell: Arc<Bell>) -> Self {
        let timer = Box::pin(tokio::time::sleep(FLOOR));
        Self { queue, bell, n_heard: 0, n_trailing: 0, rang_at: Instant::now(), timer }
    }

    fn arm(&mut self) {
        let next = match TRAILING.len() - self.n_trailing {
            n if n < TRAILING.len() => self.rang_at + TRAILING[n],
            _ => Instant::now() + FLOOR,
        };
        self.timer.as_mut().reset(next);
    }
}

impl PollStrategy for OnBell {
    fn poll_drive(&mut self, cx: &mut Context<'_>, _: &PollSnapshot) -> Poll<Option<()>> {
        let clapper = self.bell.of(self.queue);
        clapper.waker.register(cx.waker());
        let n_rings = clapper.n_rings.load(Ordering::Acquire);
        if n_rings != self.n_heard {
            self.n_heard = n_rings;
            self.n_trailing = TRAILING.len();
            self.rang_at = Instant::now();
            self.arm();
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            self.n_trailing = self.n_trailing.saturating_sub(1);
            self.arm();
        }
        Poll::Pending
    }
}
