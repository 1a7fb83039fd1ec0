//! Requests with an Idempotency-Key: repeated, changed, concurrent, and from clients that disconnect.

use akhar_tests::{
    Form, Seam, Stack,
    http::{connect, head, send},
    until,
};

use crate::operations;

const KEY: &str = "idempotency-key";

async fn n_jobs(stack: &Stack) -> i64 {
    sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count")
}

#[tokio::test]
async fn a_repeated_request_gets_the_first_ones_job() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let request = |key: &str| stack.post(image.operation, &Form::upload(&image.bytes)).header(KEY, key);
    let (first, again) = (send(request("a-key")).await, send(request("\"a-key\"")).await);
    assert_eq!(first.predictions(), again.predictions());
    assert_eq!(first.header("akhar-job"), again.header("akhar-job"));
    let accepted = send(request("a-key").header("prefer", "respond-async")).await;
    assert_eq!(accepted.job().to_string(), first.header("akhar-job"));
    let other = send(request("another-key")).await;
    assert_ne!(other.header("akhar-job"), first.header("akhar-job"));
    assert_eq!(n_jobs(&stack).await, 2);
}

#[tokio::test]
async fn a_key_belongs_to_one_request_and_one_account() {
    let mut stack = Stack::start().await;
    let image = &operations()[0];
    let request = |form: &Form| stack.post(image.operation, form).header(KEY, "a-key");
    let first = send(request(&Form::upload(&image.bytes))).await;
    first.predictions();
    for form in [Form::upload_and(&image.bytes, "top-k", "5"), Form::upload(&operations()[1].bytes)] {
        let refused = stack.refused(request(&form), 422).await;
        assert_eq!(refused.errors(), [("Idempotency-Key".to_owned(), "reused".to_owned())].into());
    }
    let elsewhere = stack.post(operations()[1].operation, &Form::upload(&image.bytes)).header(KEY, "a-key");
    stack.refused(elsewhere, 422).await;
    stack.refused(request(&Form::upload(&image.bytes)).header(KEY, "twice"), 422).await;

    let account = stack.keys(&["create", "--name", "other"]).await;
    let theirs = stack.post_as(&account, image.operation, &Form::upload(&image.bytes));
    let theirs = send(theirs.header(KEY, "a-key")).await;
    theirs.predictions();
    assert_ne!(theirs.header("akhar-job"), first.header("akhar-job"));

    sqlx::query("update idempotency_keys set created_at = now() - interval '25 hours'")
        .execute(&stack.db)
        .await
        .expect("an update");
    stack.add_worker().await; // it deletes what is old some seconds after its start
    until("old keys are deleted", async || {
        let n_keys = sqlx::query_scalar("select count(*) from idempotency_keys").fetch_one(&stack.db).await;
        (n_keys.ok() == Some(0_i64)).then_some(())
    })
    .await;
    let other = stack.post(image.operation, &Form::upload_and(&image.bytes, "top-k", "5"));
    let later = send(other.header(KEY, "a-key")).await;
    assert_eq!(later.predictions().len(), 5, "the key is free again");
}

#[tokio::test]
async fn concurrent_requests_with_a_key_share_one_job_that_outlives_their_clients() {
    let mut stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let request = || stack.post(image.operation, &form).header(KEY, "shared");
    let (content_type, body) = (form.content_type(), form.body());
    let length = body.len().to_string();
    let headers = [("content-type", content_type.as_str()), ("content-length", &length), (KEY, "shared")];
    let path = format!("/v1/models/{}", image.operation);
    let bytes = [head("POST", &path, &stack.key, &headers), body].concat();
    let leaves = connect(&stack.base, &bytes).await;
    stack.jobs_are(1, "queued").await;
    let waits = [request(), request()].map(|request| tokio::spawn(send(request)));
    drop(leaves);
    until("the api notices that the client disconnected", async || {
        stack.api.log().iter().any(|line| line.contains("client disconnected")).then_some(())
    })
    .await;
    stack.add_worker().await;
    for answer in waits {
        answer.await.expect("an answer").predictions();
    }
    assert_eq!(n_jobs(&stack).await, 1);
}

#[tokio::test]
async fn a_request_that_is_repeated_at_a_full_queue_gets_the_job_that_is_being_submitted() {
    let mut stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let post = |stack: &Stack, base: &str, key: &str| {
        let url = format!("{base}/v1/models/{}", image.operation);
        let request = stack.anonymous("POST", &url).bearer_auth(&stack.key);
        form.send_with(request).header(KEY, key).header("prefer", "respond-async")
    };
    send(post(&stack, &stack.base, "fills the queue")).await.job();
    let mut held = Seam::Submit.hold(&stack.db).await;
    let first = tokio::spawn(send(post(&stack, &stack.base, "a-key")));
    held.holds(1).await;
    stack.change(vec![("AKHAR_MAX_WAITING".to_owned(), "1".to_owned())]);
    let (_full, base) = stack.start_api().await;
    let repeated = tokio::spawn(send(post(&stack, &base, "a-key")));
    held.holds(2).await;
    held.release().await;
    assert_eq!(repeated.await.expect("an answer").job(), first.await.expect("an answer").job());
    let refused = stack.refused(post(&stack, &base, "another-key"), 503).await;
    assert_eq!(refused.slug, "queue-full");
    assert_eq!(n_jobs(&stack).await, 2);
}

#[tokio::test]
async fn a_job_that_was_never_submitted_is_submitted_by_the_repeated_request() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let request = || stack.post(image.operation, &Form::upload(&image.bytes)).header(KEY, "a-key");
    let first = send(request()).await;
    // The state after a crash between the claim of the key and the submission.
    sqlx::query("delete from jobs").execute(&stack.db).await.expect("a delete");
    let again = send(request()).await;
    assert_eq!(again.predictions(), first.predictions());
    assert_eq!(again.header("akhar-job"), first.header("akhar-job"));
}
