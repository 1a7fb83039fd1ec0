//! Every command and query of the page about troubleshooting, run against the fault that its section treats. A test makes
//! the fault, runs the section, and checks that what it says has helped.

use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::{AtomicU32, Ordering},
};

use akhar_jobs::{FreePlaces, store};
use akhar_requests::{QUICK, SPEECH};
use akhar_tests::{
    Cluster, Form, Service, Stack, http::send, images::fixture_of, monitor, process, root,
    serve::environment, speech::recording, stack::base_environment, until,
};
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};
use uuid::Uuid;

use crate::{
    commands::run_steps,
    page::{Step, sections, steps},
    shell::{Shell, copy_models},
};

const PAGE: &str = "docs/src/operate/troubleshooting.md";
const COUNT_QUEUED: &str = "select count(*) from jobs where state = 'queued'";

fn page() -> String {
    fs::read_to_string(root().join(PAGE)).expect("the page")
}

/// Runs the commands of a section. `written` are texts of the page with what they stand for here.
async fn treat(title: &str, stack: &Stack, written: &[(&str, &str)]) {
    let mut environment = stack.environment().to_vec();
    environment.retain(|(name, _)| name != "AKHAR_DATABASE_URL");
    environment.push(("AKHAR_DATABASE_URL".to_owned(), url(&stack.db.servers().options()[0])));
    treat_with(title, (&stack.base, &stack.key), &environment, written).await;
}

/// The same without a stack.
async fn treat_with(
    title: &str,
    (base, key): (&str, &str),
    environment: &[(String, String)],
    written: &[(&str, &str)],
) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("troubleshooting-{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let shell = Shell::new(base, key, environment, Cluster::shared().folder().join(name));
    run_section(title, &shell, written).await;
}

async fn run_section(title: &str, shell: &Shell<'_>, written: &[(&str, &str)]) {
    let page = page();
    let sections = sections(&page);
    let (_, n_before, text) = sections.iter().find(|(found, ..)| *found == title).expect(title);
    let here = |text: String| written.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let steps = steps(text).unwrap_or_else(|error| panic!("{title}: {error}"));
    let steps: Vec<Step> = steps
        .into_iter()
        .map(|step| Step {
            line: step.line + n_before,
            command: here(step.command),
            answer: step.answer.map(here),
            has_any_numbers: step.has_any_numbers,
        })
        .collect();
    assert!(!steps.is_empty(), "{title}: it has no command that is run");
    run_steps(PAGE, steps, shell).await.unwrap_or_else(|error| panic!("{error}"));
}

/// The address of a database, as psql reads it too.
fn url(options: &PgConnectOptions) -> String {
    let socket = options.get_socket().expect("a private Postgres has a socket").display().to_string();
    let database = options.get_database().expect("a database");
    format!("postgres://{}@localhost/{database}?host={socket}", options.get_username())
}

/// A stack with this number of workers, and the key of the account `shop`.
async fn stack_of_shop(n_workers: usize) -> (Stack, String) {
    let stack = Stack::with().workers(n_workers).start().await;
    let key = stack.keys(&["create", "--name", "shop"]).await;
    (stack, key)
}

/// Checks that `akhar doctor` finds this.
async fn doctor_says(stack: &Stack, finding: &str) {
    let (_, out, log) = stack.run(&["doctor"]).await;
    assert!(out.contains(finding), "{out}{log}");
}

/// Waits until the answer to a probe, which may be a second old, contains this.
async fn readiness_has(stack: &Stack, text: &str) {
    until(text, async || stack.get("/health/ready").await.text().contains(text).then_some(())).await;
}

/// Submits an asynchronous job. Returns its id.
async fn submit(stack: &Stack, key: &str) -> Uuid {
    let request = stack.post_as(key, "digit-recognition", &Form::upload(&fixture_of("੫").bytes));
    send(request.header("prefer", "respond-async").header("x-request-id", "order-4711")).await.job()
}

async fn count(stack: &Stack, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&stack.db).await.expect(query)
}

async fn execute(stack: &Stack, statement: &'static str) {
    sqlx::raw_sql(statement).execute(&stack.db).await.expect(statement);
}

#[test]
fn every_section_with_commands_has_a_test() {
    let page = page();
    let tests = include_str!("troubleshooting.rs");
    for (title, _, text) in sections(&page) {
        let has_commands = !steps(&text).expect("it can be run").is_empty();
        let is_tested = tests.contains(&format!("\"{title}\""));
        assert_eq!(has_commands, is_tested, "`{title}`: has commands, has a test");
    }
}

