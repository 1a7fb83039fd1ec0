//! How long ended jobs are kept: the header Akhar-Retain, what an account has, and jobs that are kept until they are delivered.

use std::time::Duration;

use akhar_jobs::store::{self, Clock};
use akhar_tests::{Form, Stack, free_port, http::send, speech::recording, until, webhooks::Receiver};
use uuid::Uuid;

use crate::{operations, violations};

const RETAIN: &str = "akhar-retain";

fn digit(stack: &Stack) -> reqwest::RequestBuilder {
    let image = &operations()[0];
    stack.post(image.operation, &Form::upload(&image.bytes))
}

/// Submits an asynchronous job.
async fn submit(stack: &Stack, seconds: &str) -> Uuid {
    send(digit(stack).header(RETAIN, seconds).header("prefer", "respond-async")).await.job()
}

/// Waits until a job is deleted.
async fn is_deleted(stack: &Stack, job: Uuid) {
    until("the job is deleted", async || (n_left(stack, job).await == 0).then_some(())).await;
    let problem = stack.refused(stack.request("GET", &format!("/v1/jobs/{job}")), 410).await;
    assert_eq!(problem.slug, "job-deleted");
}

async fn n_left(stack: &Stack, job: Uuid) -> i64 {
    stack.row("select count(*) from jobs where id = $1", job).await
}

/// Deletes old jobs, as a worker does once a minute.
async fn sweep(stack: &Stack) {
    let now = sqlx::query_scalar("select now()").fetch_one(&stack.db).await.expect("a time");
    let day = Duration::from_secs(24 * 60 * 60);
    let clock = Clock { now, jumps: Vec::new() };
    store::expire(&stack.db, &clock, day, day).await.expect("a deletion");
}

/// How long each job is kept, the newest first.
async fn retentions(stack: &Stack) -> Vec<Option<i32>> {
    let all = sqlx::query_scalar("select retain_s from jobs order by id desc");
    all.fetch_all(&stack.db).await.expect("the jobs")
}

#[tokio::test]
async fn the_header_is_a_number_of_seconds_that_the_account_may_have() {
    let stack = Stack::with().workers(0).set("AKHAR_RETENTION_S", 1000).start().await;
    for (value, code) in [("soon", "not_an_integer"), ("-1", "not_an_integer"), ("1001", "out_of_range")] {
        let refused = stack.refused(digit(&stack).header(RETAIN, value), 422).await;
        assert_eq!(refused.errors(), violations([("Akhar-Retain", code)]), "{value}");
    }
    let twice = digit(&stack).header(RETAIN, "1").header(RETAIN, "1");
    assert_eq!(stack.refused(twice, 422).await.errors(), violations([("Akhar-Retain", "duplicated")]));
    assert_eq!(retentions(&stack).await, [None; 0]);
    submit(&stack, "1000").await;
    submit(&stack, "0").await;
    send(digit(&stack).header("prefer", "respond-async")).await.job();
    assert_eq!(retentions(&stack).await, [None, Some(0), Some(1000)]);
}

