//! Recordings that the service fetches from URLs of callers.

use akhar_tests::{
    Form, Stack, StackBuilder,
    bulk::Folders,
    files::{FileServer, Reply},
    http::send,
    ops::Operator,
    speech::{large_wav, recording},
    until,
};
use serde_json::Value;
use uuid::Uuid;

use super::{OPERATION, document, long::ended, transcription};
use crate::violations;

/// A query that must not be seen.
const SECRET: &str = "signature=s3cr3t";

/// A service that may fetch recordings from this machine.
fn stack<'a>() -> StackBuilder<'a> {
    Stack::with().set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8")
}

fn of_url(url: &str) -> Form {
    Form::default().text("url", url)
}

async fn submit(stack: &Stack, url: &str) -> Uuid {
    send(stack.post(OPERATION, &of_url(url)).header("prefer", "respond-async")).await.job()
}

/// The code and the detail of the only violation of a URL. The problem has no query.
async fn refused(stack: &Stack, url: &str) -> (String, String) {
    let answer = send(stack.post(OPERATION, &of_url(url))).await;
    let problem = answer.problem(answer.status);
    assert!(!problem.json.to_string().contains(SECRET), "{problem:?}");
    let errors: Vec<_> = problem.errors().into_iter().collect();
    let [(field, code)] = &errors[..] else { panic!("{problem:?}") };
    assert_eq!(field, "url", "{problem:?}");
    (code.clone(), problem.details())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_is_fetched_from_its_url_whose_query_is_seen_nowhere() {
    let levels = "debug,akhar=trace,akhar_api=trace,akhar_worker=trace,akhar_jobs=trace";
    let stack = stack().set_text("RUST_LOG", levels).start().await;
    let server = FileServer::start().await;
    let school = recording("pa-school.wav");
    let flac =
        std::fs::read(akhar_tests::root().join("tests/fixtures/audio/pa-school.flac")).expect("a file");
    let url = server.put("/school.wav", [Reply::File(school.bytes.clone())]);
    let moved = server.put("/moved", [Reply::Redirect(format!("/school.flac?{SECRET}"))]);
    server.put("/school.flac", [Reply::File(flac)]);

    let expected = transcription(&stack, &school.bytes).await;
    let answer = send(stack.post(OPERATION, &of_url(&format!("{url}?{SECRET}")))).await;
    assert_eq!(document(&answer)["transcription"], expected.as_str());
    let form = of_url(&format!("{moved}?{SECRET}")).text("model", "speech-pa");
    let request =
        stack.request("POST", "/v1/audio/transcriptions").header("content-type", form.content_type());
    let answer = send(request.body(form.body())).await;
    assert_eq!(answer.json()["text"], format!("{expected}।"));
    let fetched = ["/school.wav", "/moved", "/school.flac"].map(|path| format!("{path}?{SECRET}"));
    assert_eq!(server.requests(), fetched);
    // One that fails, at the worker and for good.
    let missing = send(stack.post(OPERATION, &of_url(&format!("{}/none.wav?{SECRET}", server.base)))).await;
    let problem = missing.problem(422);
    assert_eq!(problem.errors(), violations([("url", "not_fetched")]));
    let shown = format!("url {}/none.wav cannot be fetched: the server answered 404 Not Found", server.base);
    assert_eq!(problem.details(), shown);

    let id = missing.header("akhar-job");
    let operator = Operator::signed_in(&stack).await;
    let mut seen = [stack.api.log(), stack.workers[0].log()].concat();
    for path in ["/v1/jobs", &format!("/v1/jobs/{id}")] {
        seen.push(stack.get(path).await.text());
    }
    for path in ["/ops", "/ops/jobs", "/ops/errors", &format!("/ops/jobs/{id}")] {
        seen.push(operator.get(path).await.text());
    }
    let text = seen.join("\n");
    assert!(text.contains("none.wav") && !text.contains("s3cr3t"), "the query is seen");
    let n_kept = "select count(*) from jobs where recording_url is not null";
    let n_kept: i64 = sqlx::query_scalar(n_kept).fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_kept, 0, "the URL is kept until the job ends");
}

