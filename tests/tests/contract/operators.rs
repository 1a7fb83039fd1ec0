//! The commands of operators: `akhar queues`, `akhar workers`, `akhar jobs` and `akhar doctor`.

use akhar_jobs::{
    End, FreePlaces,
    store::{self, Ending, Guard},
};
use akhar_requests::QUICK;
use akhar_tests::{
    Form, Stack,
    http::send,
    images::fixture_of,
    models::{ID, Models, OPERATION},
    monitor,
    ops::Operator,
    queue, until,
};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use uuid::Uuid;

fn digit(stack: &Stack) -> RequestBuilder {
    let picture = fixture_of("੫");
    stack.post(picture.operation, &Form::upload(&picture.bytes))
}

/// Submits an asynchronous job and returns its id.
async fn submit(stack: &Stack) -> Uuid {
    let answer = send(digit(stack).header("prefer", "respond-async")).await;
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()["id"].as_str().expect("an id").parse().expect("a UUID")
}

#[tokio::test]
async fn a_paused_queue_accepts_jobs_that_run_after_it_is_resumed() {
    let mut stack = Stack::with().workers(0).start().await;
    stack.akhar(&["queues", "pause", "quick"]).await;
    let job = submit(&stack).await;
    stack.add_worker().await;
    let speech = akhar_tests::speech::recording("pa-school.wav");
    let form = Form::upload_and(&speech.bytes, "lang", speech.lang);
    assert_eq!(send(stack.post("speech-recognition", &form)).await.status, 200, "the other queue is open");
    stack.job_is(job, "queued").await;
    let queues = stack.akhar_json(&["queues", "list"]).await;
    assert_eq!((&queues[0]["queue"], &queues[0]["mode"]), (&json!("quick"), &json!("paused")));
    assert_eq!((&queues[0]["jobs"]["queued"], &queues[1]["jobs"]["succeeded"]), (&json!(1), &json!(1)));
    stack.akhar(&["queues", "resume", "quick"]).await;
    stack.job_is(job, "succeeded").await;
}