#[tokio::test]
async fn an_account_has_a_default_and_a_maximum() {
    let stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "brief", "--retain", "60", "--max-retain", "600"]).await;
    let image = &operations()[0];
    let request = || {
        let request = stack.post_as(&key, image.operation, &Form::upload(&image.bytes));
        request.header("prefer", "respond-async")
    };
    send(request()).await.job();
    send(request().header(RETAIN, "600")).await.job();
    assert_eq!(retentions(&stack).await, [Some(600), Some(60)]);
    let refused = stack.refused(request().header(RETAIN, "601"), 422).await;
    assert_eq!(refused.errors(), violations([("Akhar-Retain", "out_of_range")]));
    assert!(refused.details().contains("expected 0 to 600"), "{}", refused.details());
    let listed = stack.keys(&["list"]).await;
    assert!(listed.contains("works, retain 60, max-retain 600  brief"), "{listed}");
    let listed = stack.akhar_json(&["keys", "list"]).await;
    assert_eq!((&listed[1]["retain_s"], &listed[1]["max_retain_s"]), (&60.into(), &600.into()));

    stack.keys(&["limit", &key[3..11], "--retain", "0"]).await;
    until("the api has heard of it", async || {
        send(request()).await.job();
        (retentions(&stack).await[0] == Some(0)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_worker_deletes_jobs_when_their_time_is_over() {
    let mut stack = Stack::with().set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8").start().await;
    stack.keys(&["webhook", &stack.key[3..11]]).await;
    let (brief, longer) = (submit(&stack, "1").await, submit(&stack, "80000").await);
    let unheard = digit(&stack).header(RETAIN, "1").header("prefer", "respond-async");
    // Nothing listens there, so the webhook waits for another attempt.
    let unheard = unheard.header("akhar-webhook", format!("http://127.0.0.1:{}/", free_port()));
    let unheard = send(unheard).await.job();
    let kept = send(digit(&stack).header("prefer", "respond-async")).await.job();
    for job in [brief, longer, unheard, kept] {
        stack.job_is(job, "succeeded").await;
    }
    // Two hours later, as the rows say.
    let later = "update jobs set ended_at = ended_at - interval '2 hours'";
    sqlx::query(later).execute(&stack.db).await.expect("an update");
    stack.add_worker().await; // it deletes what is old some seconds after its start
    is_deleted(&stack, brief).await;
    for job in [longer, unheard, kept] {
        assert_eq!(n_left(&stack, job).await, 1);
    }
    let given_up = "update webhook_deliveries set state = 'dead', ended_at = now()";
    sqlx::query(given_up).execute(&stack.db).await.expect("an update");
    sweep(&stack).await;
    is_deleted(&stack, unheard).await;
}

#[tokio::test]
async fn a_job_that_is_kept_until_delivery_is_deleted_after_the_response() {
    let stack = Stack::start().await;
    let request = || digit(&stack).header(RETAIN, "0").header("idempotency-key", "a-key");
    let first = send(request()).await;
    first.predictions();
    let job: Uuid = first.header("akhar-job").parse().expect("a job's id");
    is_deleted(&stack, job).await;
    let again = send(request()).await;
    assert_eq!(again.predictions(), first.predictions());
    assert_ne!(again.header("akhar-job"), job.to_string(), "the key was deleted too");

    let refused =
        send(stack.post("digit-recognition", &Form::upload(b"\x89PNG\r\n\x1a\n")).header(RETAIN, "0")).await;
    refused.problem(422);
    is_deleted(&stack, refused.header("akhar-job").parse().expect("a job's id")).await;
}

#[tokio::test]
async fn only_what_has_the_outcome_delivers_it() {
    let mut stack = Stack::start().await;
    let request = || {
        let request = digit(&stack).header(RETAIN, "0").header("idempotency-key", "a-key");
        request.header("prefer", "respond-async")
    };
    let job = send(request()).await.job();
    stack.job_is(job, "succeeded").await;
    let path = format!("/v1/jobs/{job}");
    let again = send(request()).await;
    assert_eq!(
        (again.job(), &again.json()["state"]),
        (job, &"succeeded".into()),
        "its Location is asked next"
    );
    let listed = stack.get("/v1/jobs").await;
    assert_eq!(listed.json()["jobs"][0]["id"], job.to_string());
    assert_eq!(send(stack.request("HEAD", &path)).await.status, 200);
    let unacceptable = stack.request("GET", &format!("{path}/result")).header("accept", "image/png");
    stack.refused(unacceptable, 406).await;
    stack.refused(stack.request("GET", &format!("{path}?wait=x")), 422).await;
    let waits = send(digit(&stack)).await; // whatever the requests before have begun is over
    assert_eq!((waits.status, n_left(&stack, job).await), (200, 1));
    stack.get(&format!("{path}/result")).await.predictions();
    is_deleted(&stack, job).await;

    let of_document = submit(&stack, "0").await;
    let document = stack.get(&format!("/v1/jobs/{of_document}?wait=30")).await.json();
    assert!(document["result"]["predictions"].is_array(), "{document}");
    is_deleted(&stack, of_document).await;

    let of_events = submit(&stack, "0").await;
    let events = stack.get(&format!("/v1/jobs/{of_events}/events")).await.text();
    assert!(events.contains("event: done"), "{events}");
    is_deleted(&stack, of_events).await;

    let form = Form::upload_and(&recording("pa-water.mp3").bytes, "model", "speech-pa");
    for form in [form.clone(), form.text("stream", "true")] {
        let request = form.send_with(stack.request("POST", "/v1/audio/transcriptions")).header(RETAIN, "0");
        let answer = send(request).await;
        assert_eq!(answer.status, 200);
        is_deleted(&stack, answer.header("akhar-job").parse().expect("a job's id")).await;
    }

    stack.workers[0].kill().await;
    let cancelled = submit(&stack, "0").await;
    assert_eq!(
        send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await.json()["state"],
        "cancelled"
    );
    is_deleted(&stack, cancelled).await;
}

#[tokio::test]
async fn a_webhook_delivers_and_is_not_lost_by_another_delivery() {
    let stack = Stack::with().set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8").start().await;
    let secret = stack.keys(&["webhook", &stack.key[3..11]]).await;
    let receiver = Receiver::start(&[&secret]).await;
    let with_webhook = |url: &str| {
        let request = digit(&stack).header(RETAIN, "0").header("akhar-webhook", url.to_owned());
        request.header("prefer", "respond-async")
    };
    let heard = send(with_webhook(&format!("{}/ok", receiver.base))).await.job();
    let webhook = &receiver.receives(1, "/ok").await[0];
    assert!(webhook["body"]["data"]["result"]["predictions"].is_array(), "{webhook}");
    is_deleted(&stack, heard).await;

    let unheard = send(with_webhook(&format!("http://127.0.0.1:{}/", free_port()))).await.job();
    stack.job_is(unheard, "succeeded").await;
    stack.get(&format!("/v1/jobs/{unheard}/result")).await.predictions();
    until("it is marked", async || {
        let seconds: Option<i32> = stack.row("select retain_s from jobs where id = $1", unheard).await;
        (seconds == Some(1)).then_some(())
    })
    .await;
    let delivery: String = stack.row("select state from webhook_deliveries where job_id = $1", unheard).await;
    assert_eq!(delivery, "pending", "it is sent again");
    let later = "with given_up as (update webhook_deliveries set state = 'dead', ended_at = now())
        update jobs set ended_at = ended_at - interval '1 hour'";
    sqlx::query(later).execute(&stack.db).await.expect("an update");
    sweep(&stack).await;
    is_deleted(&stack, unheard).await;
}
