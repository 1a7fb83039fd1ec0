//! The defect of sqlx for which `platform/src/database/transaction.rs` exists.

use std::pin::pin;

use akhar_tests::Cluster;
use futures::poll;
use sqlx::{Connection as _, PgConnection};

/// When this fails, sqlx is mended, and what `transaction.rs` says of it can go.
#[tokio::test]
async fn sqlx_does_not_count_a_transaction_whose_begin_was_dropped() {
    let options = Cluster::shared().empty_database().await;
    let mut db = PgConnection::connect_with(&options).await.expect("it answers");
    sqlx::query("create table acknowledged (n int)").execute(&mut db).await.expect("a table");
    while poll!(pin!(db.begin())).is_ready() {} // the reply was quicker, and the transaction is rolled back
    assert!(!db.is_in_transaction(), "sqlx counts it");
    sqlx::query("insert into acknowledged values (1)").execute(&mut db).await.expect("it reports success");
    let mut other = PgConnection::connect_with(&options).await.expect("it answers");
    let n: i64 =
        sqlx::query_scalar("select count(*) from acknowledged").fetch_one(&mut other).await.expect("a count");
    assert_eq!(n, 0, "sqlx has committed it");
}
