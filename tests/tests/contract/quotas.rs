//! The quotas of accounts: requests in a minute, waiting jobs, and minutes of audio in a day.

use akhar_tests::{
    Answer, Form, Problem, Stack,
    http::{client, send},
    speech::{noise, recording, wav},
    until,
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::operations;

/// A key of an account with these quotas.
async fn key_with(stack: &Stack, quotas: &[&str]) -> String {
    stack.keys(&[&["create", "--name", "limited"], quotas].concat()).await
}

async fn post(stack: &Stack, key: &str, operation: &str, form: &Form, prefer: &str) -> Answer {
    let request = stack.anonymous("POST", &format!("/v1/models/{operation}")).bearer_auth(key);
    let request = request.header("content-type", form.content_type()).header("prefer", prefer);
    send(request.body(form.body())).await
}

/// Checks the refusal of a request whose quota is used up, and returns the seconds after which to try again.
fn refused_for(answer: &Answer, quota: &str) -> u64 {
    let Problem { slug, json } = answer.problem(429);
    assert_eq!((slug.as_str(), &json["violated-policies"]), ("quota-exceeded", &json!([quota])));
    answer.header("retry-after").parse().expect("seconds")
}

#[tokio::test]
async fn an_account_may_make_so_many_requests_in_a_minute() {
    let stack = Stack::with().workers(0).start().await;
    let key = key_with(&stack, &["--rpm", "2"]).await;
    let get = async |key: &str| send(stack.anonymous("GET", "/v1/jobs").bearer_auth(key)).await;
    for n_left in [1, 0] {
        let answer = get(&key).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("ratelimit-policy"), "\"rpm\";q=2;w=60");
        assert!(answer.header("ratelimit").starts_with(&format!("\"rpm\";r={n_left};t=")), "{answer:?}");
    }
    let refused = get(&key).await;
    assert!((1..=30).contains(&refused_for(&refused, "rpm")));
    assert!(refused.header("ratelimit").starts_with("\"rpm\";r=0;t="), "{refused:?}");
    let unlimited = get(&stack.key).await;
    assert_eq!((unlimited.status, unlimited.header("ratelimit")), (200, ""));

    let prefix = &key[3..11];
    let listed = stack.keys(&["list"]).await;
    assert!(listed.lines().any(|line| line.starts_with(prefix) && line.contains("works, rpm 2  limited")));
    stack.keys(&["limit", prefix, "--max-queued", "7"]).await;
    until("the quota is gone", async || (get(&key).await.status == 200).then_some(())).await;
    assert_eq!(get(&key).await.header("ratelimit"), "");
    assert!(stack.keys(&["list"]).await.contains("works, max-queued 7  limited"));
}

#[tokio::test]
async fn an_account_may_have_so_many_jobs_waiting() {
    let stack = Stack::with().workers(0).start().await;
    let key = key_with(&stack, &["--max-queued", "2"]).await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let submit = async |key: &str| post(&stack, key, image.operation, &form, "respond-async").await;
    for _ in 0..2 {
        assert_eq!(submit(&key).await.status, 202);
    }
    assert!(refused_for(&submit(&key).await, "queued") > 0);
    assert_eq!(submit(&stack.key).await.status, 202, "other accounts are not limited");
    let recording = Form::upload(&recording("pa-water.mp3").bytes);
    let other_queue = post(&stack, &key, "speech-recognition", &recording, "respond-async").await;
    assert_eq!(other_queue.status, 202, "each queue has its own places");
    let job = send(stack.anonymous("GET", "/v1/jobs?operation=digit-recognition").bearer_auth(&key)).await;
    let id = job.json()["jobs"][0]["id"].as_str().expect("a job").to_owned();
    let path = format!("/v1/jobs/{id}");
    assert_eq!(send(stack.anonymous("DELETE", &path).bearer_auth(&key)).await.status, 200);
    assert_eq!(submit(&key).await.status, 202);
}

