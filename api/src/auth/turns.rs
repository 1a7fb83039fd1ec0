//! How many long statements an account may have at a time, so that those of others always find a connection.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use uuid::Uuid;

use crate::problems::Problem;

/// How long a request waits for its turn.
const WAIT_LIMIT: Duration = Duration::from_secs(5);

/// The turns of accounts at statements that read or change many jobs: lists, and the deletion of groups.
#[derive(Debug)]
pub(crate) struct Turns {
    n_per_account: usize,
    of_accounts: Mutex<HashMap<Uuid, Weak<Semaphore>>>,
}

impl Turns {
    pub(crate) fn new(n_per_account: usize) -> Self {
        Self { n_per_account, of_accounts: Mutex::default() }
    }

    /// Waits until the account has fewer such statements. Hold the turn while the statement is executed.
    pub(crate) async fn take(&self, account_id: Uuid) -> Result<OwnedSemaphorePermit, Problem> {
        let turns = self.of(account_id);
        if let Ok(Ok(turn)) = timeout(WAIT_LIMIT, turns.acquire_owned()).await {
            return Ok(turn);
        }
        let detail = format!("Your account may read {} lists at a time.", self.n_per_account);
        Err(Problem::quota("lists", detail, Duration::from_secs(1)))
    }

    fn of(&self, account_id: Uuid) -> Arc<Semaphore> {
        let mut of_accounts = self.of_accounts.lock();
        if let Some(turns) = of_accounts.get(&account_id).and_then(Weak::upgrade) {
            return turns;
        }
        of_accounts.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(self.n_per_account));
        of_accounts.insert(account_id, Arc::downgrade(&turns));
        turns
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_account_waits_for_its_own_statements_only() {
        let turns = Turns::new(2);
        let [a, b] = [1, 2].map(Uuid::from_u128);
        let first = turns.take(a).await.unwrap();
        let _second = turns.take(a).await.unwrap();
        assert!(turns.take(a).now_or_never().is_none());
        assert!(turns.take(b).now_or_never().is_some());
        drop(first);
        let _third = turns.take(a).now_or_never().unwrap().unwrap();
        let refused = turns.take(a).await.unwrap_err();
        assert_eq!(refused.problem_type(), crate::problems::ProblemType::QuotaExceeded);
        assert_eq!(turns.of_accounts.lock().len(), 2);
    }
}
