//! Group commit: many callers each submit one item, all pending items are executed as one statement, and each caller
//! gets the result of its own item.
//!
//! The task executes one statement at a time. If no statement is running, an item is executed immediately. Items that
//! arrive while a statement runs are executed together by the next statement. So grouping adds no delay, and under
//! load many items share one round trip and one commit.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use akhar_platform::database::{Pool, Transient};
use futures::future::join_all;
use parking_lot::Mutex;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::{mpsc, oneshot};

/// The number of calls in the channel. When it is full, further callers wait to send their items.
const MAX_PENDING: usize = 1024;

/// The statement of batches.
pub trait Statement: Send + Sync + 'static {
    /// What one caller submits.
    type Item: Send + Sync + 'static;
    /// What one caller gets back.
    type Reply: Send + 'static;
    /// The name of the statement for its observer.
    const NAME: &'static str;
    /// The most items that one statement executes.
    const MAX_ITEMS: usize;

    /// Executes one or more items on the connection of the task. Returns one reply for each item, in their order.
    fn execute(
        &self,
        db: &mut PgConnection,
        items: &[Self::Item],
    ) -> impl Future<Output = Result<Vec<Self::Reply>, sqlx::Error>> + Send;

    /// How many jobs the statement concerned.
    fn n_jobs(replies: &[Self::Reply]) -> usize {
        replies.len()
    }

    /// The size of an item's large columns in bytes.
    fn n_bytes(_: &Self::Item) -> usize {
        0
    }
}

/// The most bytes that the items of one statement have together. A single larger item is executed alone.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The most bytes of items in a statement after which the connection keeps its buffers. Larger ones are freed, because
/// the connection would keep them for ever.
const MAX_KEPT_BUFFER: usize = 1024 * 1024;

/// A statement that was executed.
#[derive(Debug, Clone, Copy)]
pub struct Executed {
    /// The name of the statement: `submit`, `claim`, `end`, `requeue`, `lookup`, `follow`, `append`, `inputs`, `say`,
    /// `outputs` or `keys`.
    pub statement: &'static str,
    /// How many jobs it concerned.
    pub n_jobs: usize,
    /// How long it took.
    pub took: Duration,
}

/// A process with a statement that has no answer for this long sends no heartbeats, and is not ready.
const SILENT_AFTER: Duration = Duration::from_secs(2);

/// How long a process counts as one after such a statement has failed: until the next one may be found silent.
const SILENT_FOR: Duration = Duration::from_secs(3);

/// The statements of this process that are being executed, with when each began, and those that have failed after
/// [`SILENT_AFTER`], with when they failed.
static EXECUTING: Mutex<Vec<(&str, Instant)>> = Mutex::new(Vec::new());
static SILENT: Mutex<Option<(&str, Instant)>> = Mutex::new(None);

/// The name of a statement of this process that gets no answer, so that no work is done.
pub fn silent_statement() -> Option<&'static str> {
    let executing = EXECUTING.lock().iter().find(|(_, began)| began.elapsed() > SILENT_AFTER).copied();
    let failed = SILENT.lock().filter(|(_, failed)| failed.elapsed() < SILENT_FOR);
    executing.or(failed).map(|(name, _)| name)
}

/// Called after each statement that succeeded.
static OBSERVER: OnceLock<fn(Executed)> = OnceLock::new();

/// Calls `observer` after each statement of this process that succeeds, from now on. A process has one observer, so the
/// first one stays.
pub fn observe_statements(observer: fn(Executed)) {
    OBSERVER.get_or_init(|| observer);
}

/// Why an item has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BatchError {
    /// The statement failed or the connection was lost. The statement may have been executed or not.
    #[error("database error: {0}")]
    Database(Arc<sqlx::Error>),
    /// The process is stopping and executes no further statements.
    #[error("the process is stopping")]
    Stopped,
}

impl Transient for BatchError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => error.is_transient(),
            Self::Stopped => false,
        }
    }
}

impl From<sqlx::Error> for BatchError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

struct Pending<S: Statement> {
    item: S::Item,
    reply: oneshot::Sender<Result<S::Reply, BatchError>>,
}

/// A handle on the task that executes batches. It ends when its last handle is dropped and no item is pending.
pub struct Batch<S: Statement> {
    pending: mpsc::Sender<Vec<Pending<S>>>,
}

impl<S: Statement> Clone for Batch<S> {
    fn clone(&self) -> Self {
        Self { pending: self.pending.clone() }
    }
}

impl<S: Statement> std::fmt::Debug for Batch<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch").finish_non_exhaustive()
    }
}

impl<S: Statement> Batch<S> {
    /// Starts the task on the current runtime. It uses one connection of `db` at a time.
    pub fn start(db: Pool, statement: S) -> Self {
        let (pending, received) = mpsc::channel(MAX_PENDING);
        tokio::spawn(run(statement, db, received));
        Self { pending }
    }

