//! Uploads outside the database: every job has its upload, and no upload outlives its job.

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

mod reserved;

use std::time::Duration;

use akhar_jobs::{
    JobId, JobUpload, MAX_ATTEMPTS, NewJob,
    backend::{Admission, Submissions},
    uploads::{FetchError, Orphans, S3Access, UploadStore},
};
use akhar_platform::database::Pool;
use akhar_requests::QUEUES;
use akhar_tests::{
    Cluster, Form, Seam, Stack,
    hostile::{HostileProxy, Hostility},
    http::{client, send},
    images::{Fixture, fixture_of},
    monitor,
    process::command,
    speech::{error_percent, recording},
    stack::base_environment,
    until,
    uploads::{S3Server, Store},
};
use bytes::Bytes;
use serde_json::json;
use uuid::Uuid;

fn digit() -> Fixture {
    fixture_of("੫")
}

/// Submits an asynchronous job.
async fn submit(stack: &Stack) -> Uuid {
    let image = digit();
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    send(request.header("prefer", "respond-async")).await.job()
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_and_recordings_are_answered_from_a_bucket_and_from_a_folder() {
    for store in [Store::bucket().await, Store::folder(Cluster::shared().folder())] {
        let mut stack = Stack::with().workers(0).settings(store.settings()).start().await;
        let job = submit(&stack).await;
        let is_outside: bool =
            stack.row("select upload is null and upload_url is not null from jobs where id = $1", job).await;
        let objects = store.objects().await;
        assert!(is_outside && objects.len() == 1 && objects[0].contains(&job.to_string()), "{objects:?}");
        stack.add_worker().await;
        stack.job_is(job, "succeeded").await;

        let image = digit();
        assert_eq!(stack.recognise(image.operation, &image.bytes).await.predictions()[0].0, image.label);
        let said = recording("en-seven.wav");
        let form = Form::upload_and(&said.bytes, "lang", said.lang);
        let answer = send(stack.post("speech-recognition", &form)).await;
        assert_eq!(answer.status, 200);
        let text = answer.json()["transcription"].as_str().expect("a text").to_owned();
        assert!(error_percent(&said.text(), &text) <= 20, "{text}");
        store.has(0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_upload_stays_in_the_database_and_a_large_one_does_not() {
    let store = Store::folder(Cluster::shared().folder());
    let mut settings = store.settings();
    settings.retain(|(name, _)| name != "AKHAR_UPLOAD_STORE_MIN_BYTES");
    let stack = Stack::with().workers(0).settings(settings).start().await;
    submit(&stack).await;
    store.has(0).await;
    let form = Form::upload_and(&akhar_tests::speech::wav(&akhar_tests::speech::silence(3)), "lang", "en");
    send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job();
    store.has(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_worker_is_killed_runs_again_and_leaves_no_object() {
    let store = Store::bucket().await;
    let mut stack = Stack::with().settings(store.settings()).start().await;
    let mut held = Seam::Finish.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    stack.workers[0].kill().await;
    held.disconnect().await;
    held.release().await;
    store.has(1).await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    store.has(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_make_no_job_and_cancelled_jobs_leave_no_object() {
    let store = Store::folder(Cluster::shared().folder());
    let builder = Stack::with().workers(0).set("AKHAR_MAX_WAITING", 3).settings(store.settings());
    let stack = builder.start().await;
    let image = digit();
    let post = || {
        let request = stack.post(image.operation, &Form::upload(&image.bytes));
        request.header("prefer", "respond-async")
    };
    let mut jobs = Vec::new();
    for _ in 0..2 {
        jobs.push(send(post().header("idempotency-key", "\"twice\"")).await.job());
    }
    assert_eq!(jobs[0], jobs[1]);
    jobs.pop();
    store.has(1).await;
    loop {
        let answer = send(post()).await;
        if answer.status == 503 {
            break;
        }
        jobs.push(answer.job());
    }
    store.has(jobs.len()).await;
    for job in jobs {
        let cancelled = send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
        assert_eq!(cancelled.status, 200);
    }
    store.has(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_upload_is_gone_fails_at_once_with_the_reason() {
    let store = Store::folder(Cluster::shared().folder());
    let mut stack = Stack::with().workers(0).settings(store.settings()).start().await;
    let job = submit(&stack).await;
    let url: String = stack.row("select upload_url from jobs where id = $1", job).await;
    store.clear().await;
    stack.add_worker().await;
    stack.job_is(job, "failed").await;
    let error: String = stack.row("select last_error from jobs where id = $1", job).await;
    assert_eq!(error, format!("the upload is lost: {url} does not exist"));
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 1);
    let problem = stack.refused(stack.request("GET", &format!("/v1/jobs/{job}/result")), 500).await;
    assert_eq!(problem.slug, "job-failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_wait_while_the_setting_changes_keep_their_uploads() {
    let (first, second) = (Store::folder(Cluster::shared().folder()), Store::bucket().await);
    let mut stack = Stack::with().workers(0).start().await;
    let mut jobs = vec![submit(&stack).await];
    for store in [&first, &second] {
        stack.change(store.settings());
        stack.restart_api().await;
        jobs.push(submit(&stack).await);
    }
    stack.change(vec![("AKHAR_UPLOAD_STORE".to_owned(), "postgres".to_owned())]);
    stack.add_worker().await;
    for job in jobs {
        stack.job_is(job, "succeeded").await;
    }
    first.has(0).await;
    second.has(0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_while_the_store_is_down_is_refused_with_a_time_to_try_again() {
    let store = Store::bucket().await;
    let settings = store.settings();
    let Store::Bucket(mut server) = store else { unreachable!("a bucket") };
    let stack = Stack::with().settings(settings).with_metrics().start().await;
    server.process.kill().await;
    let image = digit();
    let problem = stack.refused(stack.post(image.operation, &Form::upload(&image.bytes)), 503).await;
    assert_eq!(problem.slug, "unavailable");
    let detail = problem.json["detail"].as_str().expect("a detail");
    assert!(detail.contains("store in which the server keeps uploads"), "{detail}");
    let failed =
        monitor::value(&monitor::metrics(&stack.api).await, "akhar_upload_store_failures_total", &["write"]);
    assert_eq!(failed, Some(1.0));
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 0);
    let log = stack.api.log().join("\n");
    assert!(log.contains("AKHAR_UPLOAD_STORE") && !log.contains("a secret of tests"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_upload_cannot_be_read_keeps_no_place_and_spends_no_attempt() {
    let store = Store::bucket().await;
    let stack = Stack::with().settings(store.settings()).set("AKHAR_WORKER_CONCURRENCY", 1).start().await;
    let Store::Bucket(mut server) = store else { unreachable!("a bucket") };
    let mut held = Seam::Claim.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    server.process.kill().await;
    held.release().await;
    let handwriting = stack.request("POST", "/v1/models/handwriting-generator");
    let written = send(handwriting.json(&json!({"text": "ਅੱਖਰ", "with-image": false}))).await;
    assert_eq!(written.status, 200, "it gets the only place");
    until("the attempt is not spent", async || {
        let max_attempts: i32 = stack.row("select max_attempts from jobs where id = $1", job).await;
        (max_attempts > MAX_ATTEMPTS).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_what_is_wrong_with_the_store() {
    let (folder, bucket) = (Store::folder(Cluster::shared().folder()), Store::bucket().await);
    let stack = Stack::start().await;
    let doctor = async |settings: &[(String, String)]| -> serde_json::Value {
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let (_, out, log) = stack.run_with(&["doctor", "--json"], &settings).await;
        let report: serde_json::Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{log}"));
        let checks = report["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == "uploads").expect("a check").clone()
    };
    assert_eq!(doctor(&[]).await["status"], "ok");
    let (in_folder, in_bucket) = (folder.settings(), bucket.settings());
    assert_eq!(doctor(&in_folder).await["status"], "ok");
    assert_eq!(doctor(&in_bucket).await["status"], "ok");
    let with = |settings: &[(String, String)], name: &str, value: &str| {
        let mut settings = settings.to_vec();
        settings.retain(|(of, _)| of != name);
        settings.push((name.to_owned(), value.to_owned()));
        settings
    };
    let Store::Folder(path) = &folder else { unreachable!("a folder") };
    std::fs::remove_dir(path).expect("an empty folder");
    for (settings, fix) in [
        (in_folder, "make the folder or the bucket again"),
        (with(&in_bucket, "AKHAR_UPLOAD_STORE", "s3://gone/uploads"), "make the folder or the bucket again"),
        (with(&in_bucket, "AWS_ENDPOINT_URL", "http://127.0.0.1:1"), "check that the address answers"),
        (with(&in_bucket, "AKHAR_UPLOAD_STORE", "file:///dev/full"), "make the folder or the bucket again"),
    ] {
        let found = doctor(&settings).await;
        assert_eq!(found["status"], "failed", "{found}");
        let text = found["found"].as_str().expect("a finding");
        assert!(text.contains("AKHAR_UPLOAD_STORE") && !text.contains("a secret of tests"), "{found}");
        assert!(found["fix"].as_str().is_some_and(|text| text.contains(fix)), "{found}");
    }
}

#[tokio::test]
async fn a_process_with_a_store_that_it_cannot_use_does_not_start() {
    let options = Cluster::shared().database().await;
    let mut unreachable = S3Server::settings("http://127.0.0.1:1");
    let missing = vec![("AKHAR_UPLOAD_STORE".to_owned(), "file:///nowhere/uploads".to_owned())];
    let unknown = vec![("AKHAR_UPLOAD_STORE".to_owned(), "ftp://example.org/uploads".to_owned())];
    unreachable.push(("AKHAR_UPLOAD_STORE_MIN_BYTES".to_owned(), "1".to_owned()));
    for (settings, cause) in
        [(unreachable, "Connection refused"), (missing, "No such file"), (unknown, "expected `postgres`")]
    {
        let environment = [base_environment(&options), settings].concat();
        for subcommand in ["api", "worker"] {
            let output = command(&[subcommand], &environment).output().await.expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{subcommand}: {said}");
            assert!(said.contains("AKHAR_UPLOAD_STORE") && said.contains(cause), "{subcommand}: {said}");
            assert!(!said.contains("a secret of tests"), "{said}");
        }
    }
}

/// As when a disk is not mounted any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_gone_is_not_made_again_and_loses_no_job() {
    let store = Store::folder(Cluster::shared().folder());
    let stack = Stack::with().settings(store.settings()).start().await;
    stack.akhar(&["queues", "pause", "quick"]).await;
    let job = submit(&stack).await;
    let Store::Folder(folder) = &store else { unreachable!("a folder") };
    let elsewhere = folder.with_extension("elsewhere");
    std::fs::rename(folder, &elsewhere).expect("a rename");
    let image = digit();
    let problem = stack.refused(stack.post(image.operation, &Form::upload(&image.bytes)), 503).await;
    assert_eq!(problem.slug, "unavailable");
    assert!(!folder.exists(), "it was made again");
    stack.akhar(&["queues", "resume", "quick"]).await;
    until("an attempt could not read its upload", async || {
        let error: Option<String> = stack.row("select last_error from jobs where id = $1", job).await;
        error.filter(|error| error.contains("cannot read from"))
    })
    .await;
    std::fs::rename(&elsewhere, folder).expect("a rename");
    stack.job_is(job, "succeeded").await;
}

#[tokio::test]
async fn an_upload_with_other_bytes_is_not_used() {
    let store = Store::folder(Cluster::shared().folder());
    let uploads = UploadStore::open(&store.address(), 0, || Err("no bucket".to_owned())).expect("a store");
    let upload = Bytes::from(digit().bytes);
    let placed = uploads.place(JobId(Uuid::now_v7()), upload.clone()).await.expect("a write");
    assert_eq!(uploads.fetch(placed.clone()).await.expect("it is there"), upload);
    let Store::Folder(folder) = &store else { unreachable!("a folder") };
    let file = folder.join(&store.objects().await[0]);
    let mut bytes = upload.to_vec();
    bytes[100] ^= 1;
    for (bytes, what) in [(bytes, "has other bytes"), (b"short".to_vec(), "has 5 bytes, expected")] {
        std::fs::write(&file, bytes).expect("a write");
        let error = uploads.fetch(placed.clone()).await.expect_err("it is damaged");
        assert!(matches!(&error, FetchError::Lost { .. }) && error.to_string().contains(what), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_was_damaged_on_its_way_is_read_again() {
    let server = S3Server::start().await;
    let proxy = HostileProxy::start(&server.address).await;
    let settings = S3Server::settings(&proxy.address);
    let address = settings[0].1.clone();
    let access = move || Ok(S3Access { client: client(), settings: settings.clone() });
    let uploads = UploadStore::open(&address, 0, access).expect("a store");
    let upload = Bytes::from(digit().bytes);
    let placed = uploads.place(JobId(Uuid::now_v7()), upload.clone()).await.expect("a write");
    proxy.turn_to(&[Hostility::Flipped, Hostility::Slow(Duration::ZERO)]);
    assert_eq!(uploads.fetch(placed).await.expect("it is there"), upload);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_without_a_job_is_found_and_deleted_and_others_are_not() {
    let db = Pool::new(Cluster::shared().database().await.into(), 10);
    let store = Store::folder(Cluster::shared().folder());
    let uploads = UploadStore::open(&store.address(), 0, || Err("no bucket".to_owned())).expect("a store");
    let upload = || Bytes::from(digit().bytes);
    let job = JobId(Uuid::now_v7());
    let placed = uploads.place(job, upload()).await.expect("a write");
    let submissions = Submissions::start(&db, &Admission::new(9, &QUEUES));
    let placed = Some(JobUpload { media_type: "image/png".to_owned(), content: placed });
    let new_job = NewJob { id: job, upload: placed, ..akhar_tests::queue::new_job() };
    submissions.submit(new_job.into()).await.expect("it is accepted");
    let of_job = store.objects().await;
    // Of a process that died before it submitted the job, and of a later request with the job's idempotency key.
    uploads.place(JobId(Uuid::now_v7()), upload()).await.expect("a write");
    uploads.place(job, upload()).await.expect("a write");
    let Store::Folder(folder) = &store else { unreachable!("a folder") };
    std::fs::write(folder.join("README"), "of somebody else").expect("a write");
    // Of a process that died while it wrote.
    let unfinished = folder.join(format!("{}.{}#1", Uuid::now_v7(), Uuid::now_v7()));
    std::fs::write(unfinished, "half of an upl").expect("a write");

    let mut orphans = Orphans::after(uploads, Duration::ZERO);
    assert_eq!(orphans.pass(&db).await.expect("a pass"), 0, "found for the first time");
    assert_eq!(orphans.pass(&db).await.expect("a pass"), 3);
    assert_eq!(orphans.pass(&db).await.expect("a pass"), 0);
    let mut left = store.objects().await;
    left.retain(|name| name != "README");
    assert_eq!((left, store.objects().await.len()), (of_job, 2));
}