#[tokio::test]
async fn what_an_operator_stopped_is_shown_with_a_command_that_starts_it_again() {
    let stack = Stack::with().with_metrics().start().await;
    let of_doctor = async |name: &str| -> Value {
        let report = stack.akhar_json(&["doctor"]).await;
        let checks = report["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == name).expect(name).clone()
    };
    let fix = async |check: &Value| {
        let text = check["fix"].as_str().expect("a fix");
        let command =
            text.split('`').nth(1).and_then(|command| command.strip_prefix("akhar ")).expect("a command");
        stack.akhar(&command.split(' ').collect::<Vec<_>>()).await;
    };
    let is_ready = async |expected: Value| {
        until("the readiness says it", async || {
            (stack.get("/health/ready").await.json() == expected).then_some(())
        })
        .await;
    };
    assert_eq!(of_doctor("queues").await["status"], "ok");
    is_ready(json!({"status": "ready"})).await;

    let workers = stack.akhar_json(&["workers", "list"]).await;
    let name = workers[0]["name"].as_str().expect("a name");
    stack.akhar(&["workers", "drain", name]).await;
    for (queue, mode, effect) in [
        ("quick", "pause", "paused: its jobs wait"),
        ("speech", "drain", "draining: requests for it are refused"),
    ] {
        stack.akhar(&["queues", mode, queue]).await;
        let found = of_doctor("queues").await;
        assert_eq!(found["status"], "warning", "{found}");
        let (what, why) = effect.split_once(':').expect("two parts");
        let text = found["found"].as_str().expect("a finding");
        assert!(text.contains(&format!("{queue} is {what}")) && text.contains(why), "{found}");
        if mode == "pause" {
            let metrics = monitor::metrics(&stack.api).await;
            let value = |name, labels: &[&str]| monitor::value(&metrics, name, labels);
            assert_eq!(value("akhar_queue_mode", &["quick", "paused"]), Some(1.0));
            assert_eq!(value("akhar_queue_mode", &["quick", "open"]), Some(0.0));
            assert_eq!(value("akhar_queue_mode", &["speech", "open"]), Some(1.0));
            assert_eq!(value("akhar_workers", &["drained"]), Some(1.0));
            assert_eq!(value("akhar_workers", &["works"]), Some(0.0));
            let found = of_doctor("workers").await;
            assert_eq!(found["status"], "warning", "{found}");
            assert!(
                found["found"].as_str().is_some_and(|text| text.contains("drained") && text.contains(name)),
                "{found}"
            );
            fix(&found).await;
            assert_eq!(of_doctor("workers").await["status"], "ok");
        }
        is_ready(json!({"status": "ready", "notes": [format!("the queue {queue} is {effect}")]})).await;
        fix(&found).await;
        assert_eq!(of_doctor("queues").await["status"], "ok");
    }
}

#[tokio::test]
async fn a_pause_has_a_reason_and_an_end() {
    let mut stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "operator", "--role", "operate"]).await;
    let mut operator = Operator::with_role(&stack, "operate").await;
    let put = async |body: Value| {
        let request = stack.anonymous("PUT", "/v1/admin/queues/speech").bearer_auth(&key);
        send(request.header("content-type", "application/json").body(body.to_string())).await
    };
    let mode = async |nth: usize| stack.akhar_json(&["queues", "list"]).await[nth].clone();
    let last_change = async || stack.akhar_json(&["audit", "--limit", "1"]).await[0].clone();

    stack.akhar(&["queues", "pause", "quick", "--why", "the disk is replaced", "--until", "2h"]).await;
    let job = submit(&stack).await;
    let paused = mode(0).await;
    assert_eq!((&paused["mode"], &paused["why"]), (&json!("paused"), &json!("the disk is replaced")));
    let until = paused["until"].as_str().expect("a time").to_owned();
    assert_eq!(last_change().await["target"], format!("quick until={until} why=the disk is replaced"));
    let table = stack.akhar(&["queues", "list"]).await;
    assert!(table.contains("the disk is replaced") && table.contains(&until[..10]), "{table}");
    let report = stack.akhar_json(&["doctor"]).await.to_string();
    assert!(
        report.contains("quick is paused until") && report.contains("(the disk is replaced)"),
        "{report}"
    );
    let page = operator.get("/ops").await.text();
    assert!(
        page.contains("Queue quick is paused until") && page.contains("(the disk is replaced)"),
        "{page}"
    );

    // The admin API and the page take the same, and another end of the same pause is a change.
    let body = |until: &str| json!({"mode": "draining", "why": "a new model", "until": until});
    assert_eq!(put(body("06:00")).await.status, 204);
    assert_eq!(mode(1).await["why"], "a new model");
    assert_eq!(put(body("2h")).await.status, 204);
    assert_eq!(last_change().await["action"], "queue.drain");
    for wrong in ["soon", "25:00", "2020-01-01T00:00:00Z"] {
        let refused = put(body(wrong)).await.problem(422);
        assert_eq!(refused.json["errors"][0]["code"], "not_a_time", "{refused:?}");
        let (code, _, log) = stack.run(&["queues", "pause", "quick", "--until", wrong]).await;
        assert!(code == Some(2) && log.contains("expected a time within a year"), "{log}");
        let form = [("queue", "quick"), ("mode", "paused"), ("until", wrong)];
        let refused = operator.post("/ops/queues", &form).await;
        assert!(refused.status == 422 && refused.text().contains("within a year"), "{refused:?}");
    }
    let form = [("queue", "speech"), ("mode", "paused"), ("why", "night"), ("until", "1h")];
    assert_eq!(operator.post("/ops/queues", &form).await.status, 303);
    assert_eq!(mode(1).await["why"], "night");
    stack.akhar(&["queues", "resume", "speech"]).await;
    let resumed = mode(1).await;
    assert_eq!(
        (&resumed["mode"], &resumed["until"], &resumed["why"]),
        (&json!("open"), &Value::Null, &Value::Null)
    );

    // At its end the queue is open, for whoever looks. The first process that records a minute writes that too.
    let over = "update queue_controls set until = now() where queue = 'quick'";
    sqlx::raw_sql(over).execute(&stack.db).await.expect("an update");
    let open = mode(0).await;
    assert_eq!((&open["mode"], &open["why"]), (&json!("open"), &Value::Null));
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    let opened = until_recorded(&stack).await;
    assert_eq!((&opened["actor"], &opened["address"]), (&json!("akhar"), &Value::Null));
    assert!(opened["target"].as_str().is_some_and(|target| target.starts_with("quick until=")), "{opened}");
    let trail = stack.akhar(&["audit", "--limit", "1"]).await;
    assert!(trail.contains("the service"), "{trail}");
    let changes = stack.akhar_json(&["audit", "--action", "queue.resume"]).await;
    assert_eq!(changes.as_array().map(Vec::len), Some(2), "it is recorded once: {changes}");
}

