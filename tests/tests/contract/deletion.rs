//! Deleted jobs: nothing of them is left, their ids and the keys of their requests are free, and counts of use stay right.

use akhar_platform::database::Pool;
use akhar_platform::database::PrivatePostgres;
use akhar_tests::{
    Cluster, Form, Stack, free_port, http::send, images::fixture_of, monitor::lines, speech::recording,
    until, uploads::Store,
};
use serde_json::json;
use uuid::Uuid;

use crate::{operations, violations};

const DIGIT: &str = "digit-recognition";

async fn delete(stack: &Stack, job: Uuid) -> u16 {
    send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await.status
}

fn write(stack: &Stack, text: &str) -> reqwest::RequestBuilder {
    stack.request("POST", "/v1/models/handwriting-generator").json(&json!({"text": text, "with-image": true}))
}

async fn job_of(request: reqwest::RequestBuilder) -> Uuid {
    send(request).await.header("akhar-job").parse().expect("a job's id")
}

/// Everything that is stored: all tables as Postgres dumps them, and all objects.
pub(crate) async fn stored(stack: &Stack, store: &Store) -> Vec<u8> {
    let (programs, _) = PrivatePostgres::programs().expect("the programs of Postgres");
    let options = &stack.db.servers().options()[0];
    let dump = tokio::process::Command::new(programs.join("pg_dump"))
        .arg("--host")
        .arg(options.get_socket().expect("a private Postgres has a socket"))
        .args(["--port", &options.get_port().to_string(), "--username", options.get_username()])
        .arg(options.get_database().expect("a database"))
        .output()
        .await;
    let dump = dump.expect("pg_dump runs");
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    assert!(String::from_utf8_lossy(&dump.stdout).contains("COPY public.jobs"), "it has the tables");
    let mut all = dump.stdout;
    let Store::Folder(folder) = store else { unreachable!("the test has a folder") };
    for object in store.objects().await {
        all.extend(object.as_bytes());
        all.extend(std::fs::read(folder.join(object)).expect("an object"));
    }
    all
}

/// Whether these bytes have the text: as it is, or in hexadecimal digits, as dumps have bytes.
pub(crate) fn has(bytes: &[u8], text: &str) -> bool {
    let hex = text.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let contains = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    contains(text.as_bytes()) || contains(hex.as_bytes())
}

