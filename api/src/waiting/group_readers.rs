//! Reads groups: one reader for each group that callers ask for, wait for or follow, however many they are.

use std::{collections::HashMap, sync::Arc, time::Duration};

use akhar_jobs::{
    GroupName,
    backend::BatchError,
    store::{self, Group},
};
use akhar_platform::database::Pool;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep},
};
use uuid::Uuid;

use akhar_platform::database::retry_transient;

/// A reader reads its group again after this time.
const INTERVAL: Duration = Duration::from_secs(1);

/// After a read, the reader pauses for this multiple of the time that it took if that is longer, so that a group with very many jobs
/// takes at most a few percent of a core, also where Postgres counts on several.
const PAUSE_PER_TIME: u32 = 100;

/// The account and the name of a group.
type Key = (Uuid, GroupName);

/// All readers of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupReaders(Arc<Mutex<HashMap<Key, Arc<Reader>>>>);

#[derive(Debug, Default)]
struct Reader {
    /// The last read. `None` before the first.
    read: watch::Sender<Option<Read>>,
    /// Notified when somebody wants a read that has not begun yet.
    wanted: Notify,
}

#[derive(Debug, Clone)]
struct Read {
    began: Instant,
    group: Result<Option<Group>, BatchError>,
}

/// A group that is being read, until this is dropped.
#[derive(Debug)]
pub(crate) struct Followed {
    reads: watch::Receiver<Option<Read>>,
    since: Instant,
    _reader: Arc<Reader>,
}

impl GroupReaders {
    /// Follows a group of this account from now on.
    pub(crate) fn follow(&self, db: &Pool, account_id: Uuid, name: &GroupName) -> Followed {
        let (db, group) = (db.clone(), name.clone());
        self.follow_with((account_id, name.clone()), move || {
            let (db, group) = (db.clone(), group.clone());
            async move { Ok(retry_transient(|_| store::find_group(&db, account_id, &group)).await?) }
        })
    }

    /// Follows a group that `find` reads if nobody follows it yet.
    fn follow_with<F>(&self, key: Key, find: impl Fn() -> F + Send + 'static) -> Followed
    where
        F: Future<Output = Result<Option<Group>, BatchError>> + Send + 'static,
    {
        let since = Instant::now();
        let mut readers = self.0.lock();
        let reader = if let Some(reader) = readers.get(&key) {
            reader.wanted.notify_one();
            reader.clone()
        } else {
            let reader = Arc::<Reader>::default();
            readers.insert(key.clone(), reader.clone());
            tokio::spawn(self.clone().read(find, key, reader.clone()));
            reader
        };
        Followed { reads: reader.read.subscribe(), since, _reader: reader }
    }

    /// Reads a group until nobody follows it any more.
    async fn read<F>(self, find: impl Fn() -> F, key: Key, reader: Arc<Reader>)
    where
        F: Future<Output = Result<Option<Group>, BatchError>>,
    {
        loop {
            let began = Instant::now();
            let group = find().await;
            let took = if group.is_ok() { began.elapsed() } else { Duration::ZERO };
            reader.read.send_replace(Some(Read { began, group }));
            tokio::select! {
                () = sleep(INTERVAL.max(took * PAUSE_PER_TIME)) => (),
                () = reader.wanted.notified() => (),
                () = reader.read.closed() => (),
            }
            let mut readers = self.0.lock();
            if reader.read.receiver_count() == 0 {
                readers.remove(&key);
                return;
            }
        }
    }
}

impl Followed {
    /// The group as it was after [`GroupReaders::follow`] was called. `None` if none of the account's jobs is in it.
    ///
    /// # Errors
    ///
    /// When the group cannot be read, also not within 5 s if the database is unavailable.
    pub(crate) async fn first(&mut self) -> Result<Option<Group>, BatchError> {
        let since = self.since;
        self.next_that(|read| read.began >= since).await
    }

    /// The group as the next read finds it.
    ///
    /// # Errors
    ///
    /// As for [`Self::first`].
    pub(crate) async fn next(&mut self) -> Result<Option<Group>, BatchError> {
        let _ = self.reads.changed().await; // cannot fail: this holds the sender
        self.next_that(|_| true).await
    }

    /// What was read since the last call. `None` if nothing was.
    pub(crate) fn news(&mut self) -> Option<Result<Option<Group>, BatchError>> {
        let is_new = self.reads.has_changed().is_ok_and(|is_new| is_new);
        is_new.then(|| self.reads.borrow_and_update().clone()).flatten().map(|read| read.group)
    }

    async fn next_that(&mut self, is_wanted: impl Fn(&Read) -> bool) -> Result<Option<Group>, BatchError> {
        let read = self.reads.wait_for(|read| read.as_ref().is_some_and(&is_wanted)).await;
        let read = read.ok().and_then(|read| read.clone());
        read.map_or(Err(BatchError::Stopped), |read| read.group)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use chrono::DateTime;
    use futures::future::join_all;

    use super::*;

    fn key() -> Key {
        (Uuid::nil(), GroupName::parse("calls").unwrap())
    }

    /// A read that takes so long, and counts itself among the jobs that have succeeded.
    fn find(
        n_reads: &Arc<AtomicUsize>,
        took: Duration,
    ) -> impl Fn() -> futures::future::BoxFuture<'static, Result<Option<Group>, BatchError>> + use<> {
        let n_reads = n_reads.clone();
        move || {
            let n_reads = n_reads.clone();
            Box::pin(async move {
                let n = n_reads.fetch_add(1, Ordering::Relaxed) + 1;
                sleep(took).await;
                Ok(Some(Group {
                    name: key().1,
                    n_queued: 1,
                    n_running: 0,
                    n_succeeded: n.try_into().unwrap(),
                    n_failed: 0,
                    n_cancelled: 0,
                    created_at: DateTime::UNIX_EPOCH,
                    last_ended_at: None,
                }))
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_has_one_reader_however_many_follow_it() {
        let (readers, n_reads) = (GroupReaders::default(), Arc::default());
        let took = Duration::from_millis(200);
        let mut followed: Vec<_> =
            (0..200).map(|_| readers.follow_with(key(), find(&n_reads, took))).collect();
        let n_reads = || n_reads.load(Ordering::Relaxed);
        assert!(join_all(followed.iter_mut().map(Followed::first)).await.iter().all(Result::is_ok));
        assert!(n_reads() <= 2, "{} reads", n_reads());
        let before = n_reads();
        sleep(took * PAUSE_PER_TIME * 10).await;
        let n_later = n_reads() - before;
        assert!((8..=10).contains(&n_later), "{n_later} reads in ten pauses");
        let news: Vec<_> = followed.iter_mut().map(|followed| followed.news().is_some()).collect();
        assert_eq!(news, [true; 200]);
        drop(followed);
        sleep(took).await;
        assert!(readers.0.lock().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_gets_a_read_that_began_later() {
        let (readers, n_reads) = (GroupReaders::default(), Arc::default());
        let follow = || readers.follow_with(key(), find(&n_reads, Duration::from_millis(1)));
        let n_seen = async |mut followed: Followed| followed.first().await.unwrap().unwrap().n_succeeded;
        let first = follow();
        let before = n_seen(follow()).await;
        assert!(n_seen(follow()).await > before);
        drop(first);
    }
}
