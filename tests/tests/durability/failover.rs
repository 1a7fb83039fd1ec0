//! The server of the database takes no changes for a while, or another one takes its place at another address.

use akhar_platform::database::Pool;
use akhar_tests::{Answer, Cluster, Form, Stack, http::send, load::Load, until};

use crate::{digit, every_job_ended_once, record_ends, statuses, submit};

/// Set behind a pooler: see `akhar_tests::stack`.
const LISTEN_URL: &str = "AKHAR_DATABASE_LISTEN_URL";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_no_changes_is_named_and_callers_may_come_back() {
    let cluster = Cluster::own();
    let mut stack = Stack::with().on(&cluster).start().await;
    record_ends(&stack.db).await;
    assert_eq!(recognise(&stack).await.predictions()[0].0, digit().label);
    let acknowledged = submit(&stack).await;
    stack.job_is(acknowledged, "succeeded").await;
    cluster.set_read_only(true).await;
    let ready = until("the api is not ready", async || {
        Some(stack.get("/health/ready").await).filter(|ready| ready.status == 503)
    });
    assert!(ready.await.text().contains("read-only"), "the readiness names it");
    for request in [
        stack.post(digit().operation, &Form::upload(&digit().bytes)),
        stack.request("DELETE", &format!("/v1/jobs/{acknowledged}")),
    ] {
        let refused = send(request).await;
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert!(!refused.header("retry-after").is_empty(), "a 503 has Retry-After");
    }
    let (_, doctor, log) = stack.run(&["doctor"]).await;
    assert!(doctor.contains("read-only"), "{doctor}{log}");
    cluster.set_read_only(false).await;
    until("a picture is recognised", async || {
        let answer = recognise(&stack).await;
        (answer.status == 200).then(|| assert_eq!(answer.predictions()[0].0, digit().label))
    })
    .await;
    until("the api is ready", async || (stack.get("/health/ready").await.status == 200).then_some(())).await;
    assert_eq!(stack.get(&format!("/v1/jobs/{acknowledged}")).await.status, 200);
    assert!(!stack.api.has_ended() && !stack.workers[0].has_ended(), "nothing was restarted");
    every_job_ended_once(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_processes_follow_the_primary_to_another_address_of_their_url() {
    let first = Cluster::own();
    let mut stack = Stack::with().on(&first).workers(0).start().await;
    record_ends(&stack.db).await;
    let second = first.replica().await;
    let hosts = ["127.0.77.2", "127.0.77.3"]; // no other server listens at these
    first.configure(&[("listen_addresses", hosts[0])]).await;
    second.configure(&[("listen_addresses", hosts[1])]).await;
    let database = stack.db.servers().options()[0].get_database().expect("a database").to_owned();
    let url = format!(
        "postgres://akhar@{},{}/{database}?target_session_attrs=read-write&sslmode=disable",
        hosts[0], hosts[1]
    );
    let notified = stack.environment().iter().any(|(name, value)| name == LISTEN_URL && value != "off");
    let names = ["AKHAR_DATABASE_URL"].into_iter().chain(notified.then_some(LISTEN_URL));
    stack.change(names.map(|name| (name.to_owned(), url.clone())).collect());
    stack.restart_api().await;
    stack.add_worker().await;
    let mut acknowledged = Vec::new();
    for _ in 0..20 {
        acknowledged.push(submit(&stack).await);
    }
    let read = stack.request("GET", &format!("/v1/jobs/{}", acknowledged[0]));
    let (reading, waiting) =
        (Load::repeat(&read, 1), Load::start(&stack, 2, digit().operation, &digit().bytes));
    let n_before = until("jobs end", async || Some(n_ended(&stack.db).await).filter(|n| *n > 40)).await;

    // The connections to the former primary stay open, and it goes on to answer queries.
    first.set_read_only(true).await;
    second.promote().await;
    stack.db = Pool::new(second.options().database(&database).into(), 4);
    until("jobs end at the new primary", async || (n_ended(&stack.db).await > n_before + 10).then_some(()))
        .await;
    until("the api is ready", async || (stack.get("/health/ready").await.status == 200).then_some(())).await;
    for (load, sent) in [("reading", reading.stop().await), ("waiting", waiting.stop().await)] {
        let counts = statuses(&sent);
        assert!(counts.keys().all(|status| matches!(status, 200 | 503)), "{load}: {counts:?}");
    }
    for job in acknowledged {
        stack.job_is(job, "succeeded").await;
        assert_eq!(stack.get(&format!("/v1/jobs/{job}")).await.status, 200);
    }
    assert!(!stack.api.has_ended() && !stack.workers[0].has_ended(), "nothing was restarted");
    every_job_ended_once(&stack).await;
}

async fn recognise(stack: &Stack) -> Answer {
    stack.recognise(digit().operation, &digit().bytes).await
}

async fn n_ended(db: &Pool) -> i64 {
    sqlx::query_scalar("select count(*) from ends").fetch_one(db).await.unwrap_or_default()
}