/// The newest entry of the audit trail, when it is of the service itself.
async fn until_recorded(stack: &Stack) -> Value {
    until("the opening is recorded", async || {
        let newest = stack.akhar_json(&["audit", "--limit", "1"]).await[0].clone();
        (newest["action"] == "queue.resume" && newest["actor"] == "akhar").then_some(newest)
    })
    .await
}

#[tokio::test]
async fn a_draining_queue_refuses_requests_and_runs_the_jobs_that_wait() {
    let mut stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    stack.akhar(&["queues", "drain", "quick"]).await;
    // One that is accepted before the api knows would wait for its answer, which no worker gives.
    let is_refused = async || send(digit(&stack).header("prefer", "respond-async")).await.status == 503;
    until("a request is refused", async || is_refused().await.then_some(())).await;
    let refused = stack.refused(digit(&stack), 503).await;
    assert_eq!(refused.slug, "queue-closed");
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    stack.akhar(&["queues", "resume", "quick"]).await;
    until("a request is accepted", async || (send(digit(&stack)).await.status == 200).then_some(())).await;
}

#[tokio::test]
async fn a_drained_worker_claims_no_job_until_it_is_resumed() {
    let mut stack = Stack::start().await;
    let workers = stack.akhar_json(&["workers", "list"]).await;
    let name = workers[0]["name"].as_str().expect("a name").to_owned();
    until("it is ready", async || (stack.get("/health/ready").await.status == 200).then_some(())).await;
    stack.akhar(&["workers", "drain", &name]).await;
    let unready = until("it is not ready", async || {
        Some(stack.get("/health/ready").await).filter(|answer| answer.status == 503)
    });
    assert_eq!(unready.await.problem(503).slug, "no-worker");
    // After two further heartbeats the worker has read the first of them.
    for _ in 0..2 {
        let seen = heartbeat(&stack, &name).await;
        until("a heartbeat", async || (heartbeat(&stack, &name).await != seen).then_some(())).await;
    }
    stack.add_worker().await;
    let job = submit(&stack).await;
    stack.job_is(job, "succeeded").await;
    let other = stack.akhar_json(&["workers", "list"]).await;
    let other = other.as_array().expect("workers").iter().find(|w| w["name"] != name.as_str());
    assert_eq!(other.expect("another worker")["is_draining"], false);
    stack.workers[1].kill().await;
    stack.akhar(&["workers", "resume", &name]).await;
    assert_eq!(send(digit(&stack)).await.status, 200);

    let (code, _, log) = stack.run(&["workers", "drain", "nobody"]).await;
    assert_eq!(code, Some(1));
    assert!(log.contains("there is no worker nobody"), "{log}");
}

/// The time of a worker's last heartbeat.
async fn heartbeat(stack: &Stack, name: &str) -> Value {
    let workers = stack.akhar_json(&["workers", "list"]).await;
    let worker = workers.as_array().expect("workers").iter().find(|worker| worker["name"] == name);
    worker.expect("the worker")["seen_at"].clone()
}

