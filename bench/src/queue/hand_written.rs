//! The hand-written queue: two loops poll for jobs, with durable commits throughout.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::turn::{AT_A_TIME, Mode, Took};
use crate::hand_written::Table;

/// The number of loops that claim, run and finish jobs. Each has a connection of its own.
const LOOPS: usize = 2;

/// Runs `n` empty jobs on an empty database.
pub(super) async fn turn(database: &PgConnectOptions, mode: Mode, n: usize) -> Took {
    let options = PgPoolOptions::new().max_connections(4);
    let db = options.connect_with(database.clone()).await.expect("it answers");
    Table::create(&db).await;
    let table = Table { db: db.clone(), claims: db.clone(), announces: false };
    let n_left = Arc::new(AtomicUsize::new(n));
    let loops = || (0..LOOPS).map(|_| work(table.clone(), Arc::clone(&n_left))).collect::<JoinSet<()>>();
    let insert = async || insert_all(&table, n).await;
    let took = Took::of(mode, insert, async || drop(loops().join_all().await)).await;
    db.close().await;
    took
}

async fn insert_all(table: &Table, n: usize) {
    for first in (0..n).step_by(AT_A_TIME) {
        let ids: Vec<Uuid> = (first..n.min(first + AT_A_TIME)).map(|_| Uuid::now_v7()).collect();
        table.insert(&ids, &vec![Vec::new(); ids.len()]).await;
    }
}

/// Claims and finishes jobs until none are left. If no job is queued yet, it tries again at once.
async fn work(table: Table, n_left: Arc<AtomicUsize>) {
    while n_left.load(Ordering::Relaxed) > 0 {
        let claimed = table.claim(i64::try_from(AT_A_TIME).expect("a small number")).await;
        if claimed.is_empty() {
            tokio::task::yield_now().await;
            continue;
        }
        let ended: Vec<_> = claimed.into_iter().map(|(id, _)| (id, String::new(), 0, 0)).collect();
        n_left.fetch_sub(table.end(&ended).await, Ordering::Relaxed);
    }
}
