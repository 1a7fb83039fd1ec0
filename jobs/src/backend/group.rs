//! Group commit: items come in one by one from many callers; all that is pending is executed as one
//! statement, and each caller gets its own item's result.
//!
//! One statement of a group is under way at a time. A single item is executed at once; what arrives
//! meanwhile is the next statement. So a caller never waits for company, and under load many share a
//! round trip and a commit.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::{mpsc, oneshot};

/// Items that may be pending before callers wait to hand theirs over.
const MAX_PENDING: usize = 1024;

/// What a group executes.
pub(super) trait Statement: Send + Sync + 'static {
    /// One caller's part.
    type Item: Send + Sync + 'static;
    /// One caller's result.
    type Reply: Send + 'static;
    /// Items of one statement at most.
    const MAX_ITEMS: usize;

    /// Executes some items, at least one; one reply an item, in order.
    fn execute(
        &self,
        items: &[Self::Item],
    ) -> impl Future<Output = Result<Vec<Self::Reply>, sqlx::Error>> + Send;

    /// Bytes an item puts into the statement, beside its small columns.
    fn n_bytes(_: &Self::Item) -> usize {
        0
    }
}

/// Bytes of one statement's items at most, unless one item alone has more.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Why an item has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum GroupError {
    /// The database refused or went away. The statement may have been executed or not.
    #[error("database: {0}")]
    Database(Arc<sqlx::Error>),
    /// The process is stopping.
    #[error("stopping")]
    Stopped,
}

impl From<sqlx::Error> for GroupError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

struct Pending<S: Statement> {
    item: S::Item,
    reply: oneshot::Sender<Result<S::Reply, GroupError>>,
}

/// A handle on a group; the group ends when its last handle is dropped and nothing is pending.
pub(super) struct Group<S: Statement> {
    pending: mpsc::Sender<Pending<S>>,
}

impl<S: Statement> Clone for Group<S> {
    fn clone(&self) -> Self {
        Self { pending: self.pending.clone() }
    }
}

impl<S: Statement> std::fmt::Debug for Group<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}

impl<S: Statement> Group<S> {
    /// Starts a group on the current runtime.
    pub(super) fn start(statement: S) -> Self {
        let (pending, received) = mpsc::channel(MAX_PENDING);
        tokio::spawn(run(statement, received));
        Self { pending }
    }

    /// Executes one item with whatever else is pending. An item whose caller is gone before its statement
    /// begins is not executed.
    pub(super) async fn execute(&self, item: S::Item) -> Result<S::Reply, GroupError> {
        let (reply, result) = oneshot::channel();
        self.pending.send(Pending { item, reply }).await.map_err(|_| GroupError::Stopped)?;
        result.await.map_err(|_| GroupError::Stopped)?
    }
}

async fn run<S: Statement>(statement: S, mut received: mpsc::Receiver<Pending<S>>) {
    let mut pending = Vec::with_capacity(S::MAX_ITEMS);
    while received.recv_many(&mut pending, S::MAX_ITEMS).await > 0 {
        let mut waiting: VecDeque<_> = pending.drain(..).filter(|p| !p.reply.is_closed()).collect();
        while let Some(first) = waiting.pop_front() {
            let (items, replies) = take_statement(first, &mut waiting);
            execute(&statement, items, replies).await;
        }
    }
}

type Taken<S> =
    (Vec<<S as Statement>::Item>, Vec<oneshot::Sender<Result<<S as Statement>::Reply, GroupError>>>);

/// What fits into one statement with `first`.
fn take_statement<S: Statement>(first: Pending<S>, waiting: &mut VecDeque<Pending<S>>) -> Taken<S> {
    let mut n_bytes = S::n_bytes(&first.item);
    let (mut items, mut replies) = (vec![first.item], vec![first.reply]);
    while waiting.front().is_some_and(|p| n_bytes + S::n_bytes(&p.item) <= MAX_BYTES) {
        let Some(next) = waiting.pop_front() else { break };
        n_bytes += S::n_bytes(&next.item);
        items.push(next.item);
        replies.push(next.reply);
    }
    (items, replies)
}

/// One statement; where one item's data makes it fail, each item again in a statement of its own, so that
/// it fails alone. A caller that left meanwhile is no error.
async fn execute<S: Statement>(
    statement: &S,
    items: Vec<S::Item>,
    replies: Vec<oneshot::Sender<Result<S::Reply, GroupError>>>,
) {
    match statement.execute(&items).await {
        Ok(results) => {
            for (result, reply) in results.into_iter().zip(replies) {
                let _ = reply.send(Ok(result));
            }
        }
        Err(error) if items.len() > 1 && is_of_the_data(&error) => {
            tracing::warn!(%error, n = items.len(), "a statement failed by its data: executing its items one by one");
            for (item, reply) in items.iter().zip(replies) {
                let result = statement.execute(std::slice::from_ref(item)).await;
                let _ = reply.send(result.map_err(GroupError::from).and_then(only));
            }
        }
        Err(error) => {
            let error = GroupError::from(error);
            for reply in replies {
                let _ = reply.send(Err(error.clone()));
            }
        }
    }
}

fn only<T>(results: Vec<T>) -> Result<T, GroupError> {
    results.into_iter().next().ok_or(GroupError::Stopped)
}

/// Whether what was sent, and not the state of the server, made a statement fail. Classes 22, 23 and 54:
/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
pub(super) fn is_of_the_data(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Encode(_) | sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => true,
        sqlx::Error::Database(e) => {
            e.code().is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}