/// Makes a waiting job one that the service failed to process, as if three attempts had failed.
async fn fail(db: &Pool, job: Uuid, error: &str) {
    sqlx::query(
        "with dead as (
             update jobs set state = 'failed', outcome = '{\"kind\": \"failed\"}', ended_at = now(), last_error = $2
             where id = $1 returning id)
         insert into failed_attempts (job_id, attempt, error) select id, 1, $2 from dead",
    )
    .bind(job)
    .bind(error)
    .execute(db)
    .await
    .expect("an update");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_deleted_job_is_left_in_the_database_the_store_and_the_logs() {
    let store = Store::folder(Cluster::shared().folder());
    let mut stack = Stack::with()
        .settings(store.settings())
        .set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8")
        .set_text("RUST_LOG", "debug")
        .start()
        .await;
    stack.keys(&["webhook", &stack.key[3..11]]).await;
    let mut jobs = Vec::new();
    let mut texts: Vec<String> =
        ["ਗੁਪਤਸ਼ਬਦ", "secretkey", "secretmark", "secretcause", "secretpath"].map(str::to_owned).into();
    jobs.push(job_of(write(&stack, &texts[0]).header("idempotency-key", &texts[1])).await);
    let image = fixture_of("੫").bytes;
    for bytes in [[&image[..], b"secretmark"].concat(), b"\x89PNG\r\n\x1a\nsecretmark".to_vec()] {
        jobs.push(job_of(stack.post(DIGIT, &Form::upload(&bytes))).await);
    }
    let form = Form::upload_and(&recording("pa-water.mp3").bytes, "with-translation", "true");
    let request =
        stack.post("speech-recognition", &form.text("with-timestamps", "true").text("with-words", "true"));
    // Nothing listens there, so the webhook waits for another attempt.
    let said =
        send(request.header("akhar-webhook", format!("http://127.0.0.1:{}/secretpath", free_port()))).await;
    jobs.push(said.header("akhar-job").parse().expect("a job's id"));
    let said = said.json();
    texts
        .extend(["transcription", "translation"].map(|name| said[name].as_str().expect("a text").to_owned()));
    stack.workers[0].kill().await;
    let waiting = |request: reqwest::RequestBuilder| job_of(request.header("prefer", "respond-async"));
    let dead = waiting(stack.post(DIGIT, &Form::upload(&[&image[..], b"secretmark"].concat()))).await;
    fail(&stack.db, dead, "secretcause").await;
    let cancelled = waiting(write(&stack, &texts[0])).await;
    jobs.extend([dead, cancelled]);
    assert_eq!(delete(&stack, cancelled).await, 200);

    let before = stored(&stack, &store).await;
    for text in &texts {
        assert!(has(&before, text), "{text} is looked for in the right way");
    }
    for job in &jobs {
        assert_eq!(delete(&stack, *job).await, 204);
    }
    let after = stored(&stack, &store).await;
    assert!(jobs.iter().all(|job| has(&after, &job.to_string())), "the times of each are kept");
    assert!(store.objects().await.is_empty());
    for table in
        ["jobs", "artifacts", "segments", "failed_attempts", "webhook_deliveries", "idempotency_keys"]
    {
        let count = format!("select count(*) from {table}");
        let n: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(&stack.db).await.expect("a count");
        assert_eq!(n, 0, "{table}");
    }
    until("the deletions are logged", async || {
        (lines(&stack.api, "job deleted").len() == jobs.len()).then_some(())
    })
    .await;
    let logs = [stack.api.log(), stack.workers[0].log()].concat().join("\n");
    for text in &texts {
        assert!(!has(&after, text), "{text} is stored");
        // Logs name the reason of a failed attempt and where a webhook could not be sent, but nothing that was sent or got.
        assert!(!has(logs.as_bytes(), text), "{text} is logged");
    }
}

#[tokio::test]
async fn a_deleted_job_is_gone_and_its_request_can_be_made_again() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let request = || {
        let request = stack.post(image.operation, &Form::upload(&image.bytes));
        request.header("idempotency-key", "a-key").header("prefer", "respond-async")
    };
    let job = send(request()).await.job();
    let path = format!("/v1/jobs/{job}");
    stack.job_is(job, "succeeded").await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    stack.refused(stack.anonymous("DELETE", &path).bearer_auth(&other), 404).await;
    let deleted = send(stack.request("DELETE", &path)).await;
    assert_eq!((deleted.status, deleted.body.len()), (204, 0));
    assert_eq!(delete(&stack, job).await, 204, "it can be repeated");
    for path in [path.clone(), format!("{path}/result"), format!("{path}/events"), format!("{path}?wait=1")] {
        assert_eq!(stack.refused(stack.request("GET", &path), 410).await.slug, "job-deleted");
    }
    for method in ["GET", "DELETE"] {
        stack.refused(stack.anonymous(method, &path).bearer_auth(&other), 404).await;
    }
    assert_eq!(stack.get("/v1/jobs").await.json()["jobs"], json!([]));
    let (state, queue): (String, String) = sqlx::query_as(
        "select state, queue from deleted_jobs where id = $1 and started_at < ended_at and audio_s is null",
    )
    .bind(job)
    .fetch_one(&stack.db)
    .await
    .expect("its times");
    assert_eq!((&*state, &*queue), ("succeeded", "quick"));

    let again = send(request()).await.job();
    assert_ne!(again, job);
    stack.job_is(again, "succeeded").await;
    stack.refused(stack.request("DELETE", "/v1/jobs/0199a1b2-0000-7000-8000-000000000000"), 404).await;
    let odd = stack.refused(stack.request("DELETE", &format!("/v1/jobs/{again}?force=1")), 422).await;
    assert_eq!(odd.errors(), violations([("force", "unknown")]));
}

