//! Finds an API key with its account and quotas, usually in a cache of recently used keys.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_accounts::{
    Prefix, PresentedKey, WorkingKey,
    keys::{find_working, note_use},
};
use akhar_jobs::backend::{Batch, BatchError, Statement};
use akhar_platform::database::Pool;
use akhar_platform::database::retry_transient;
use moka::{Expiry, future::Cache};
use sqlx::PgConnection;
use tokio::{sync::watch, time::timeout};
use uuid::Uuid;

use crate::problems::Problem;

/// How long a working key is cached. A notification removes a revoked key at once. If that notification is lost, the
/// key works for at most this long.
const WORKING_TTL: Duration = Duration::from_secs(60);
/// How long a prefix without a working key is refused without a query.
const UNKNOWN_TTL: Duration = Duration::from_secs(5);
/// How long after a use of a key was recorded a further use is not.
const USE_INTERVAL: Duration = Duration::from_secs(60);
/// The most entries of each cache. All caches together need about 1 MB.
const MAX_ENTRIES: u64 = 10_000;

/// A cache of working keys, and of prefixes that no working key has.
#[derive(Debug)]
pub(crate) struct KeyCache {
    working: Cache<Prefix, WorkingKey>,
    unknown: Cache<Prefix, ()>,
    /// The keys whose use was just recorded.
    used: Cache<Uuid, ()>,
    /// Reads keys: with one statement at a time, so that many unknown ones take no connections from others.
    reads: Batch<FindKeys>,
    /// The number of announced changes. A row that was read before a change is not cached after it.
    n_changes: watch::Sender<u64>,
}

/// A working key or token is cached for [`WORKING_TTL`], or until it expires if that is sooner.
#[derive(Debug)]
struct WhileItWorks;

impl Expiry<Prefix, WorkingKey> for WhileItWorks {
    fn expire_after_create(&self, _: &Prefix, working: &WorkingKey, _: Instant) -> Option<Duration> {
        // A key that has expired stays so, and has no time left.
        let left = working.expires_in_s.and_then(|s| Duration::try_from_secs_f64(s).ok());
        Some(left.map_or(WORKING_TTL, |left| left.min(WORKING_TTL)))
    }
}

struct FindKeys;

impl Statement for FindKeys {
    type Item = Prefix;
    type Reply = Option<WorkingKey>;
    const NAME: &'static str = "keys";
    const MAX_ITEMS: usize = 256;

    async fn execute(
        &self,
        db: &mut PgConnection,
        prefixes: &[Prefix],
    ) -> Result<Vec<Option<WorkingKey>>, sqlx::Error> {
        find_working(db, prefixes).await
    }
}

impl KeyCache {
    /// An empty cache of the keys in this database.
    pub(crate) fn new(db: &Pool) -> Self {
        Self {
            reads: Batch::start(db.clone(), FindKeys),
            working: Cache::builder().max_capacity(MAX_ENTRIES).expire_after(WhileItWorks).build(),
            unknown: Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(UNKNOWN_TTL).build(),
            used: Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(USE_INTERVAL).build(),
            n_changes: watch::Sender::new(0),
        }
    }

    /// The key, with its account. Executes at most one query, together with all requests that need the same one. `None`
    /// if the key does not exist or is revoked, but not if it has expired. Records that it was used.
    pub(crate) async fn find(&self, db: &Pool, key: &PresentedKey) -> Result<Option<WorkingKey>, Problem> {
        let found = self.find_prefix(key.prefix).await?.filter(|working| working.matches(key));
        if let Some(working @ WorkingKey { id, .. }) = &found
            && !working.is_expired()
            && !self.used.contains_key(id)
        {
            let id = *id;
            self.used.insert(id, ()).await;
            let db = db.clone();
            // The request does not wait for it, and does not need it.
            tokio::spawn(async move {
                if let Err(cause) = note_use(&db, id).await {
                    tracing::debug!(%cause, "cannot record the use of a key");
                }
            });
        }
        Ok(found)
    }

    /// Returns when the key with this prefix and id is revoked or has expired.
    pub(crate) async fn revoked(&self, prefix: Prefix, id: Uuid) {
        let mut changes = self.changes();
        loop {
            // If the database is unavailable, the next look tries again.
            if let Ok(found) = self.find_prefix(prefix).await
                && found.is_none_or(|working| working.id != id || working.is_expired())
            {
                return;
            }
            let _ = timeout(WORKING_TTL, changes.changed()).await; // the sender is not dropped before `self`
        }
    }

    /// Changes when a key may have changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.n_changes.subscribe()
    }

    async fn find_prefix(&self, prefix: Prefix) -> Result<Option<WorkingKey>, Problem> {
        match self.working.get(&prefix).await {
            Some(working) => Ok(Some(working)),
            None if self.unknown.contains_key(&prefix) => Ok(None),
            None => match self.read(prefix).await {
                Ok(working) => Ok(Some(working)),
                Err(error) => Option::clone(&error).map_or(Ok(None), |error| Err(error.into())),
            },
        }
    }

    /// Reads the working key with this prefix. The error is `None` if there is none.
    async fn read(&self, prefix: Prefix) -> Result<WorkingKey, Arc<Option<BatchError>>> {
        let n_changes = *self.n_changes.borrow();
        let query = async {
            let found = retry_transient(|_| self.reads.execute(prefix)).await.map_err(Some)?;
            if found.is_none() {
                self.unknown.insert(prefix, ()).await;
            }
            found.ok_or(None)
        };
        let found = self.working.try_get_with(prefix, query).await;
        if *self.n_changes.borrow() != n_changes {
            self.working.invalidate(&prefix).await;
        }
        found
    }

    /// Caches a key that is not in the database.
    #[cfg(test)]
    pub(crate) async fn insert(&self, key: &akhar_accounts::NewKey) {
        let [id, account_id] = std::array::from_fn(|_| uuid::Uuid::now_v7());
        let quotas = akhar_accounts::Quotas::default();
        let webhook = akhar_accounts::AccountWebhook::default();
        let secret_sha256 = key.sha256().to_vec();
        let name = "test".to_owned();
        let (role, scope, expires_in_s) = (None, None, None);
        let key_prefix = key.prefix().to_owned();
        let working = WorkingKey {
            id,
            account_id,
            key_prefix,
            secret_sha256,
            name,
            role,
            expires_in_s,
            scope,
            quotas,
            webhook,
        };
        let prefix = PresentedKey::parse(key.expose()).unwrap().prefix;
        self.working.insert(prefix, working).await;
    }

    /// Empties the cache. Call this when a key has changed or notifications may have been missed.
    pub(crate) fn forget_all(&self) {
        let changed = || self.n_changes.send_modify(|n| *n += 1);
        changed(); // before, so that a row that is being read is not cached
        self.working.invalidate_all();
        self.unknown.invalidate_all();
        changed(); // after, so that those who wait for changes find the caches empty
    }
}
