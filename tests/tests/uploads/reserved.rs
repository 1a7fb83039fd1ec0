//! Uploads that callers write to the bucket themselves.

use std::{collections::BTreeSet, time::Duration};

use akhar_client::{RecordingSource, SpeechRequest};
use akhar_jobs::{
    store::{self, Clock},
    uploads::{Orphans, S3Access, UploadStore},
};
use akhar_tests::{
    Answer, Cluster, Form, Problem, Stack, StackBuilder,
    http::{client, send},
    speech::{large_wav, recording},
    uploads::{S3Server, Store},
};
use serde_json::{Value, json};
use uuid::Uuid;

const SPEECH: &str = "speech-recognition";

/// A service with an empty bucket.
async fn with_bucket<'a>() -> (StackBuilder<'a>, Store) {
    let store = Store::bucket().await;
    (Stack::with().settings(store.settings()), store)
}

fn reservation(stack: &Stack, size: usize) -> reqwest::RequestBuilder {
    stack.request("POST", "/v1/uploads").json(&json!({"size": size}))
}

/// The id and the URL of a new upload.
async fn reserve(stack: &Stack, size: usize) -> (Uuid, String) {
    let answer = send(reservation(stack, size)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let body = answer.json();
    let text = |name: &str| body[name].as_str().unwrap_or_else(|| panic!("no {name}: {body}"));
    (text("id").parse().expect("an id"), text("url").to_owned())
}

async fn put(url: &str, file: &[u8]) {
    let answer = send(client().put(url).body(file.to_vec())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// The id of a new upload of this file.
async fn upload(stack: &Stack, file: &[u8]) -> Uuid {
    let (id, url) = reserve(stack, file.len()).await;
    put(&url, file).await;
    id
}

fn of_upload(id: Uuid) -> Form {
    Form::default().text("upload", &id.to_string())
}

fn transcription(stack: &Stack, form: &Form) -> reqwest::RequestBuilder {
    stack.post(SPEECH, form)
}

fn asynchronous(stack: &Stack, form: &Form) -> reqwest::RequestBuilder {
    transcription(stack, form).header("prefer", "respond-async")
}

fn text(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["transcription"].as_str().expect("a text").to_owned()
}

fn is_refused(problem: &Problem, field: &str, code: &str) {
    let expected = BTreeSet::from([(field.to_owned(), code.to_owned())]);
    assert_eq!(problem.errors(), expected, "{problem:?}");
}

async fn n_reserved(stack: &Stack) -> i64 {
    let count = "select count(*) from reserved_uploads";
    sqlx::query_scalar(count).fetch_one(&stack.db).await.expect("a count")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_in_the_bucket_is_transcribed_and_then_deleted() {
    let (stack, store) = with_bucket().await;
    let stack = stack.start().await;
    let file = recording("pa-school.wav").bytes;
    let expected = text(&send(transcription(&stack, &Form::upload(&file))).await);

    let (id, url) = reserve(&stack, file.len()).await;
    assert!(url.contains("X-Amz-SignedHeaders=content-length%3Bhost"), "{url}");
    assert!(url.contains("X-Amz-Expires=3600") && !url.contains(&stack.key), "{url}");
    put(&url, &file).await;
    store.has(1).await;
    let answer = send(transcription(&stack, &of_upload(id))).await;
    assert_eq!(text(&answer), expected);
    store.has(0).await;
    // OpenAI's route has the field too, and every format.
    let flac =
        std::fs::read(akhar_tests::root().join("tests/fixtures/audio/pa-school.flac")).expect("a file");
    let form = of_upload(upload(&stack, &flac).await).text("model", "speech-pa");
    let request = form.send_with(stack.request("POST", "/v1/audio/transcriptions"));
    assert_eq!(send(request).await.json()["text"], format!("{expected}।"));
    store.has(0).await;
    let log = [stack.api.log(), stack.workers[0].log()].concat().join("\n");
    assert!(!log.contains("X-Amz-Signature"), "a URL is in the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_not_kept_in_memory() {
    let (stack, store) = with_bucket().await;
    let stack = stack.start().await;
    let said = recording("pa-school.wav");
    text(&send(transcription(&stack, &Form::upload(&said.bytes))).await);
    let peaks = || [&stack.api, &stack.workers[0]].map(|process| process.memory_kib().1);
    let before = peaks();
    let file = large_wav(40, &said.samples());
    assert!(file.len() > 40_000_000);
    let form = of_upload(upload(&stack, &file).await).text("with-timestamps", "true");
    let job = send(asynchronous(&stack, &form)).await.job();
    stack.job_is(job, "succeeded").await;
    let job = stack.get(&format!("/v1/jobs/{job}")).await.json();
    let start = job["result"]["timestamps"][0]["start"].as_f64().unwrap_or_else(|| panic!("{job}"));
    assert!((40.0..41.0).contains(&start), "{job}");
    for (before, after) in before.into_iter().zip(peaks()) {
        assert!(after.saturating_sub(before) < 25 * 1024, "a peak went from {before} to {after} KiB");
    }
    store.has(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_cannot_be_used_is_refused_with_the_reason() {
    let (stack, _store) = with_bucket().await;
    let stack = stack.workers(0).start().await;
    let file = recording("pa-school.wav").bytes;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let id = upload(&stack, &file).await;
    let refused = async |id: Uuid| stack.refused(transcription(&stack, &of_upload(id)), 422).await;
    let stolen = stack.refused(stack.post_as(&other, SPEECH, &of_upload(id)), 422).await;
    let unknown = refused(Uuid::now_v7()).await;
    for problem in [stolen, unknown] {
        is_refused(&problem, "upload", "not_found");
        assert!(problem.details().ends_with(" does not exist, or has expired"), "{problem:?}");
    }
    let (unsent, url) = reserve(&stack, file.len()).await;
    is_refused(&refused(unsent).await, "upload", "not_sent");
    // This server does not compare sizes.
    put(&url, &file[1..]).await;
    let problem = refused(unsent).await;
    is_refused(&problem, "upload", "other_size");
    let (found, expected) = (file.len() - 1, file.len());
    let detail = format!("upload {unsent} has {found} bytes, expected {expected} as reserved");
    assert_eq!(problem.details(), detail);
    put(&url, &file).await;
    send(asynchronous(&stack, &of_upload(unsent))).await.job();

    let page = upload(&stack, b"<!DOCTYPE html><title>Sign in</title>").await;
    let problem = stack.refused(transcription(&stack, &of_upload(page)), 415).await;
    is_refused(&problem, "upload", "unsupported_media_type");
    assert!(problem.details().starts_with("upload begins with \"<!DOCTYPE html><\", expected MP3"));
    for (form, field, code) in [
        (Form::default().text("upload", "1234"), "upload", "not_an_id"),
        (of_upload(id).text("url", "https://example.com/a.wav"), "upload", "unsupported"),
        (Form::upload(&file).text("upload", &id.to_string()), "upload", "unsupported"),
        (Form::default(), "file", "missing"),
    ] {
        is_refused(&stack.refused(transcription(&stack, &form), 422).await, field, code);
    }
    let image = stack.refused(stack.post("digit-recognition", &of_upload(id)), 422).await;
    assert!(image.errors().contains(&("upload".to_owned(), "unknown".to_owned())), "{image:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_has_one_job() {
    let (stack, store) = with_bucket().await;
    let mut stack = stack.workers(0).start().await;
    let id = upload(&stack, &recording("pa-school.wav").bytes).await;
    let form = of_upload(id);
    let keyed = || asynchronous(&stack, &form).header("idempotency-key", "a-key");
    // No header is the key of an upload.
    let drawn = stack.request("POST", "/v1/models/handwriting-generator").json(&json!({"text": "ਸ਼ਾਮ"}));
    let other = drawn.header("prefer", "respond-async").header("idempotency-key", format!("upload {id}"));
    send(other).await.job();
    let job = send(keyed()).await.job();
    for request in [keyed(), asynchronous(&stack, &form)] {
        assert_eq!(send(request).await.job(), job);
    }
    let others = of_upload(id).text("with-timestamps", "true");
    let problem = stack.refused(transcription(&stack, &others), 422).await;
    is_refused(&problem, "upload", "reused");
    let of_key = transcription(&stack, &others).header("idempotency-key", "a-key");
    is_refused(&stack.refused(of_key, 422).await, "Idempotency-Key", "reused");
    store.has(1).await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    store.has(0).await;
    text(&send(transcription(&stack, &of_upload(id))).await);
    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await.status, 204);
    let problem = stack.refused(transcription(&stack, &of_upload(id)), 422).await;
    is_refused(&problem, "upload", "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_with_the_upload_of_a_job_that_is_deleted_meanwhile_submit_no_other() {
    let (stack, store) = with_bucket().await;
    let stack = stack.start().await;
    let file = recording("pa-school.wav").bytes;
    for _ in 0..3 {
        let form = of_upload(upload(&stack, &file).await);
        let request = || send(transcription(&stack, &form).header("akhar-retain", "0"));
        for answer in futures::future::join_all((0..12).map(|_| request())).await {
            assert!([200, 410, 422].contains(&answer.status), "{}", answer.text());
        }
        assert_eq!(request().await.status, 422);
    }
    store.has(0).await;
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_refused_keeps_its_upload_and_one_that_is_cancelled_does_not() {
    let (stack, store) = with_bucket().await;
    let stack = stack.workers(0).set("AKHAR_MAX_WAITING", 1).start().await;
    let file = recording("pa-school.wav").bytes;
    let [first, second] = [upload(&stack, &file).await, upload(&stack, &file).await];
    let job = send(asynchronous(&stack, &of_upload(first))).await.job();
    stack.refused(asynchronous(&stack, &of_upload(second)), 503).await;
    store.has(2).await;
    let cancelled = send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    assert_eq!(cancelled.json()["state"], "cancelled");
    store.has(1).await;
    send(asynchronous(&stack, &of_upload(second))).await.job();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_an_upload_is_an_error_of_its_field() {
    let (stack, store) = with_bucket().await;
    let stack = stack.start().await;
    let id = upload(&stack, &recording("pa-school.wav").bytes[..40]).await;
    let problem = stack.refused(transcription(&stack, &of_upload(id)), 422).await;
    is_refused(&problem, "upload", "undecodable");
    store.has(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_without_a_job_is_deleted_after_a_day_and_not_before() {
    let (stack, store) = with_bucket().await;
    let stack = stack.workers(0).start().await;
    let Store::Bucket(server) = &store else { unreachable!("a bucket") };
    let settings = S3Server::settings(&server.address);
    let address = settings[0].1.clone();
    let access = move || Ok(S3Access { client: client(), settings: settings.clone() });
    let uploads = UploadStore::open(&address, 0, access).expect("a store");
    let mut orphans = Orphans::after(uploads, Duration::ZERO);
    let mut sweep = async || {
        let now = sqlx::query_scalar("select now()").fetch_one(&stack.db).await.expect("a time");
        let (clock, day) = (Clock { now, jumps: Vec::new() }, Duration::from_secs(24 * 60 * 60));
        store::expire(&stack.db, &clock, day, day).await.expect("a deletion");
        for _ in 0..2 {
            orphans.pass(&stack.db).await.expect("a pass");
        }
    };
    let file = recording("pa-school.wav").bytes;
    let [unused, used] = [upload(&stack, &file).await, upload(&stack, &file).await];
    send(asynchronous(&stack, &of_upload(used))).await.job();
    sweep().await;
    assert_eq!((n_reserved(&stack).await, store.objects().await.len()), (2, 2));
    let age = "update reserved_uploads set created_at = now() - interval '25 hours'";
    sqlx::query(age).execute(&stack.db).await.expect("an update");
    sweep().await;
    assert_eq!(n_reserved(&stack).await, 1);
    let left = store.objects().await;
    assert!(left.len() == 1 && left[0].contains(&used.to_string()), "{left:?}");
    is_refused(&stack.refused(transcription(&stack, &of_upload(unused)), 422).await, "upload", "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_has_only_so_many_bytes_in_the_bucket() {
    let file = recording("pa-school.wav").bytes;
    let size = file.len();
    let (stack, _store) = with_bucket().await;
    let most = u64::try_from(size).expect("a size");
    let stack = stack.workers(0).set("AKHAR_MAX_FETCHED_BYTES", most).start().await;
    for wrong in [0, size + 1] {
        let problem = stack.refused(reservation(&stack, wrong), 422).await;
        is_refused(&problem, "size", "out_of_range");
        assert_eq!(problem.details(), format!("size is {wrong}, expected an integer from 1 to {size}"));
    }
    let first = upload(&stack, &file).await;
    let answers = futures::future::join_all((0..20).map(|_| send(reservation(&stack, size)))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 15);
    let problem = stack.refused(reservation(&stack, size), 429).await;
    assert_eq!(
        (problem.slug.as_str(), &problem.json["violated-policies"]),
        ("quota-exceeded", &json!(["uploads"]))
    );
    let job = send(asynchronous(&stack, &of_upload(first))).await.job();
    stack.refused(reservation(&stack, size), 429).await;
    send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    reserve(&stack, size).await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let other = stack.anonymous("POST", "/v1/uploads").bearer_auth(other).json(&json!({"size": size}));
    assert_eq!(send(other).await.status, 201);
}

#[tokio::test]
async fn the_client_sends_a_recording_to_the_bucket() {
    let (stack, store) = with_bucket().await;
    let stack = stack.workers(0).start().await;
    let file = recording("pa-school.wav").bytes;
    let n_bytes = u64::try_from(file.len()).expect("a size");
    let client = stack.client(&stack.key);
    let id = client.upload(file, n_bytes).await.expect("it is sent");
    let (upload, request) = (RecordingSource::Upload(id), SpeechRequest::default());
    let job = client.submit_speech_recognition(upload.clone(), &request).await.expect("a job");
    let repeated = client.submit_speech_recognition(upload, &request).await.expect("a job");
    assert_eq!(job.id, repeated.id);
    store.has(1).await;
}

#[tokio::test]
async fn a_server_without_a_bucket_takes_no_uploads() {
    for settings in [Vec::new(), Store::folder(Cluster::shared().folder()).settings()] {
        let stack = Stack::with().workers(0).settings(settings).start().await;
        let problem = stack.refused(reservation(&stack, 1000), 501).await;
        assert_eq!(problem.slug, "no-uploads");
        let problem: Value = problem.json;
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains("AKHAR_UPLOAD_STORE")));
        assert_eq!(n_reserved(&stack).await, 0);
    }
}

#[tokio::test]
async fn the_uploads_of_an_erased_account_are_deleted_from_the_bucket() {
    let (builder, store) = with_bucket().await;
    let stack = builder.workers(0).start().await;
    let file = recording("pa-water.mp3").bytes;
    let used = upload(&stack, &file).await;
    send(asynchronous(&stack, &of_upload(used))).await.job();
    upload(&stack, &file).await;
    send(stack.post(SPEECH, &Form::upload(&file)).header("prefer", "respond-async")).await.job();
    store.has(3).await;
    stack.akhar(&["accounts", "erase", "test", "--yes"]).await;
    assert_eq!((store.objects().await, n_reserved(&stack).await), (Vec::new(), 0));
}