#[tokio::test]
async fn a_url_that_is_not_allowed_is_refused_before_anything_is_sent_to_it() {
    let stack = Stack::start().await;
    let server = FileServer::start().await;
    let port = server.base.rsplit(':').next().expect("a port");
    for (url, code) in [
        (format!("{}/a?{SECRET}", server.base), "not_allowed"),
        (format!("https://127.0.0.1:{port}/a?{SECRET}"), "not_allowed"),
        (format!("https://169.254.169.254/latest?{SECRET}"), "not_allowed"),
        (format!("https://user:{SECRET}@example.com/"), "not_allowed"),
        (format!("example.com?{SECRET}"), "not_a_url"),
        (" ".to_owned(), "not_a_url"),
        (format!("https://example.com/{}", "x".repeat(2048)), "too_long"),
        // A name is resolved when the recording is fetched.
        (format!("https://localhost:{port}/a?{SECRET}"), "not_allowed"),
    ] {
        assert_eq!(refused(&stack, &url).await.0, code, "{url}");
    }
    assert!(server.requests().is_empty());
    let file = recording("pa-school.wav").bytes;
    let both = Form::upload(&file).text("url", "https://example.com/a.wav");
    let problem = stack.refused(stack.post(OPERATION, &both), 422).await;
    assert_eq!(problem.errors(), violations([("url", "unsupported")]));
    let problem = stack.refused(stack.post(OPERATION, &Form::default().text("lang", "pa")), 422).await;
    assert_eq!(problem.errors(), violations([("file", "missing")]));
    assert_eq!(problem.details(), "file is required, or url or upload in place of it");
    let image = Form::default().text("url", "https://example.com/a.png");
    let problem = stack.refused(stack.post("digit-recognition", &image), 422).await;
    assert!(problem.errors().contains(&("url".to_owned(), "unknown".to_owned())), "{problem:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_caller_can_correct_is_refused_at_once_and_says_what_came() {
    let stack = stack().set("AKHAR_MAX_FETCHED_BYTES", 1_000_000).start().await;
    let server = FileServer::start().await;
    let page = b"<!DOCTYPE html><title>Sign in</title>".to_vec();
    let damaged = recording("pa-school.wav").bytes[..40].to_vec();
    for (reply, code, detail) in [
        (Reply::Status(403), "not_fetched", "the server answered 403 Forbidden"),
        (Reply::Status(204), "not_fetched", "the server answered 204 No Content"),
        (Reply::Status(302), "not_fetched", "the server answered 302 Found"),
        (Reply::File(page), "unsupported_media_type", "begins with \"<!DOCTYPE html><\", expected MP3, WAV"),
        (Reply::File(Vec::new()), "empty", "gave an empty file"),
        (Reply::File(vec![0; 1_000_001]), "too_large", "larger than 1000000 bytes"),
        (Reply::Endless, "too_large", "larger than 1000000 bytes"),
        (Reply::File(damaged), "undecodable", "audio/wav"),
        (
            Reply::Redirect("http://10.0.0.1/a.wav".to_owned()),
            "not_allowed",
            "redirects to a URL that has the address 10.0.0.1, expected a public one",
        ),
        (Reply::Redirect("/what".to_owned()), "not_fetched", "more than 5 redirects"),
    ] {
        let shown = format!("{reply:.80?}");
        let url = server.put("/what", [reply]);
        let (found, details) = refused(&stack, &format!("{url}?{SECRET}")).await;
        assert!(found == code && details.contains(detail), "{shown}: {found}: {details}");
    }
    assert_eq!(server.n_requests("/what"), 9 + 6, "each was tried once");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_of_the_server_are_tried_again_and_then_said() {
    let stack = stack().start().await;
    let server = FileServer::start().await;
    let file = recording("pa-school.wav").bytes;
    let recovers = [Reply::Status(500), Reply::Close, Reply::File(file)];
    let url = server.put("/recovers", recovers);
    document(&send(stack.post(OPERATION, &of_url(&url))).await);
    for (reply, detail) in [
        (Reply::Status(503), "the server answered 503 Service Unavailable"),
        (Reply::Status(429), "the server answered 429 Too Many Requests"),
        (Reply::Close, "cannot be fetched: "),
    ] {
        let n_before = server.n_requests("/down");
        let url = server.put("/down", [reply]);
        let (code, details) = refused(&stack, &format!("{url}?{SECRET}")).await;
        assert!(code == "not_fetched" && details.contains(detail), "{code}: {details}");
        assert_eq!(server.n_requests("/down") - n_before, 3);
    }
    let errors = "select string_agg(error, ' ') from failed_attempts";
    let errors: String = sqlx::query_scalar(errors).fetch_one(&stack.db).await.expect("a text");
    assert!(errors.contains("503") && !errors.contains(SECRET), "{errors}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_worker_is_killed_while_it_fetches_is_fetched_again() {
    let mut stack = stack().start().await;
    let server = FileServer::start().await;
    let file = recording("pa-school.wav").bytes;
    let url = server.put("/slow", [Reply::HalfOf(file.clone()), Reply::File(file)]);
    let job = submit(&stack, &url).await;
    until("the worker fetches", async || (server.n_requests("/slow") == 1).then_some(())).await;
    stack.workers[0].kill().await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    assert_eq!(server.n_requests("/slow"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_cancelled_stops_to_fetch_and_forgets_its_url() {
    let stack = stack().start().await;
    let server = FileServer::start().await;
    let url = server.put("/slow", [Reply::HalfOf(recording("pa-school.wav").bytes)]);
    let job = submit(&stack, &url).await;
    until("the worker fetches", async || (server.n_requests("/slow") == 1).then_some(())).await;
    let cancelled = send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    assert_eq!(cancelled.json()["state"], "cancelled");
    let kept: Option<String> = stack.row("select recording_url from jobs where id = $1", job).await;
    assert_eq!(kept, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_is_fetched_is_not_kept_in_memory() {
    let stack = stack().start().await;
    let server = FileServer::start().await;
    let said = recording("pa-school.wav");
    transcription(&stack, &said.bytes).await;
    let (_, before) = stack.workers[0].memory_kib();
    let file = large_wav(40, &said.samples());
    assert!(file.len() > 40_000_000);
    let url = server.put("/large.wav", [Reply::File(file)]);
    let form = of_url(&url).text("with-timestamps", "true");
    let job = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = ended(&stack, job).await;
    let start =
        job["result"]["timestamps"][0]["start"].as_f64().unwrap_or_else(|| panic!("no segment: {job}"));
    assert!((40.0..41.0).contains(&start), "{job}");
    let (_, after) = stack.workers[0].memory_kib();
    assert!(after.saturating_sub(before) < 25 * 1024, "the worker's peak went from {before} to {after} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_for_which_the_worker_has_no_space_fails_with_the_reason_for_operators() {
    let stack = stack().set_text("TMPDIR", "/nowhere").start().await;
    let server = FileServer::start().await;
    let url = server.put("/a.wav", [Reply::File(recording("pa-school.wav").bytes)]);
    let job = submit(&stack, &url).await;
    stack.job_is(job, "failed").await;
    let error: String = stack.row("select last_error from jobs where id = $1", job).await;
    assert!(error.starts_with("cannot write a recording to the folder /nowhere: "), "{error}");
    let problem = stack.refused(stack.request("GET", &format!("/v1/jobs/{job}/result")), 500).await;
    assert_eq!(problem.slug, "job-failed");
    transcription(&stack, &recording("pa-school.wav").bytes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idempotency_key_belongs_to_one_url() {
    let stack = stack().start().await;
    let server = FileServer::start().await;
    let url = server.put("/a.wav", [Reply::File(recording("pa-school.wav").bytes)]);
    let request = |url: &str| stack.post(OPERATION, &of_url(url)).header("idempotency-key", "a-key");
    let first = send(request(&url)).await;
    document(&first);
    let again = send(request(&url)).await;
    assert_eq!(again.header("akhar-job"), first.header("akhar-job"));
    assert_eq!(server.n_requests("/a.wav"), 1);
    for other in [of_url(&format!("{url}?v=2")), Form::upload(&recording("pa-school.wav").bytes)] {
        let other = stack.post(OPERATION, &other).header("idempotency-key", "a-key");
        let problem = stack.refused(other, 422).await;
        assert_eq!(problem.errors(), violations([("Idempotency-Key", "reused")]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_job_keeps_its_url_until_an_operator_retries_it() {
    let mut stack = stack().workers(0).start().await;
    let server = FileServer::start().await;
    let url = server.put("/a.wav", [Reply::File(recording("pa-school.wav").bytes)]);
    let job = submit(&stack, &url).await;
    // As if three workers had died with it.
    let dead =
        "update jobs set state = 'failed', attempt = 3, ended_at = now(), outcome = '{\"kind\": \"failed\"}'";
    sqlx::query(dead).execute(&stack.db).await.expect("an update");
    stack.akhar(&["jobs", "retry", &job.to_string()]).await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    let document: Value = stack.get(&format!("/v1/jobs/{job}")).await.json();
    assert!(document["result"]["transcription"].is_string(), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_urls_is_one_bulk_run_that_continues() {
    let stack = stack().start().await;
    let server = FileServer::start().await;
    let folders = Folders::new(stack.folder(), "urls");
    let file = recording("pa-school.wav").bytes;
    let good = server.put("/calls/school.wav", [Reply::File(file.clone())]);
    let later = server.put("/later.wav", [Reply::Status(404), Reply::File(file)]);
    let list = stack.folder().join("urls.txt");
    let run = async |query: &str, more: &[&str]| {
        std::fs::write(&list, format!("{good}?{query}\n\n{later}?{query}\n")).expect("a list");
        let [list, out] = [&list, &folders.results].map(|path| path.to_str().expect("a path"));
        let arguments = [&["transcribe", "--urls", list, "--out", out], more].concat();
        stack.run_with(&arguments, &[("AKHAR_URL", &stack.base), ("AKHAR_KEY", &stack.key)]).await
    };
    let (code, out, log) = run(SECRET, &[]).await;
    assert_eq!(code, Some(1), "{out}{log}");
    assert!(out.contains("1 of 2 recordings transcribed, 1 failed, 0 skipped"), "{out}{log}");
    let failures: Value = folders.json("failures.jsonl");
    assert_eq!((&failures["path"], &failures["code"]), (&later.clone().into(), &"not_fetched".into()));
    let host = "127.0.0.1";
    let document = folders.json(&format!("{host}/calls/school.json"));
    assert_eq!(document["file"], good.as_str());
    assert!(document["transcription"].as_str().is_some_and(|text| !text.is_empty()), "{document}");
    let written = [".akhar-journal.jsonl", "failures.jsonl", "summary.csv"].map(|name| folders.text(name));
    assert!(!format!("{out}{log}{document}{}", written.concat()).contains("s3cr3t"));

    let (code, out, log) = run("signature=another", &["--resume"]).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert_eq!(server.n_requests("/calls/school.wav"), 1, "it has its results");
    assert!(folders.results.join(host).join("later.json").is_file());
}
