//! The server of the database dies, and its replica takes its place.

use std::{fs, os::unix::fs::symlink, path::Path};

use akhar_platform::database::Pool;
use akhar_tests::{Cluster, Form, Stack, http::send, load::Load, until, webhooks::Receiver};

use crate::{digit, every_job_ended_once, record_ends, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_takes_over_has_every_acknowledged_job() {
    let primary = Cluster::own();
    let address = primary.folder().join("address");
    symlink(primary.socket(), &address).expect("an address");
    let mut stack = Stack::with()
        .on(&primary)
        .socket(&address)
        .workers(2)
        .set("AKHAR_QUICK_WAIT_S", 20)
        .set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8")
        .start()
        .await;
    let prefix = stack.key[3..11].to_owned();
    let receiver = Receiver::start(&[&stack.keys(&["webhook", &prefix]).await]).await;
    record_ends(&stack.db).await;
    let replica = primary.replica().await;
    let database = stack.db.servers().options()[0].get_database().expect("a database").to_owned();
    let image = digit();
    let asynchronous =
        stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let (submitting, waiting) =
        (Load::repeat(&asynchronous, 4), Load::start(&stack, 2, image.operation, &image.bytes));
    until("50 jobs ended", async || (n_ended(&stack.db).await > 50).then_some(())).await;
    primary.kill().await;
    replica.promote().await;
    point(&address, replica.socket());
    stack.db = Pool::new(replica.options().database(&database).into(), 10);
    let image_again = Form::upload(&image.bytes);
    let announced =
        stack.post(image.operation, &image_again).header("akhar-webhook", format!("{}/ok", receiver.base));
    let n = until("the replica answers", async || Some(n_ended(&stack.db).await).filter(|n| *n > 0)).await;
    until("jobs end again", async || (n_ended(&stack.db).await > n + 50).then_some(())).await;
    // Unlike a database that was restored, it goes on by itself, and sends webhooks.
    let announced = send(announced.header("prefer", "respond-async")).await.job();
    let heard = receiver.receives(1, "/ok").await;
    assert_eq!(heard[0]["headers"]["webhook-id"], announced.to_string());
    let (submitted, answered) = (submitting.stop().await, waiting.stop().await);
    let counts = statuses(&answered);
    assert!(counts.keys().all(|status| matches!(status, 200 | 503)), "{counts:?}");
    every_job_ended_once(&stack).await;
    let answers = submitted.into_iter().filter_map(|sent| sent.answer.ok());
    let acknowledged: Vec<_> =
        answers.filter(|answer| answer.status == 202).map(|answer| answer.job()).collect();
    let succeeded: i64 =
        sqlx::query_scalar("select count(*) from jobs where id = any($1) and state = 'succeeded'")
            .bind(&acknowledged)
            .fetch_one(&stack.db)
            .await
            .expect("a count");
    assert_eq!(usize::try_from(succeeded), Ok(acknowledged.len()), "acknowledged jobs were lost");
}

async fn n_ended(db: &Pool) -> i64 {
    sqlx::query_scalar("select count(*) from ends").fetch_one(db).await.unwrap_or_default()
}

/// Makes the link name another folder, at one moment.
fn point(link: &Path, to: &Path) {
    let new = link.with_extension("new");
    symlink(to, &new).expect("a link");
    fs::rename(&new, link).expect("it replaces the old one");
}
