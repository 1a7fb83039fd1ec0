//! The jobs of requests: asynchronous answers, reading and cancelling a job, and full queues.

use akhar_tests::{
    Form, Stack,
    http::{connect, head, send},
    speech::recording,
    until,
};
use rustix::process::Signal;
use uuid::Uuid;

use crate::operations;

#[tokio::test]
async fn the_result_of_an_asynchronous_request_is_at_its_location() {
    let stack = Stack::start().await;
    for image in operations() {
        let request = stack.post(image.operation, &Form::upload_and(&image.bytes, "top-k", "1"));
        let accepted = send(request.header("prefer", "respond-async")).await;
        assert_eq!(accepted.header("preference-applied"), "respond-async");
        let id = accepted.job();
        let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await;
        assert_eq!(job.status, 200);
        let document = job.json();
        assert_eq!(
            (&document["state"], &document["operation"]),
            (&"succeeded".into(), &image.operation.into()),
            "{document}"
        );
        let result = stack.get(&format!("/v1/jobs/{id}/result")).await.predictions();
        assert_eq!((result.len(), &result[0].0), (1, &image.label));
    }
}

#[tokio::test]
async fn a_job_that_takes_longer_than_the_wait_limit_is_answered_with_202() {
    let mut stack = Stack::with().workers(0).set("AKHAR_QUICK_WAIT_S", 1).start().await;
    let image = &operations()[0];
    let id = stack.recognise(image.operation, &image.bytes).await.job();
    let waiting = stack.get(&format!("/v1/jobs/{id}")).await;
    assert_eq!((waiting.status, &waiting.json()["state"]), (200, &"queued".into()));
    stack.add_worker().await;
    let ended = stack.get(&format!("/v1/jobs/{id}?wait=30")).await;
    assert_eq!(ended.json()["state"], "succeeded");
    assert_eq!(stack.get(&format!("/v1/jobs/{id}/result")).await.predictions()[0].0, image.label);

    let request = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "wait=30");
    let waited = send(request).await;
    waited.predictions();
}