#[tokio::test]
async fn operators_see_which_workers_serve_which_models() {
    let world = Models::with_all_bundled().await;
    let bundled =
        ("AKHAR_MODELS_DIR".to_owned(), akhar_tests::stack::models().to_string_lossy().into_owned());
    let mut stack = Stack::with().models(&world.folder.join("models")).start().await;
    stack.add_worker_with(&[bundled]).await;
    // A worker whose heartbeats have stopped serves nothing.
    sqlx::query(
        "insert into workers (name, seen_at, models)
         select 'dead', now() - interval '1 hour', jsonb_set(models, '{0,version}', '\"other\"') from workers limit 1",
    )
    .execute(&stack.db)
    .await
    .expect("a worker");
    let viewer = stack.keys(&["create", "--name", "viewer", "--role", "view"]).await;
    let served = async |stack: &Stack| -> Vec<Value> {
        let answer = send(stack.anonymous("GET", "/v1/admin/models").bearer_auth(&viewer)).await.json();
        answer["models"].as_array().expect("models").clone()
    };
    let of_digits = |models: &[Value]| -> Vec<Value> {
        models.iter().filter(|model| model["operation"] == OPERATION).cloned().collect()
    };
    let first = served(&stack).await;
    assert_eq!(stack.akhar_json(&["workers", "models"]).await, json!(first));
    let languages = |operation: &str| -> Vec<Value> {
        let of = first.iter().filter(|model| model["operation"] == operation);
        of.map(|model| model["language"].clone()).collect()
    };
    assert_eq!(languages("speech-recognition"), [json!("en"), json!("pa")]);
    assert_eq!(languages("handwriting-generator"), [json!(null)]);
    for model in &first {
        assert_eq!((&model["is_mixed"], model["workers"].as_array().map(Vec::len)), (&json!(false), Some(2)));
        assert_eq!(model["version"].as_str().map(str::len), Some(12), "{model}");
    }
    let operator = Operator::signed_in(&stack).await;
    assert!(!operator.get("/ops").await.text().contains("differs between workers"));

    world.done(&["pull", ID]).await;
    world.done(&["use", OPERATION, ID]).await;
    until("one worker has another model", async || {
        (of_digits(&served(&stack).await).len() == 2).then_some(())
    })
    .await;
    let now = served(&stack).await;
    assert_eq!(stack.akhar_json(&["workers", "models"]).await, json!(now));
    let digits = of_digits(&now);
    assert_eq!((&digits[0]["id"], &digits[1]["id"]), (&json!(ID), &json!("digits-pa")));
    assert_ne!(digits[0]["workers"], digits[1]["workers"]);
    for model in &now {
        let is_of_digits = model["operation"] == OPERATION;
        let n_workers = model["workers"].as_array().map(Vec::len);
        assert_eq!(
            (&model["is_mixed"], n_workers),
            (&json!(is_of_digits), Some(2 - usize::from(is_of_digits)))
        );
    }
    let table = stack.akhar(&["workers", "models"]).await;
    let row = table.lines().find(|line| line.contains(ID)).expect("a row");
    assert!(
        row.contains("yes") && row.ends_with(digits[0]["workers"][0].as_str().expect("a name")),
        "{table}"
    );
    until("the operations page says so", async || {
        let page = operator.get("/ops").await.text();
        (page.matches("differs between workers").count() == 2 && page.contains(ID)).then_some(())
    })
    .await;

    world.done(&["use", OPERATION, "bundled"]).await;
    until("both have the same again", async || (of_digits(&served(&stack).await).len() == 1).then_some(()))
        .await;
    let then = served(&stack).await;
    assert!(then.iter().all(|model| model["is_mixed"] == false), "{then:?}");
}

#[tokio::test]
async fn operators_find_cancel_and_purge_jobs_of_all_accounts() {
    let mut stack = Stack::with().workers(0).start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let (first, second) = (submit(&stack).await, submit(&stack).await);
    let request_id: String = stack.row("select request_id from jobs where id = $1", first).await;
    let [first, second] = [first, second].map(|id| id.to_string());
    let ids = async |arguments: &[&str]| -> Vec<String> {
        let jobs = stack.akhar_json(&[&["jobs", "list"], arguments].concat()).await;
        let id = |job: &Value| job["id"].as_str().expect("an id").to_owned();
        jobs.as_array().expect("jobs").iter().map(id).collect()
    };
    assert_eq!(ids(&[]).await, [second.clone(), first.clone()], "the newest first");
    assert_eq!(ids(&["--limit", "1"]).await, [second.as_str()]);
    assert_eq!(ids(&["--request-id", &request_id]).await, [first.as_str()]);
    assert_eq!(ids(&["--state", "failed"]).await, [""; 0]);
    assert_eq!(ids(&["--key", &other[3..11]]).await, [""; 0]);
    assert_eq!(ids(&["--key", &stack.key[3..11], "--operation", "digit-recognition"]).await.len(), 2);
    let shown = stack.akhar_json(&["jobs", "show", &first]).await;
    assert_eq!((&shown["job"]["state"], &shown["job"]["account"]), (&json!("queued"), &json!("test")));
    assert!(shown["job"]["upload_bytes"].as_i64().is_some_and(|n| n > 0), "{shown}");
    assert_eq!(shown["failed_attempts"], json!([]));

    stack.akhar(&["jobs", "cancel", &first]).await;
    let (code, _, log) = stack.run(&["jobs", "cancel", &first]).await;
    assert_eq!(code, Some(1));
    assert!(log.contains("cannot be cancelled"), "{log}");
    stack.add_worker().await;
    stack.job_is(second.parse().expect("a UUID"), "succeeded").await;
    let purged = stack.akhar(&["jobs", "purge", "--ended-before", "1h"]).await;
    assert_eq!(purged, "0 jobs deleted", "both ended just now");
    let purged =
        stack.akhar(&["jobs", "purge", "--ended-before", "0", "--state", "cancelled", "--yes"]).await;
    assert_eq!(purged, "1 jobs deleted");
    let left = stack.akhar(&["jobs", "list"]).await;
    assert!(!left.contains(&first) && left.contains(&second), "{left}");
}

