//! How much each account has stored, as it was estimated last.

use std::{collections::HashMap, sync::Arc, time::Duration};

use akhar_jobs::store;
use akhar_platform::database::Pool;
use akhar_requests::WITH_ARTIFACTS;
use parking_lot::RwLock;
use tokio::time::sleep;
use uuid::Uuid;

/// How often the bytes are estimated. An account may store more than it may for so long.
pub(crate) const INTERVAL: Duration = Duration::from_secs(60);

/// The stored bytes of each account.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored(Arc<RwLock<HashMap<Uuid, u64>>>);

impl Stored {
    /// The bytes of an account.
    pub(crate) fn of(&self, account_id: Uuid) -> u64 {
        self.0.read().get(&account_id).copied().unwrap_or(0)
    }

    /// Estimates them once a minute, for as long as it runs.
    pub(crate) async fn estimate(self, db: Pool) {
        loop {
            match store::stored_bytes(&db, WITH_ARTIFACTS).await {
                Ok(bytes) => *self.0.write() = bytes,
                Err(error) => tracing::debug!(%error, "cannot estimate how much accounts have stored"),
            }
            sleep(INTERVAL).await;
        }
    }
}
