//! `PgBouncer` between the processes and Postgres. `make test-pooler` runs all tests of this folder behind it.

use akhar_tests::{
    Cluster, Form, PoolMode, Pooler, Stack, http::send, process::command, stack::base_environment, until,
};
use sqlx::{Connection as _, PgConnection};

use crate::{digit, every_job_ended_once, record_ends, said};

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_is_migrated_through_a_pooler() {
    for mode in [PoolMode::Session, PoolMode::Transaction] {
        let cluster = Cluster::shared();
        let pooler = Pooler::start(cluster, mode).await;
        let empty = cluster.empty_database().await;
        let environment = base_environment(&empty.clone().socket(pooler.socket()));
        let migrated = command(&["migrate"], &environment).output().await.expect("it runs");
        assert!(migrated.status.success(), "{}", said(&migrated));
        let mut db = PgConnection::connect_with(&empty).await.expect("it answers");
        let n: i64 =
            sqlx::query_scalar("select count(*) from jobs").fetch_one(&mut db).await.expect("a table");
        assert_eq!(n, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pooler_that_keeps_no_prepared_statements_is_named() {
    let cluster = Cluster::shared();
    let pooler = Pooler::start(cluster, PoolMode::WithoutStatements).await;
    let environment = base_environment(&cluster.empty_database().await.socket(pooler.socket()));
    let migrate = async || command(&["migrate"], &environment).output().await.expect("it runs");
    migrate().await;
    // The connections of the server still have the statements of the first process.
    let again = migrate().await;
    let said = said(&again);
    assert!(!again.status.success(), "{said}");
    assert!(said.contains("prepared statement") && said.contains("PgBouncer 1.21 or newer"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_get_their_answers_through_a_killed_pooler_in_session_mode() {
    answers_through_a_killed_pooler(PoolMode::Session, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_get_their_answers_through_a_killed_pooler_in_transaction_mode_without_notifications() {
    answers_through_a_killed_pooler(PoolMode::Transaction, &[("AKHAR_DATABASE_LISTEN_URL", "off")]).await;
}

async fn answers_through_a_killed_pooler(mode: PoolMode, settings: &[(&str, &str)]) {
    let cluster = Cluster::shared();
    let mut pooler = Pooler::start(cluster, mode).await;
    let socket = pooler.socket().to_owned();
    let settings = settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut stack = Stack::with().settings(settings).socket(&socket).workers(0).start().await;
    record_ends(&stack.db).await;
    let waiting = tokio::spawn(send(stack.post(digit().operation, &Form::upload(&digit().bytes))));
    stack.jobs_are(1, "queued").await;
    pooler.restart(cluster).await;
    stack.add_worker().await;
    assert_eq!(waiting.await.expect("no panic").predictions()[0].0, digit().label);
    pooler.restart(cluster).await;
    let answer = stack.recognise(digit().operation, &digit().bytes).await;
    assert_eq!(answer.predictions()[0].0, digit().label);
    assert_eq!(every_job_ended_once(&stack).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn operators_are_told_of_a_pooler_that_passes_no_notifications_on() {
    let pooler = Pooler::start(Cluster::shared(), PoolMode::Transaction).await;
    let stack = Stack::with().socket(pooler.socket()).start().await;
    let answer = stack.recognise(digit().operation, &digit().bytes).await;
    assert_eq!(answer.predictions()[0].0, digit().label);
    until("the readiness says so", async || {
        let ready = stack.get("/health/ready").await.json();
        ready["notes"][0].as_str().is_some_and(|note| note.contains("no notifications")).then_some(())
    })
    .await;
    let doctor = command(&["doctor"], stack.environment()).output().await.expect("it runs");
    let said = String::from_utf8_lossy(&doctor.stdout);
    assert!(said.contains("set AKHAR_DATABASE_LISTEN_URL"), "{said}");
}