#[tokio::test]
async fn jobs_are_changed_by_the_same_filters_and_never_all_of_them_unasked() {
    let stack = Stack::with().workers(0).start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let mut mine = Vec::new();
    for _ in 0..3 {
        mine.push(submit(&stack).await);
    }
    for _ in 0..2 {
        let flood = stack.post_as(&other, "digit-recognition", &Form::upload(&fixture_of("੫").bytes));
        send(flood.header("prefer", "respond-async").header("x-request-id", "order-1")).await.job();
    }
    let counted = stack.akhar_json(&["jobs", "count", "--state", "queued"]).await;
    assert_eq!((&counted[0]["account"], &counted[0]["n_jobs"]), (&json!("test"), &json!(3)), "{counted}");
    assert_eq!((&counted[1]["account"], &counted[1]["n_jobs"]), (&json!("other"), &json!(2)), "{counted}");

    let n_left = async || {
        stack.row::<i64>("select count(*) from jobs where state = 'queued' and $1 = $1", mine[0]).await
    };
    for (filters, n) in [
        (&["--all"][..], 5),
        (&["--account", "other"], 2),
        (&["--key", &other[3..11]], 2),
        (&["--operation", "digit-recognition", "--account", "test"], 3),
        (&["--queue", "speech"], 0),
        (&["--request-id", "order-1"], 2),
        (&["--older-than", "1h"], 0),
        (&["--older-than", "0s"], 5),
        (&["--state", "queued"], 5),
        (&[&mine[0].to_string()], 1),
    ] {
        let would = stack.akhar(&[&["jobs", "cancel", "--dry-run"], filters].concat()).await;
        assert!(would.ends_with(&format!("would cancel {n} jobs")), "{filters:?}: {would}");
    }
    for (command, code, said) in [
        (&["jobs", "cancel"][..], 2, "required"),
        (&["jobs", "purge"], 2, "required"),
        (&["jobs", "cancel", "--older-than", "soon"], 2, "expected a time"),
        (&["jobs", "cancel", "--account", "nobody"], 1, "no account has the name"),
        (&["jobs", "cancel", "--account", "other"], 1, "this would cancel 2 jobs: add --yes"),
    ] {
        let (ended, _, log) = stack.run(command).await;
        assert_eq!(ended, Some(code), "{command:?}: {log}");
        assert!(log.contains(said), "{command:?}: {log}");
    }
    assert_eq!(n_left().await, 5);
    assert_eq!(stack.akhar(&["jobs", "cancel", "--account", "other", "--yes"]).await, "2 jobs cancelled");
    assert_eq!(n_left().await, 3);
    let (code, _, log) = stack.run(&["jobs", "purge", "--ended-before", "0"]).await;
    assert!(code == Some(1) && log.contains("this would delete 2 jobs"), "{log}");
    assert_eq!(
        stack.akhar(&["jobs", "cancel", &mine[0].to_string(), &mine[1].to_string()]).await,
        "2 jobs cancelled"
    );
    let (code, out, log) = stack.run(&["jobs", "purge", &mine[0].to_string(), &mine[2].to_string()]).await;
    assert!(
        code == Some(1) && out.contains("1 jobs deleted") && log.contains("1 of these jobs have not ended"),
        "{out}{log}"
    );
    assert_eq!(stack.akhar(&["jobs", "purge", "--all", "--ended-before", "0"]).await, "3 jobs deleted");
    assert_eq!(n_left().await, 1);
}