#[test]
fn commands_within_sentences_are_also_in_blocks() {
    let page = page();
    let in_blocks: BTreeSet<String> = steps(&page)
        .expect("it can be run")
        .iter()
        .flat_map(|step| step.command.lines().map(command).collect::<Vec<_>>())
        .collect();
    let sentences = regex::Regex::new("(?s)```.*?```").expect("a pattern").replace_all(&page, "");
    let spans = regex::Regex::new("`(akhar|psql|curl) [^`]+`").expect("a pattern");
    for span in spans.find_iter(&sentences) {
        let named = command(span.as_str().trim_matches('`'));
        // These run until they are stopped.
        let is_process = ["akhar serve", "akhar api", "akhar worker"].contains(&named.as_str());
        assert!(is_process || in_blocks.contains(&named), "`{named}` is in no block");
    }
}

/// The program and its subcommands.
fn command(line: &str) -> String {
    let is_name = |word: &&str| word.chars().all(|letter| letter.is_ascii_lowercase());
    line.split(' ').take_while(is_name).take(3).collect::<Vec<_>>().join(" ")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_service_passes_the_first_checks() {
    let folder = Cluster::shared().folder().join("troubleshooting");
    let environment = environment(&folder.join("data")).await;
    let service = Service::start_with(&environment).await;
    let shell = Shell::new(&service.base, &service.key, &environment, folder);
    run_section("Check these first", &shell, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_worker_runs() {
    let (mut stack, shop) = stack_of_shop(0).await;
    let job = submit(&stack, &shop).await;
    treat("Every request takes 30 seconds and is answered with 202", &stack, &[]).await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_paused() {
    let (stack, shop) = stack_of_shop(1).await;
    stack.akhar(&["queues", "pause", "quick"]).await;
    readiness_has(&stack, "quick is paused").await;
    let job = submit(&stack, &shop).await;
    treat("A queue is paused or draining", &stack, &[]).await;
    stack.job_is(job, "succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_is_drained() {
    let (stack, shop) = stack_of_shop(1).await;
    let workers = stack.akhar_json(&["workers", "list"]).await;
    let name = workers[0]["name"].as_str().expect("a name");
    stack.akhar(&["workers", "drain", name]).await;
    treat("A worker is drained", &stack, &[("resume NAME", &format!("resume {name}"))]).await;
    let job = submit(&stack, &shop).await;
    stack.job_is(job, "succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_floods_a_queue_and_a_lock_is_held() {
    let (stack, shop) = stack_of_shop(0).await;
    let press = stack.keys(&["create", "--name", "press"]).await;
    submit(&stack, &shop).await;
    for _ in 0..4 {
        submit(&stack, &press).await;
    }
    let address = url(&stack.db.servers().options()[0]);
    let mut holder = PgConnection::connect(&address).await.expect("it answers");
    sqlx::raw_sql("begin; lock table ops_sessions").execute(&mut holder).await.expect("a lock");
    let holder_pid: i32 =
        sqlx::query_scalar("select pg_backend_pid()").fetch_one(&mut holder).await.expect("its pid");
    let blocked = tokio::spawn(async move {
        let mut blocked = PgConnection::connect(&address).await.expect("it answers");
        sqlx::raw_sql("select from ops_sessions").execute(&mut blocked).await.map(|_| ())
    });
    until("it has been blocked for a second", async || {
        let n = "select count(*) from pg_stat_activity
            where cardinality(pg_blocking_pids(pid)) > 0 and query_start < clock_timestamp() - interval '1 second'";
        (count(&stack, n).await == 1).then_some(())
    })
    .await;
    treat("Requests are slow", &stack, &[("PID", &holder_pid.to_string())]).await;
    blocked.await.expect("no panic").expect("the lock is free");
    assert_eq!(count(&stack, COUNT_QUEUED).await, 1, "the job of the other account");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_full() {
    let stack = Stack::with().workers(0).with_metrics().set("AKHAR_MAX_WAITING", 2).start().await;
    let shop = stack.keys(&["create", "--name", "shop"]).await;
    for _ in 0..2 {
        submit(&stack, &shop).await;
    }
    let refused = stack.post_as(&shop, "digit-recognition", &Form::upload(&fixture_of("੫").bytes));
    assert_eq!(stack.refused(refused, 503).await.slug, "queue-full");
    treat("503 `queue-full`", &stack, &[]).await;
    let metrics = monitor::metrics_url(&stack.api).await;
    treat("Many requests fail", &stack, &[("http://127.0.0.1:9464/metrics", &metrics)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_is_behind() {
    let environment = base_environment(&Cluster::shared().empty_database().await);
    let run = async |arguments: &[&str]| process::run(process::command(arguments, &environment)).await;
    let (code, _, log) = run(&["api"]).await;
    assert!(code == Some(1) && log.contains("akhar migrate"), "{log}");
    treat_with("A process refuses to start on the schema of its database", ("", ""), &environment, &[]).await;
    assert_eq!(run(&["jobs", "list"]).await.0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_does_not_answer() {
    let mut environment = base_environment(&Cluster::shared().empty_database().await);
    environment.push(("AKHAR_DATABASE_URL".to_owned(), "postgres://nobody@127.0.0.1:1/none".to_owned()));
    treat_with("503 `unavailable`", ("", ""), &environment, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_in_use() {
    let (stack, _) = stack_of_shop(0).await;
    treat("All connections to the database are in use", &stack, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_fail_for_good_and_are_retried() {
    let (mut stack, shop) = stack_of_shop(0).await;
    let jobs = [submit(&stack, &shop).await, submit(&stack, &shop).await];
    execute(
        &stack,
        "update jobs set state = 'failed', outcome = '{\"kind\": \"failed\"}', ended_at = now(), attempt = 3,
             last_error = 'the attempt took longer than 1s'",
    )
    .await;
    treat("500 `job-failed`", &stack, &[]).await;
    stack.add_worker().await;
    for job in jobs {
        stack.job_is(job, "succeeded").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_known_by_its_id() {
    let (stack, shop) = stack_of_shop(0).await;
    submit(&stack, &shop).await;
    treat("Find the job of a request", &stack, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_for_a_long_time() {
    let (stack, shop) = stack_of_shop(0).await;
    let speech = recording("pa-school.wav");
    let form = Form::upload_and(&speech.bytes, "lang", speech.lang);
    let request = stack.post_as(&shop, "speech-recognition", &form).header("prefer", "respond-async");
    let job = send(request).await.job();
    let claimed = store::claim(&stack.db, "worker", &[FreePlaces::any(SPEECH, 1)]).await.expect("a claim");
    assert_eq!(claimed.len(), 1);
    execute(&stack, "update jobs set transcribed_s = 98.84, started_at = now() - interval '12 minutes'")
        .await;
    doctor_says(&stack, "a running speech-recognition job has not progressed for 12 min").await;
    treat("A job runs for a long time", &stack, &[]).await;
    stack.job_is(job, "cancelled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_died() {
    let (mut stack, shop) = stack_of_shop(0).await;
    let job = submit(&stack, &shop).await;
    let claimed = store::claim(&stack.db, "dead", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
    assert_eq!(claimed.len(), 1);
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    treat("Workers die", &stack, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_has_another_manifest() {
    let models = Cluster::shared().folder().join("troubleshooting-other-models");
    copy_models(&models);
    let manifest = models.join("digits-pa.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    fs::write(&manifest, text.replace("\"੪\", \"੫\"", "\"੫\", \"੪\"")).expect("a write");
    let mut stack = Stack::start().await;
    stack.add_worker_with(&[("AKHAR_MODELS_DIR".to_owned(), models.display().to_string())]).await;
    treat("Workers answer differently", &stack, &[]).await;
    doctor_says(&stack, "different models, or versions of one, for digit-recognition").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_model_is_damaged() {
    let models = Cluster::shared().folder().join("troubleshooting-models");
    copy_models(&models);
    let stack = Stack::with().workers(0).models(&models).start().await;
    let manifest = models.join("letters-pa.toml");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let hash = regex::Regex::new("[0-9a-f]{64}").expect("a pattern");
    fs::write(&manifest, &*hash.replace(&text, "0".repeat(64))).expect("a write");
    treat("Attempts of one worker fail", &stack, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_is_wrong() {
    let (stack, _) = stack_of_shop(0).await;
    execute(
        &stack,
        "create function public.clock_timestamp() returns timestamptz language sql as
             $$ select pg_catalog.clock_timestamp() + interval '1 hour' $$;
         do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$",
    )
    .await;
    treat("A clock is wrong", &stack, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_given_up() {
    let (stack, shop) = stack_of_shop(0).await;
    submit(&stack, &shop).await;
    execute(
        &stack,
        "insert into webhook_deliveries (job_id, account_id, url, state, attempt, ended_at, last_error)
         select id, account_id, 'https://receiver.invalid/', 'dead', 12, now(), 'the receiver answered 500' from jobs",
    )
    .await;
    treat("Webhooks are late or given up", &stack, &[]).await;
    assert_eq!(count(&stack, "select count(*) from webhook_deliveries where state = 'dead'").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_does_not_work() {
    let (stack, shop) = stack_of_shop(0).await;
    stack.keys(&["revoke", &shop[3..11]]).await;
    treat("401 for a caller who has a key", &stack, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_jobs_are_kept() {
    let (stack, shop) = stack_of_shop(0).await;
    submit(&stack, &shop).await;
    execute(
        &stack,
        "update jobs set state = 'succeeded', outcome = '{\"kind\": \"predictions\", \"predictions\": []}', upload = null,
             media_type = null, created_at = now() - interval '2 days', ended_at = now() - interval '2 days'",
    )
    .await;
    treat("The database grows", &stack, &[]).await;
    assert_eq!(count(&stack, "select count(*) from jobs").await, 0);
}