#[tokio::test]
async fn an_account_may_have_so_many_minutes_of_audio_in_a_day() {
    let stack = Stack::start().await;
    let key = key_with(&stack, &["--audio-minutes", "1"]).await;
    let form = Form::upload(&recording("pa-water.mp3").bytes.repeat(40));
    let first = post(&stack, &key, "speech-recognition", &form, "wait=60").await;
    assert_eq!(first.status, 200, "a recording may be longer than what is left");
    assert_eq!(first.header("ratelimit-policy"), "\"audio-minutes\";q=1;qu=\"minutes\";w=86400");
    assert!(first.header("ratelimit").starts_with("\"audio-minutes\";r=1;t="), "{first:?}");
    let used: f64 =
        sqlx::query_scalar("select sum(seconds) from audio_usage").fetch_one(&stack.db).await.expect("a sum");
    assert!((70.0..80.0).contains(&used), "{used} s");
    let refused = post(&stack, &key, "speech-recognition", &form, "wait=60").await;
    assert!((1..=86_400).contains(&refused_for(&refused, "audio-minutes")));
    let image = &operations()[0];
    let other = post(&stack, &key, image.operation, &Form::upload(&image.bytes), "wait=60").await;
    assert_eq!(other.status, 200, "other operations are not limited");
}

#[tokio::test]
async fn recordings_that_are_sent_at_once_to_several_apis_stay_within_the_quota() {
    let stack = Stack::with().workers(0).start().await;
    let (_other, other_base) = stack.start_api().await;
    let key = key_with(&stack, &["--audio-minutes", "1"]).await;
    let form = Form::upload(&wav(&noise(20)));
    let request = |base: &str| {
        let request = client().post(format!("{base}/v1/models/speech-recognition")).bearer_auth(&key);
        form.send_with(request.header("prefer", "respond-async"))
    };
    let sent: JoinSet<_> = (0..12).map(|nth| send(request([&stack.base, &other_base][nth % 2]))).collect();
    let (accepted, refused): (Vec<_>, Vec<_>) =
        sent.join_all().await.into_iter().partition(|answer| answer.status == 202);
    assert_eq!(accepted.len(), 3);
    assert!(refused.iter().all(|answer| refused_for(answer, "audio-minutes") <= 5));
    let cancel = stack.anonymous("DELETE", accepted[0].header("location")).bearer_auth(&key);
    assert_eq!(send(cancel).await.status, 200);
    assert_eq!(send(request(&stack.base)).await.status, 202, "a job that has ended reserves nothing");
}

#[tokio::test]
async fn an_account_may_have_so_many_megabytes_stored() {
    let mut stack = Stack::with().workers(0).start().await;
    let key = key_with(&stack, &["--stored-mb", "1"]).await;
    let form = Form::upload(&wav(&noise(20)));
    let request = |stack: &Stack, nth: u8| {
        let request = stack.post_as(&key, "speech-recognition", &form).header("prefer", "respond-async");
        request.header("idempotency-key", nth.to_string())
    };
    let jobs = [send(request(&stack, 0)).await.job(), send(request(&stack, 1)).await.job()];
    stack.restart_api().await; // a process estimates what is stored when it starts, and then once a minute
    let refused = until("the estimate is known", async || {
        let answer = send(request(&stack, 2)).await;
        if answer.status == 202 {
            send(stack.anonymous("DELETE", &format!("/v1/jobs/{}", answer.job())).bearer_auth(&key)).await;
        }
        (answer.status != 202).then_some(answer)
    });
    assert_eq!(refused_for(&refused.await, "stored-mb"), 60);
    assert_eq!(send(request(&stack, 1)).await.job(), jobs[1], "it is stored already");
    let mut holder = stack.db.servers().connect().await.expect("a connection");
    sqlx::raw_sql("begin; lock table jobs").execute(&mut holder).await.expect("a lock");
    let refused = stack.post_as(&key, "speech-recognition", &form);
    assert_eq!(refused_for(&send(refused).await, "stored-mb"), 60, "it costs the database nothing");
    sqlx::raw_sql("rollback").execute(&mut holder).await.expect("an end");
    let other = send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await;
    assert_eq!(other.status, 202, "other accounts are not limited");

    stack.keys(&["limit", &key[3..11], "--stored-mb", "2"]).await;
    until("the account may store more", async || {
        (send(request(&stack, 3)).await.status == 202).then_some(())
    })
    .await;
}