#[tokio::test]
async fn on_a_terminal_a_question_is_asked_before_jobs_are_changed() {
    let stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    for (answer, state) in [("n", "queued"), ("y", "cancelled")] {
        let printed = stack.on_a_terminal(&["jobs", "cancel", "--all"], answer).await;
        assert!(printed.contains("cancel these 1 jobs? [y/N]"), "{printed}");
        assert_eq!(printed.contains("nothing was changed"), answer == "n", "{printed}");
        stack.job_is(job, state).await;
    }
}

/// Claims the oldest job of the quick queue and fails it, as a worker does after the last attempt.
async fn fail(stack: &Stack, error: &str) {
    let claimed = store::claim(&stack.db, "worker", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
    let guard = Guard::Claimed(claimed.first().expect("a job").fence);
    let ending = Ending {
        guard,
        end: End::Failed,
        timing: None,
        error: Some(error.to_owned()),
        may_have_webhook: false,
    };
    assert_eq!(queue::end(&stack.db, &[ending]).await.expect("an end").met, [true]);
}

#[tokio::test]
async fn a_job_that_the_service_failed_to_process_keeps_its_upload_and_can_be_retried() {
    let mut stack = Stack::with().workers(0).start().await;
    let (first, second) = (submit(&stack).await, submit(&stack).await);
    let announced = "update jobs set webhook_url = 'https://receiver.invalid/' where id = $1";
    sqlx::query(announced).bind(first).execute(&stack.db).await.expect("a webhook");
    fail(&stack, "the model broke").await;
    fail(&stack, "the disk was full").await;
    let shown = stack.akhar_json(&["jobs", "show", &first.to_string()]).await;
    assert_eq!(
        (&shown["job"]["state"], &shown["job"]["last_error"]),
        (&json!("failed"), &json!("the model broke"))
    );
    assert_eq!(shown["failed_attempts"][0]["error"], "the model broke");
    let problem = stack.refused(stack.request("GET", &format!("/v1/jobs/{first}/result")), 500).await;
    assert_eq!(problem.slug, "job-failed");
    assert!(!problem.json.to_string().contains("broke"), "{}", problem.json);

    assert_eq!(stack.akhar(&["jobs", "retry", "--all", "--error", "another"]).await, "0 jobs wait again");
    let found = stack.akhar_json(&["jobs", "list", "--error", "MODEL bro"]).await;
    assert_eq!(
        (found.as_array().map(Vec::len), &found[0]["id"]),
        (Some(1), &json!(first)),
        "by a part of the error"
    );
    assert_eq!(stack.akhar(&["jobs", "retry", "--all", "--error", "model broke"]).await, "1 jobs wait again");
    stack.job_is(second, "failed").await;
    stack.akhar(&["jobs", "retry", &second.to_string()]).await;
    let broken = stack.post("digit-recognition", &Form::upload(b"\x89PNG\r\n\x1a\nbroken"));
    let broken: Value = send(broken.header("prefer", "respond-async")).await.json();
    stack.add_worker().await;
    for job in [first, second] {
        stack.job_is(job, "succeeded").await;
        let result = stack.get(&format!("/v1/jobs/{job}/result")).await;
        assert_eq!(result.json()["predictions"][0]["label"], "੫", "{result:?}");
    }
    let announced =
        "select d.created_at = j.ended_at from webhook_deliveries d join jobs j on j.id = d.job_id
        where j.id = $1";
    assert!(stack.row::<bool>(announced, first).await, "the second end is announced too");
    let broken = broken["id"].as_str().expect("an id");
    stack.job_is(broken.parse().expect("a UUID"), "failed").await;
    let (code, _, log) = stack.run(&["jobs", "retry", broken]).await;
    assert_eq!(code, Some(1));
    assert!(log.contains("cannot be retried"), "{log}");
    let operator = Operator::signed_in(&stack).await;
    for shown in [
        stack.akhar(&["jobs", "list", "--state", "failed"]).await,
        stack.akhar(&["jobs", "show", broken]).await,
        operator.get("/ops/jobs?state=failed").await.text(),
        operator.get(&format!("/ops/jobs/{broken}")).await.text(),
    ] {
        assert!(
            shown.contains("file: ") && shown.contains("image/png"),
            "the reason of a rejection: {shown}"
        );
    }
    let n_left = "select count(*) from jobs where upload is not null and id = any(array[$1])";
    assert_eq!(stack.row::<i64>(n_left, first).await, 0, "the upload is deleted when the job succeeds");
}

#[tokio::test]
async fn doctor_finds_what_is_wrong_and_says_how_to_correct_it() {
    let stack = Stack::start().await;
    let address = stack.base.trim_start_matches("http://");
    let run = async |name: &str, value: &str| {
        let (code, out, log) = stack.run_with(&["doctor", "--json"], &[(name, value)]).await;
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{log}"));
        assert_eq!(code == Some(0), report["ok"] == true, "{report}");
        report
    };
    let check = |report: &Value, name: &str| -> Value {
        let checks = report["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == name).expect(name).clone()
    };
    let healthy = run("AKHAR_LISTEN", address).await;
    assert_eq!(healthy["ok"], true, "{healthy}");
    for name in ["settings", "database", "schema", "clock", "workers", "keys", "library", "models", "port"] {
        assert_eq!(check(&healthy, name)["status"], "ok", "{healthy}");
    }
    for (name, value, wrong) in [
        ("AKHAR_LISTEN", "127.0.0.1", "settings"),
        ("AKHAR_DATABASE_URL", "postgres://nobody@127.0.0.1:1/none", "database"),
        ("AKHAR_ORT_DYLIB", "/does/not/exist.so", "library"),
        ("AKHAR_MODELS_DIR", "/does/not/exist", "models"),
    ] {
        let report = run(name, value).await;
        let found = check(&report, wrong);
        assert_eq!(found["status"], "failed", "{report}");
        assert!(found["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{found}");
    }
    let text = stack.akhar(&["doctor"]).await;
    assert!(text.lines().any(|line| line.starts_with("ok        schema ")), "{text}");
}

#[tokio::test]
async fn doctor_fails_for_missing_models_only_where_a_worker_runs() {
    let mut stack = Stack::with().workers(0).start().await;
    let missing = [("AKHAR_MODELS_DIR", "/does/not/exist"), ("AKHAR_ORT_DYLIB", "/does/not/exist.so")];
    let (code, report, log) = stack.run_with(&["doctor"], &missing).await;
    assert_eq!(code, Some(0), "{report}{log}");
    assert!(report.lines().any(|line| line.starts_with("warning ") && line.contains(" models ")), "{report}");
    stack.add_worker().await;
    let (code, report, _) = stack.run_with(&["doctor"], &missing).await;
    assert_eq!(code, Some(1), "{report}");
    assert!(report.lines().any(|line| line.starts_with("FAILED ") && line.contains(" models ")), "{report}");
}

#[tokio::test]
async fn doctor_names_jobs_that_wait_for_long_while_workers_are_idle() {
    let stack = Stack::start().await;
    let waiting = async || -> String {
        let report = stack.akhar(&["doctor"]).await;
        let lines: Vec<&str> =
            report.lines().skip_while(|line| !line.contains(" waiting ")).take(2).collect();
        lines.join("\n")
    };
    assert!(waiting().await.starts_with("ok "), "nothing waits");
    // A queue that no worker knows, so that its jobs wait.
    let old = "insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id, created_at, run_at)
        select gen_random_uuid(), gen_random_uuid(), 'digit-recognition', 'other', 0, '{}', 3, 'test',
            now() - interval '2 hours', now() - interval '2 hours' from generate_series(1, 3)";
    sqlx::query(old).execute(&stack.db).await.expect("jobs");
    let found = waiting().await;
    assert!(found.contains("3 jobs of other, the oldest for 2 h; workers without a job: "), "{found}");
    assert!(found.contains("fix: the logs of these workers"), "{found}");
    sqlx::query("update jobs set run_at = now() + interval '1 hour'")
        .execute(&stack.db)
        .await
        .expect("a pause");
    assert!(waiting().await.starts_with("ok "), "they pause after an attempt");
}

#[tokio::test]
async fn a_slow_statement_is_named_in_a_short_line() {
    let stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    let slow = "create function slow() returns trigger language plpgsql as
            $$ begin perform pg_sleep(1.1); return new; end $$;
        create trigger slow before update on jobs for each row execute function slow()";
    sqlx::raw_sql(slow).execute(&stack.db).await.expect("a trigger");
    let (code, said, log) = stack.run(&["jobs", "cancel", &job.to_string()]).await;
    assert_eq!((code, said.trim()), (Some(0), "1 jobs cancelled"), "{log}");
    assert!(log.contains("slow statement"), "{log}");
    assert!(log.lines().count() == 1 && log.len() < 250 && !log.contains("returning"), "{log}");
}
