//! Keys met lately: a presented key comes in, its caller's id goes out, mostly without the database.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use moka::future::Cache;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{
    keys::{Prefix, PresentedKey, prefix_text},
    retry::retry_transient,
};

/// A revocation is heard at once; this is the floor under a lost announcement.
const KNOWN_FOR: Duration = Duration::from_secs(60);
/// How long a prefix nobody has is refused unasked.
const UNKNOWN_FOR: Duration = Duration::from_secs(5);
/// Entries each cache holds at most, about 1 MB together.
const MAX_ENTRIES: u64 = 10_000;

#[derive(Debug, Clone, sqlx::FromRow)]
struct KnownKey {
    id: Uuid,
    secret_sha256: Vec<u8>,
}

/// The working keys met lately, and the prefixes that were none.
#[derive(Debug)]
pub(crate) struct KeyCache {
    known: Cache<Prefix, KnownKey>,
    unknown: Cache<Prefix, ()>,
    /// Counts the announcements, so that a row read before one is not kept after it.
    n_changes: AtomicU64,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self {
            known: Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(KNOWN_FOR).build(),
            unknown: Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(UNKNOWN_FOR).build(),
            n_changes: AtomicU64::new(0),
        }
    }
}

impl KeyCache {
    /// Whose key this is. `None`: nobody's, or a revoked one.
    pub(crate) async fn caller(&self, db: &PgPool, key: &PresentedKey) -> Result<Option<Uuid>, sqlx::Error> {
        if let Some(known) = self.known.get(&key.prefix).await {
            return Ok(key.is(&known.secret_sha256).then_some(known.id));
        }
        if self.unknown.contains_key(&key.prefix) {
            return Ok(None);
        }
        let found = self.read(db, key.prefix).await?;
        Ok(found.filter(|known| key.is(&known.secret_sha256)).map(|known| known.id))
    }

    async fn read(&self, db: &PgPool, prefix: Prefix) -> Result<Option<KnownKey>, sqlx::Error> {
        let n_changes = self.n_changes.load(Ordering::SeqCst);
        let found = retry_transient(|_| working_key(db, prefix)).await?;
        match &found {
            Some(known) => self.known.insert(prefix, known.clone()).await,
            None => self.unknown.insert(prefix, ()).await,
        }
        if self.n_changes.load(Ordering::SeqCst) != n_changes {
            self.known.invalidate(&prefix).await;
        }
        Ok(found)
    }

    /// As if this key had been met.
    #[cfg(test)]
    pub(crate) async fn meet(&self, key: &crate::keys::NewKey) {
        let known = KnownKey { id: Uuid::now_v7(), secret_sha256: key.sha256().to_vec() };
        let prefix = PresentedKey::parse(key.expose()).unwrap().prefix;
        self.known.insert(prefix, known).await;
    }

    /// Forgets all: a key has changed, or announcements may have been missed.
    pub(crate) fn forget_all(&self) {
        self.n_changes.fetch_add(1, Ordering::SeqCst);
        self.known.invalidate_all();
        self.unknown.invalidate_all();
    }
}

async fn working_key(db: &PgPool, prefix: Prefix) -> Result<Option<KnownKey>, sqlx::Error> {
    sqlx::query_as("select id, secret_sha256 from api_keys where prefix = $1 and revoked_at is null")
        .bind(prefix_text(&prefix))
        .fetch_optional(db)
        .await
}