    /// Executes one item together with all other pending items. If the returned future is dropped before the
    /// statement begins, the item is not executed.
    pub async fn execute(&self, item: S::Item) -> Result<S::Reply, BatchError> {
        let (reply, result) = oneshot::channel();
        self.pending.send(vec![Pending { item, reply }]).await.map_err(|_| BatchError::Stopped)?;
        result.await.map_err(|_| BatchError::Stopped)?
    }

    /// Executes several items, if possible with one statement. Returns one result for each, in order.
    pub(super) async fn execute_all(&self, items: Vec<S::Item>) -> Vec<Result<S::Reply, BatchError>> {
        let pending = |item| {
            let (reply, result) = oneshot::channel();
            (Pending { item, reply }, result)
        };
        let (pending, results): (_, Vec<_>) = items.into_iter().map(pending).unzip();
        // If the task has ended, the senders of the replies are dropped, and each result says so.
        let _ = self.pending.send(pending).await;
        join_all(results).await.into_iter().map(|result| result.map_err(|_| BatchError::Stopped)?).collect()
    }
}

async fn run<S: Statement>(statement: S, db: Pool, mut received: mpsc::Receiver<Vec<Pending<S>>>) {
    let mut calls = Vec::with_capacity(S::MAX_ITEMS);
    while received.recv_many(&mut calls, S::MAX_ITEMS).await > 0 {
        // The callers that are ready now add their items too. If none is ready, this takes no time.
        tokio::task::yield_now().await;
        while let Ok(call) = received.try_recv() {
            calls.push(call);
        }
        let mut waiting: VecDeque<_> = calls.drain(..).flatten().filter(|p| !p.reply.is_closed()).collect();
        while !waiting.is_empty() {
            let (items, replies) = take_batch(&mut waiting);
            execute(&statement, &db, items, replies).await;
        }
    }
}

type Taken<S> =
    (Vec<<S as Statement>::Item>, Vec<oneshot::Sender<Result<<S as Statement>::Reply, BatchError>>>);

/// Takes the first waiting items, as many as fit into one statement and at least one.
fn take_batch<S: Statement>(waiting: &mut VecDeque<Pending<S>>) -> Taken<S> {
    let mut n_bytes = 0;
    let mut fits = |pending: &Pending<S>| {
        n_bytes += S::n_bytes(&pending.item);
        n_bytes <= MAX_BYTES
    };
    let n = waiting.iter().take(S::MAX_ITEMS).take_while(|pending| fits(pending)).count().max(1);
    waiting.drain(..n).map(|pending| (pending.item, pending.reply)).unzip()
}

/// Executes one statement and sends each caller its result. If the data of one item makes the statement fail, each
/// item is executed again in a statement of its own, so that only that item fails. A caller that has gone away is
/// ignored.
async fn execute<S: Statement>(
    statement: &S,
    db: &Pool,
    items: Vec<S::Item>,
    replies: Vec<oneshot::Sender<Result<S::Reply, BatchError>>>,
) {
    let started = Instant::now();
    match execute_on(db, statement, &items).await {
        Ok(results) => {
            if let Some(observe) = OBSERVER.get() {
                observe(Executed {
                    statement: S::NAME,
                    n_jobs: S::n_jobs(&results),
                    took: started.elapsed(),
                });
            }
            for (result, reply) in results.into_iter().zip(replies) {
                let _ = reply.send(Ok(result)); // the caller may have gone away
            }
        }
        Err(error) if items.len() > 1 && is_data_error(&error) => {
            tracing::warn!(%error, n = items.len(), "a statement failed because of its data: executing its items one by one");
            for (item, reply) in items.iter().zip(replies) {
                let result = execute_on(db, statement, std::slice::from_ref(item)).await;
                let _ = reply.send(result.map_err(BatchError::from).and_then(single)); // as above
            }
        }
        Err(error) => {
            let error = BatchError::from(error);
            for reply in replies {
                let _ = reply.send(Err(error.clone())); // as above
            }
        }
    }
}

/// Executes one statement.
async fn execute_on<S: Statement>(
    db: &Pool,
    statement: &S,
    items: &[S::Item],
) -> Result<Vec<S::Reply>, sqlx::Error> {
    let executing = (S::NAME, Instant::now());
    EXECUTING.lock().push(executing);
    let replies = db.with(async |db: &mut PgConnection| {
        let replies = statement.execute(db, items).await;
        if items.iter().map(S::n_bytes).sum::<usize>() > MAX_KEPT_BUFFER {
            db.shrink_buffers();
        }
        replies
    });
    let replies = replies.await;
    let mut all = EXECUTING.lock();
    if let Some(at) = all.iter().position(|other| *other == executing) {
        all.swap_remove(at);
    }
    if replies.is_err() && executing.1.elapsed() > SILENT_AFTER {
        *SILENT.lock() = Some((S::NAME, Instant::now()));
    }
    replies
}

fn single<T>(results: Vec<T>) -> Result<T, BatchError> {
    results.into_iter().next().ok_or(BatchError::Stopped)
}

/// Whether a statement failed because of the values that were sent, and not because of the server's state. These are
/// the SQLSTATE classes 22, 23 and 54:
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub(super) fn is_data_error(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Encode(_) | sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => true,
        sqlx::Error::Database(e) => {
            e.code().is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}
