//! Probes of readiness, which need no key and have no limit, in numbers.

use std::time::Duration;

use akhar_tests::{Cluster, Form, Stack, hang_ups::at_rest, http::send};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};
use uuid::Uuid;

use crate::digit;

#[tokio::test(flavor = "multi_thread")]
async fn probes_that_hang_up_leave_no_transaction_and_undo_nothing() {
    const N_CLIENTS: u64 = 8;
    const N_EACH: u64 = 50;
    let stack = Stack::start().await;
    let mut clients = JoinSet::new();
    for _ in 0..N_CLIENTS {
        let address = stack.base.trim_start_matches("http://").to_owned();
        clients.spawn(async move {
            for nth in 0..N_EACH {
                let mut probe = TcpStream::connect(&address).await.expect("a connection");
                probe.write_all(b"GET /health/ready HTTP/1.1\r\nhost: akhar\r\n\r\n").await.expect("a write");
                // It hangs up then, unless it is answered before.
                let _ = timeout(Duration::from_micros(3_000 * nth / N_EACH), probe.read_u8()).await;
            }
        });
    }
    let mut acknowledged = Vec::new();
    while !clients.is_empty() {
        let request = stack.post(digit().operation, &Form::upload(&digit().bytes));
        let request = request.header("idempotency-key", Uuid::now_v7().to_string());
        acknowledged.push(send(request.header("prefer", "respond-async")).await.job());
        while clients.try_join_next().is_some() {}
    }
    at_rest(&stack.db).await.expect("no transaction is left");
    let kept = "select count(*) from idempotency_keys where job_id = any($1)";
    let n_kept: i64 =
        sqlx::query_scalar(kept).bind(&acknowledged).fetch_one(&stack.db).await.expect("a count");
    assert_eq!(usize::try_from(n_kept), Ok(acknowledged.len()), "acknowledged keys are lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_probes_make_postgres_write_next_to_nothing() {
    const MOST: i64 = 5 << 20;
    let cluster = Cluster::own();
    let stack = Stack::with().on(&cluster).start().await;
    let n_written = async || -> i64 {
        let written = sqlx::query_scalar(
            "select temp_bytes + (pg_current_wal_insert_lsn() - '0/0')::int8
             from pg_stat_database where datname = current_database()",
        );
        written.fetch_one(&stack.db).await.expect("a count")
    };
    let before = n_written().await;
    let mut probes = JoinSet::new();
    for _ in 0..20 {
        let request = stack.anonymous("GET", "/health/ready");
        probes.spawn(async move {
            for _ in 0..100 {
                let again = request.try_clone().expect("it has no body");
                assert_eq!(send(again).await.status, 200);
            }
        });
    }
    probes.join_all().await;
    let n = n_written().await - before;
    println!("2,000 probes: Postgres wrote {n} bytes");
    assert!(n <= MOST, "Postgres wrote {n} bytes");
}