#[tokio::test]
async fn a_deleted_recording_counts_against_the_quota() {
    let stack = Stack::start().await;
    let key = stack.keys(&["create", "--name", "limited", "--audio-minutes", "10"]).await;
    let form = Form::upload(&recording("pa-water.mp3").bytes);
    let transcribe = async || send(stack.post_as(&key, "speech-recognition", &form)).await;
    let first = transcribe().await;
    assert_eq!(first.status, 200);
    let job: Uuid = first.header("akhar-job").parse().expect("a job's id");
    let path = format!("/v1/jobs/{job}");
    let used = "select seconds from audio_usage where account_id = (select account_id from api_keys where name = 'limited')";
    let used = async || -> f64 { sqlx::query_scalar(used).fetch_one(&stack.db).await.expect("the usage") };
    let before = used().await;
    assert!(before > 1.0, "{before}");
    assert_eq!(send(stack.anonymous("DELETE", &path).bearer_auth(&key)).await.status, 204);
    let audio_s: f64 = stack.row("select audio_s from deleted_jobs where id = $1", job).await;
    assert!((used().await - before).abs() < 1e-9 && (audio_s - before).abs() < 1e-9);
    let n_reserved: i64 = sqlx::query_scalar("select count(*) from audio_reservations")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n_reserved, 0, "its reservation does not count a second time");
}

#[tokio::test]
async fn a_request_whose_job_is_deleted_meanwhile_does_not_submit_it_again() {
    let stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let held = tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))));
    stack.jobs_are(1, "queued").await;
    // It ends and is deleted without an announcement, so that the request finds nothing when it looks.
    let deleted = "with gone as (delete from jobs returning *)
        insert into deleted_jobs (id, account_id, operation, queue, state, created_at, ended_at)
        select id, account_id, operation, queue, 'cancelled', created_at, now() from gone";
    sqlx::query(deleted).execute(&stack.db).await.expect("a deletion");
    assert_eq!(held.await.expect("an answer").problem(410).slug, "job-deleted");
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 0);
}

#[tokio::test]
async fn a_stream_of_events_ends_when_its_job_is_deleted() {
    let stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let job = send(request).await.job();
    let mut events = stack.request("GET", &format!("/v1/jobs/{job}/events")).send().await.expect("an answer");
    assert!(events.chunk().await.expect("a stream").is_some(), "the state");
    sqlx::query("delete from jobs").execute(&stack.db).await.expect("a deletion");
    let mut rest = Vec::new();
    while let Some(chunk) = events.chunk().await.expect("a stream") {
        rest.extend(chunk);
    }
    assert_eq!(String::from_utf8_lossy(&rest), "");
}

#[tokio::test]
async fn the_operations_page_counts_deleted_jobs() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(job_of(stack.post(image.operation, &Form::upload(&image.bytes))).await);
    }
    let account: Uuid =
        sqlx::query_scalar("select id from accounts").fetch_one(&stack.db).await.expect("one");
    let counts = async || {
        let used = akhar_operators::accounts::uses(&stack.db, &[account]).await.expect("its use").remove(0);
        let loads = akhar_operators::queues::loads(&stack.db).await.expect("the loads");
        let ended: f64 = loads.iter().map(|load| load.ended_per_minute).sum();
        (used.n_last_hour, used.newest_at, ended.round())
    };
    let before = counts().await;
    assert_eq!((before.0, before.2), (3, 3.0));
    for job in jobs {
        assert_eq!(delete(&stack, job).await, 204);
    }
    assert_eq!(counts().await, before);
}
