//! The open streams of events: how many there may be, and when they look for events.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use akhar_jobs::{
    Job,
    backend::{BatchError, Lookups},
    store::{Cursor, Followed},
};
use akhar_platform::budget::{Budget, Share};
use akhar_platform::database::Transient as _;
use futures::future::BoxFuture;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::deliveries::Deliveries;
use crate::auth::caller::Caller;

/// The time between two looks of a stream, at its job or its group.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long a look may take before the database counts as unavailable.
const LOOK_LIMIT: Duration = Duration::from_secs(5);

/// What a stream finds when it looks at its job.
pub(super) enum Look {
    /// What is new about a job that has not ended.
    News(Followed),
    /// The job, which has ended.
    Ended(Job),
    /// There is no such job.
    Gone,
    /// The database is unavailable. The next look tries again.
    Unavailable,
    /// The job cannot be read.
    Failed(BatchError),
}

/// The streams that one account may have, of a process that handles so many requests.
const fn of_account(max_requests: NonZeroUsize) -> usize {
    max_requests.get().div_ceil(10)
}

/// All streams of events of this process.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    lookups: Lookups,
    pub(super) deliveries: Deliveries,
    open: Arc<Budget<Uuid>>,
    started: Instant,
    /// Cancelled when the process shuts down, which ends all streams.
    pub(super) draining: CancellationToken,
}

/// A stream among those of its account, until it is dropped.
pub(crate) struct OpenStream {
    pub(super) streams: Streams,
    /// Returns when the key of its caller is revoked.
    pub(crate) revoked: BoxFuture<'static, ()>,
    _place: Share<Uuid>,
}

impl Streams {
    /// No streams yet. They end when `draining` is cancelled.
    pub(crate) fn new(
        lookups: Lookups,
        deliveries: Deliveries,
        max_requests: NonZeroUsize,
        draining: CancellationToken,
    ) -> Self {
        let open = Budget::new(usize::MAX, of_account(max_requests));
        Self { lookups, deliveries, open, started: Instant::now(), draining }
    }

    /// Changes the number of streams that an account may have. Those that are open stay.
    pub(crate) fn set_limit(&self, max_requests: NonZeroUsize) {
        self.open.set_limits(usize::MAX, of_account(max_requests));
    }

    /// Opens a stream of this caller. `None` if its account has as many as it may.
    pub(crate) fn open(&self, caller: &Caller) -> Option<OpenStream> {
        let place = self.open.take(caller.account_id, 1).ok()?;
        let revoked = Box::pin(caller.key.clone().revoked());
        Some(OpenStream { streams: self.clone(), revoked, _place: place })
    }

    /// How many streams are open.
    pub(crate) fn n_open(&self) -> usize {
        self.open.taken()
    }

    /// Reads what is new about a job, or the whole job if it has ended.
    pub(super) async fn look(&self, cursor: Cursor) -> Look {
        let look = async {
            match self.lookups.follow(cursor).await? {
                Some(seen) if !seen.state.is_final() => Ok(Look::News(seen)),
                Some(_) => Ok(self.lookups.find(cursor.job).await?.map_or(Look::Gone, Look::Ended)),
                None => Ok(Look::Gone),
            }
        };
        match timeout(LOOK_LIMIT, look).await {
            Ok(Ok(seen)) => seen,
            Ok(Err::<_, BatchError>(error)) if !error.is_transient() => Look::Failed(error),
            Ok(Err(_)) | Err(_) => {
                tracing::debug!("the database is unavailable: continuing to follow a job");
                Look::Unavailable
            }
        }
    }

    /// The next time at which all streams look, so that one statement reads for all of them.
    pub(crate) fn next_look(&self) -> Instant {
        let n_looks = self.started.elapsed().as_secs() / INTERVAL.as_secs();
        self.started + INTERVAL * u32::try_from(n_looks + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use akhar_jobs::uploads::UploadStore;
    use akhar_platform::database::{Database, Pool, Servers};
    use akhar_requests::WITH_ARTIFACTS;
    use tokio_util::task::TaskTracker;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_streams_look_at_the_same_times() {
        let pool = Pool::new(Servers::parse("postgres://nowhere/none").unwrap(), 1);
        let lookups = Lookups::start(&pool, WITH_ARTIFACTS);
        let deliveries =
            Deliveries::new(Database::of_pool(pool), UploadStore::in_database(), TaskTracker::new());
        let streams = Streams::new(lookups, deliveries, NonZeroUsize::MIN, CancellationToken::new());
        let first = streams.next_look();
        tokio::time::advance(INTERVAL / 3).await;
        assert_eq!(streams.next_look(), first);
        tokio::time::advance(INTERVAL).await;
        assert_eq!(streams.next_look(), first + INTERVAL);
    }
}
