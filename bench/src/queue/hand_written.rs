//! The smallest queue: one table, SKIP LOCKED, durable commits, and one statement for each batch. It does not
//! repeat failed jobs, does not recover lost ones, and has no waiting callers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{AT_A_TIME, Mode, Took};

const SCHEMA: &str = "create table empty_jobs (
        id uuid primary key, payload jsonb not null, state text not null default 'queued');
    create index on empty_jobs (id) where state = 'queued';";

/// The number of loops that claim, run and finish jobs. Each has a connection of its own.
const LOOPS: usize = 2;

/// Runs `n` empty jobs.
pub(super) async fn turn(database: &PgConnectOptions, mode: Mode, n: usize) -> Took {
    let options = PgPoolOptions::new().max_connections(4);
    let db = options.connect_with(database.clone()).await.expect("it answers");
    sqlx::raw_sql(SCHEMA).execute(&db).await.expect("a schema");
    let mut started = Instant::now();
    let mut insert_s = 0.0;
    if mode == Mode::Drain {
        insert_all(&db, n).await;
        insert_s = started.elapsed().as_secs_f64();
        started = Instant::now();
    }
    let n_left = Arc::new(AtomicUsize::new(n));
    let mut loops: JoinSet<()> = (0..LOOPS).map(|_| work(db.clone(), Arc::clone(&n_left))).collect();
    if mode == Mode::Flow {
        insert_all(&db, n).await;
        insert_s = started.elapsed().as_secs_f64();
    }
    while loops.join_next().await.is_some() {}
    let work_s = started.elapsed().as_secs_f64();
    db.close().await;
    Took { insert_s, work_s }
}

async fn insert_all(db: &PgPool, n: usize) {
    let mut n_left = n;
    while n_left > 0 {
        let ids: Vec<Uuid> = (0..n_left.min(AT_A_TIME)).map(|_| Uuid::now_v7()).collect();
        n_left -= ids.len();
        let insert = "insert into empty_jobs (id, payload) select id, '{}' from unnest($1::uuid[]) as t (id)";
        sqlx::query(insert).bind(ids).execute(db).await.expect("an insert");
    }
}

/// Claims and finishes jobs until none are left. If no job is queued yet, it tries again at once.
async fn work(db: PgPool, n_left: Arc<AtomicUsize>) {
    while n_left.load(Ordering::Relaxed) > 0 {
        let claimed: Vec<Uuid> = sqlx::query_scalar(
            "update empty_jobs set state = 'running' where id in (
                 select id from empty_jobs where state = 'queued' order by id limit $1 for update skip locked)
             returning id",
        )
        .bind(i64::try_from(AT_A_TIME).expect("a small number"))
        .fetch_all(&db)
        .await
        .expect("a claim");
        if claimed.is_empty() {
            tokio::task::yield_now().await;
            continue;
        }
        let finish = "update empty_jobs set state = 'succeeded' where id = any($1) and state = 'running'";
        let finished = sqlx::query(finish).bind(&claimed).execute(&db).await.expect("a finish");
        let n = usize::try_from(finished.rows_affected()).expect("a small number");
        n_left.fetch_sub(n, Ordering::Relaxed);
    }
}