#[tokio::test]
async fn a_job_is_its_callers_alone() {
    let stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let id = send(stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async"))
        .await
        .job();
    let other = stack.keys(&["create", "--name", "other"]).await;
    let nobody = Uuid::now_v7();
    for path in [format!("/v1/jobs/{id}"), format!("/v1/jobs/{id}/result")] {
        let theirs = stack.refused(stack.anonymous("GET", &path).bearer_auth(&other), 404).await;
        let nowhere = stack
            .refused(stack.request("GET", &path.replace(&id.to_string(), &nobody.to_string())), 404)
            .await;
        assert_eq!(
            theirs.json["detail"], nowhere.json["detail"],
            "the error does not reveal that the job exists"
        );
    }
    let path = format!("/v1/jobs/{id}");
    stack.refused(stack.anonymous("DELETE", &path).bearer_auth(&other), 404).await;
    stack.job_is(id, "queued").await;
}

#[tokio::test]
async fn a_queued_job_can_be_cancelled_and_a_finished_one_deleted() {
    let mut stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let submit = async |stack: &Stack| {
        send(stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async"))
            .await
            .job()
    };
    let (cancelled, kept) = (submit(&stack).await, submit(&stack).await);
    let answer = send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await;
    assert!((200..300).contains(&answer.status), "{}", answer.status);
    stack.job_is(cancelled, "cancelled").await;
    stack.refused(stack.request("GET", &format!("/v1/jobs/{cancelled}/result")), 409).await;
    stack.refused(stack.request("GET", &format!("/v1/jobs/{kept}/result")), 409).await;
    stack.add_worker().await;
    stack.job_is(kept, "succeeded").await;
    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{kept}"))).await.status, 204);
    stack.refused(stack.request("GET", &format!("/v1/jobs/{kept}")), 410).await;
    let state: String = stack.row("select state from jobs where id = $1", cancelled).await;
    assert_eq!(state, "cancelled");
    let n_left: i64 = sqlx::query_scalar("select count(*) from jobs where upload is not null")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n_left, 0, "an upload is deleted when its job ends");
}

#[tokio::test]
async fn a_running_job_can_be_cancelled_and_its_worker_stops() {
    let stack = Stack::start().await;
    let recording = recording("pa-water.mp3").bytes;
    let submit = |n_copies| stack.post("speech-recognition", &Form::upload(&recording.repeat(n_copies)));
    let waiting = tokio::spawn(send(submit(240)));
    stack.jobs_are(1, "running").await;
    stack.workers[0].signal(Signal::STOP); // so that the job does not end first
    let job: Uuid = stack.get("/v1/jobs").await.json()["jobs"][0]["id"]
        .as_str()
        .and_then(|id| id.parse().ok())
        .expect("a job");
    let follower = tokio::spawn(send(stack.request("GET", &format!("/v1/jobs/{job}?wait=60"))));
    let other = stack.keys(&["create", "--name", "other"]).await;
    let path = format!("/v1/jobs/{job}");
    stack.refused(stack.anonymous("DELETE", &path).bearer_auth(&other), 404).await;
    let cancelled = send(stack.request("DELETE", &path)).await;
    assert_eq!((cancelled.status, &cancelled.json()["state"]), (200, &"cancelled".into()));
    assert_eq!(waiting.await.expect("an answer").problem(409).slug, "job-cancelled");
    assert_eq!(follower.await.expect("an answer").json()["state"], "cancelled");
    stack.refused(stack.request("GET", &format!("{path}/result")), 409).await;
    stack.workers[0].signal(Signal::CONT);
    assert_eq!(send(submit(1)).await.status, 200, "the worker has its place for speech again");
    let logs = |text: &str| {
        stack.workers[0].log().iter().any(|line| line.contains(text) && line.contains(&job.to_string()))
    };
    until("the worker says that it has stopped", async || logs("attempt stopped").then_some(())).await;
    assert!(!logs("recording transcribed"));
    let attempts: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempts, 1, "it is not tried again");
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_unstarted_job() {
    let stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let length = form.body().len().to_string();
    let headers = [("Content-Type", &*form.content_type()), ("Content-Length", &*length)];
    let head = head("POST", "/v1/models/digit-recognition", &stack.key, &headers);
    let connection = connect(&stack.base, &[head, form.body()].concat()).await;
    stack.jobs_are(1, "queued").await;
    drop(connection);
    stack.jobs_are(1, "cancelled").await;
}

#[tokio::test]
async fn a_full_queue_turns_work_away_and_says_when_to_come_back() {
    let mut stack = Stack::with().workers(0).set("AKHAR_MAX_WAITING", 2).start().await;
    let image = &operations()[0];
    let request =
        || stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let (one, two) = (send(request()).await.job(), send(request()).await.job());
    let full = send(request()).await;
    let seconds = full.header("retry-after").parse::<u64>();
    assert!(seconds.is_ok_and(|s| s > 0), "Retry-After: {:?}", full.header("retry-after"));
    stack.refused(request(), 503).await;
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 2, "a refused request leaves no row");
    stack.add_worker().await;
    stack.job_is(one, "succeeded").await;
    stack.job_is(two, "succeeded").await;
    let image = &operations()[0];
    until("there is room again", async || {
        (stack.recognise(image.operation, &image.bytes).await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_rejected_image_gives_a_failed_job_with_a_reason() {
    let stack = Stack::start().await;
    let form = Form::upload(&akhar_tests::images::blank(50));
    let id = send(stack.post("digit-recognition", &form).header("prefer", "respond-async")).await.job();
    let document = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!(document["state"], "failed", "{document}");
    stack.refused(stack.request("GET", &format!("/v1/jobs/{id}/result")), 422).await;
    let attempts: i32 = stack.row("select attempt from jobs where id = $1", id).await;
    assert_eq!(attempts, 1, "a job that cannot succeed is not tried again");
}

#[tokio::test]
async fn the_number_of_requests_in_a_process_is_limited() {
    let stack =
        Stack::with().workers(0).set("AKHAR_MAX_REQUESTS", 1).set("AKHAR_QUICK_WAIT_S", 20).start().await;
    let image = &operations()[0];
    let held = tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))));
    stack.jobs_are(1, "queued").await;
    let problem = stack.refused(stack.post(image.operation, &Form::upload(&image.bytes)), 429).await;
    assert_eq!(problem.slug, "account-busy");
    assert_eq!(
        send(stack.anonymous("GET", "/health/live")).await.status,
        200,
        "health requests do not count"
    );
    held.abort();
    stack.jobs_are(1, "cancelled").await;
    until("another request is accepted again", async || {
        (stack.get("/v1/jobs/0199a1b2-0000-7000-8000-000000000000").await.status == 404).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_job_is_deleted_after_its_retention_time() {
    let mut stack = Stack::with().set("AKHAR_RETENTION_S", 0).start().await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let id = send(request).await.job();
    stack.job_is(id, "succeeded").await;
    stack.add_worker().await; // a worker deletes old jobs soon after it starts, and then once a minute
    until("the job is deleted", async || {
        (stack.get(&format!("/v1/jobs/{id}")).await.status == 404).then_some(())
    })
    .await;
    stack.refused(stack.request("GET", &format!("/v1/jobs/{id}/result")), 404).await;
}
