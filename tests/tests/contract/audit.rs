//! Roles of operators, and the trail of what they changed.

use std::collections::BTreeSet;

use akhar_accounts::Role;
use akhar_jobs::{FreePlaces, store};
use akhar_operators::Action;
use akhar_requests::QUICK;
use akhar_tests::{Answer, Form, Stack, http::send, images::fixture_of, ops::Operator, until};
use serde_json::{Value, json};
use uuid::Uuid;

/// Submits an asynchronous job.
async fn submit(stack: &Stack) -> Uuid {
    let picture = fixture_of("੫");
    let request = stack.post(picture.operation, &Form::upload(&picture.bytes));
    send(request.header("prefer", "respond-async")).await.job()
}

/// Submits a job that failed in the service, and whose webhook was given up.
async fn failed(stack: &Stack) -> Uuid {
    let job = submit(stack).await;
    let fail = sqlx::query(
        "with failed as (
             update jobs set state = 'failed', outcome = '{\"kind\":\"failed\"}', ended_at = now(), attempt = 3,
                 last_error = 'it broke' where id = $1 returning id, account_id)
         insert into webhook_deliveries (job_id, account_id, url, state, ended_at)
         select id, account_id, 'https://receiver.invalid/', 'dead', now() from failed",
    );
    fail.bind(job).execute(&stack.db).await.expect("an update");
    job
}

/// One change, with what it is made by: a command, and a form of a page and a request if there are some.
struct Made {
    command: Vec<String>,
    form: Option<(&'static str, Vec<(&'static str, String)>)>,
    request: Option<(&'static str, String, Value)>,
    target: String,
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Brings the service into a state in which this action changes one thing.
async fn prepare(stack: &Stack, action: Action) -> Made {
    let execute = async |sql: &'static str| {
        sqlx::raw_sql(sql).execute(&stack.db).await.expect(sql);
    };
    let key = stack.keys(&["create", "--name", "other"]).await[3..11].to_owned();
    let of_key = format!("{key} (other)");
    let with_key = |words: &[&str], form, request: Option<(&'static str, &str, Value)>| {
        let command = texts(&[&["keys", words[0], &key], &words[1..]].concat());
        let path = |end: &str| format!("/v1/admin/keys/{key}{end}");
        let request = request.map(|(method, end, body)| (method, path(end), body));
        Made { command, form, request, target: of_key.clone() }
    };
    let queue = |verb: &str, mode: &str| {
        let form = ("/ops/queues", vec![("queue", "quick".to_owned()), ("mode", mode.to_owned())]);
        let request = Some(("PUT", "/v1/admin/queues/quick".to_owned(), json!({"mode": mode})));
        Made {
            command: texts(&["queues", verb, "quick"]),
            form: Some(form),
            request,
            target: "quick".to_owned(),
        }
    };
    let worker = |verb: &str, drain: &str| {
        let form = ("/ops/workers", vec![("name", "w1".to_owned()), ("drain", drain.to_owned())]);
        let request = Some(("PUT", "/v1/admin/workers/w1".to_owned(), json!({"drain": drain == "true"})));
        Made { command: texts(&["workers", verb, "w1"]), form: Some(form), request, target: "w1".to_owned() }
    };
    let job = |verb: &str, action: &str, job: Uuid| {
        let form = ("/ops/jobs", vec![("action", action.to_owned()), ("id", job.to_string())]);
        let command = texts(&["jobs", verb, &job.to_string()]);
        let body = json!({"change": verb, "ids": [job]});
        let request = Some(("POST", "/v1/admin/jobs/change".to_owned(), body));
        Made { command, form: Some(form), request, target: format!("id={job}") }
    };
    execute("delete from queue_controls; delete from workers; delete from restores").await;
    match action {
        Action::QueuePause => queue("pause", "paused"),
        Action::QueueDrain => queue("drain", "draining"),
        Action::QueueResume => {
            execute("insert into queue_controls (queue, mode) values ('quick', 'paused')").await;
            queue("resume", "open")
        }
        Action::WorkerDrain => {
            execute("insert into workers (name) values ('w1')").await;
            worker("drain", "true")
        }
        Action::WorkerResume => {
            execute("insert into workers (name, is_draining) values ('w1', true)").await;
            worker("resume", "false")
        }
        Action::JobsRetry => job("retry", "retry", failed(stack).await),
        Action::JobsCancel => job("cancel", "cancel", submit(stack).await),
        Action::JobsPurge => job("purge", "delete", failed(stack).await),
        Action::WebhooksRedeliver => {
            let job = failed(stack).await;
            let command = texts(&["webhooks", "redeliver", &job.to_string()]);
            let request = Some(("POST", "/v1/admin/webhooks/redeliver".to_owned(), json!({"ids": [job]})));
            let form = Some(("/ops/webhooks", vec![("id", job.to_string())]));
            Made { command, form, request, target: format!("id={job}") }
        }
        Action::DatabaseQuiet | Action::DatabaseGo => {
            let is_quiet = action == Action::DatabaseQuiet;
            if !is_quiet {
                execute("insert into restores (name) values ('a restore')").await;
            }
            let command = texts(&["database", if is_quiet { "quiet" } else { "go" }]);
            Made { command, form: None, request: None, target: "the database".to_owned() }
        }
        Action::KeyCreate => {
            let command = texts(&["keys", "create", "--name", "new"]);
            let request = Some(("POST", "/v1/admin/keys".to_owned(), json!({"name": "new"})));
            Made { command, form: None, request, target: "(new)".to_owned() }
        }
        Action::KeyLimit => {
            with_key(&["limit", "--rpm", "60"], None, Some(("PUT", "/quotas", json!({"rpm": 60}))))
        }
        Action::KeyExpire => {
            execute("update api_keys set expires_at = now() + interval '1 day' where name = 'other'").await;
            let form = ("/ops/keys/expiry", vec![("prefix", key.clone()), ("never", "true".to_owned())]);
            with_key(&["expire", "--never"], Some(form), Some(("PUT", "/expiry", json!({}))))
        }
        Action::KeyWebhook => with_key(&["webhook"], None, None),
        Action::KeyRotate => with_key(&["rotate"], None, Some(("POST", "/rotate", json!({})))),
        Action::KeyRevoke => {
            let form = ("/ops/keys", vec![("prefix", key.clone())]);
            with_key(&["revoke"], Some(form), Some(("DELETE", "", Value::Null)))
        }
        Action::AccountErase => {
            let of_key = "select account_id from api_keys where prefix = $1";
            let account: Uuid =
                sqlx::query_scalar(of_key).bind(&key).fetch_one(&stack.db).await.expect("a key");
            let command = texts(&["accounts", "erase", &key, "--yes"]);
            Made { command, form: None, request: None, target: account.to_string() }
        }
    }
}

/// The trail, the newest first.
async fn trail(stack: &Stack) -> Vec<Value> {
    let rows = stack.akhar_json(&["audit", "--limit", "1000"]).await;
    rows.as_array().expect("rows").clone()
}

/// Sends a request with this key. The body is JSON, unless it is null.
async fn send_json(stack: &Stack, key: &str, method: &str, path: &str, body: &Value) -> Answer {
    let request = stack.anonymous(method, path).bearer_auth(key);
    let request = match body {
        Value::Null => request,
        body => request.header("content-type", "application/json").body(body.to_string()),
    };
    send(request).await
}

/// What the trail must have of a change.
struct Expected<'a> {
    action: Action,
    target: &'a str,
    actor: &'a str,
    is_command: bool,
}

/// Panics unless exactly one row was added to the trail, and it has this.
async fn check_row(stack: &Stack, n_before: usize, expected: Expected<'_>) {
    let Expected { action, target, actor, is_command } = expected;
    let rows = trail(stack).await;
    assert_eq!(rows.len(), n_before + 1, "{action:?}: {rows:?}");
    let row = &rows[0];
    assert_eq!((&row["action"], &row["n_changed"]), (&json!(action.name()), &json!(1)), "{row}");
    assert!(row["target"].as_str().is_some_and(|on| on.ends_with(target)), "{row}");
    assert!(row["actor"].as_str().is_some_and(|who| who.contains(actor)), "{row}");
    assert_eq!((row["address"].is_null(), row["key_prefix"].is_null()), (is_command, is_command), "{row}");
    assert!(is_command || row["address"] == "127.0.0.1", "{row}");
}

#[tokio::test]
async fn every_change_of_an_operator_leaves_one_row_in_the_audit_trail() {
    let stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "night shift", "--role", "admin"]).await;
    let mut operator = Operator::anonymous(&stack);
    operator.sign_in(&key).await;
    let mut secrets = Vec::new();
    let mut keep_secret = |text: &str| {
        secrets.extend(text.rsplit(['_', '"']).map(str::to_owned).find(|part| part.len() > 40));
    };
    keep_secret(&key);
    for action in Action::ALL.iter().copied() {
        let is_repeatable = !matches!(action, Action::KeyCreate | Action::WebhooksRedeliver);
        let made = prepare(&stack, action).await;
        let n_before = trail(&stack).await.len();
        let command: Vec<&str> = made.command.iter().map(String::as_str).collect();
        keep_secret(&stack.akhar(&command).await);
        let of_command = Expected { action, target: &made.target, actor: "@", is_command: true };
        check_row(&stack, n_before, of_command).await;
        if is_repeatable {
            stack.run(&command).await;
            assert_eq!(trail(&stack).await.len(), n_before + 1, "{action:?} again changes nothing");
        }

        let made = prepare(&stack, action).await;
        let expected = || Expected { action, target: &made.target, actor: "night shift", is_command: false };
        let n_before = trail(&stack).await.len();
        if let Some((path, fields)) = &made.form {
            let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(operator.post(path, &fields).await.status, 303, "{action:?}");
            check_row(&stack, n_before, expected()).await;
            if is_repeatable {
                operator.post(path, &fields).await;
                assert_eq!(trail(&stack).await.len(), n_before + 1, "{action:?} again changes nothing");
            }
        }

        let made = prepare(&stack, action).await;
        let expected = || Expected { action, target: &made.target, actor: "night shift", is_command: false };
        let n_before = trail(&stack).await.len();
        if let Some((method, path, body)) = &made.request {
            let answer = send_json(&stack, &key, method, path, body).await;
            assert!((200..300).contains(&answer.status), "{action:?}: {answer:?}");
            keep_secret(&answer.text());
            check_row(&stack, n_before, expected()).await;
            if is_repeatable {
                send_json(&stack, &key, method, path, body).await;
                assert_eq!(trail(&stack).await.len(), n_before + 1, "{action:?} again changes nothing");
            }
        }
    }
    let whole = json!(trail(&stack).await).to_string();
    assert!(secrets.len() > 5, "{}", secrets.len());
    for secret in secrets {
        assert!(!whole.contains(&secret), "a secret is in {whole}");
    }
}

#[tokio::test]
async fn the_jobs_of_one_action_are_one_row_however_many_batches_they_need() {
    let stack = Stack::with().workers(0).start().await;
    submit(&stack).await;
    let more = "insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id, state)
        select gen_random_uuid(), account_id, operation, queue, 0, parameters, 3, 'x', 'queued' from jobs, generate_series(1, 450)";
    sqlx::raw_sql(more).execute(&stack.db).await.expect("jobs");
    assert_eq!(
        stack.akhar(&["jobs", "cancel", "--queue", "quick", "--all", "--yes"]).await,
        "451 jobs cancelled"
    );
    let rows = trail(&stack).await;
    let cancelled: Vec<_> = rows.iter().filter(|row| row["action"] == "jobs.cancel").collect();
    assert_eq!(cancelled.len(), 1, "{rows:?}");
    assert_eq!((&cancelled[0]["n_changed"], &cancelled[0]["target"]), (&json!(451), &json!("queue=quick")));
}

/// The paths of the pages to which a form can be sent, but for signing in and out: from the list of routes, so that a new one
/// cannot be forgotten.
fn forms() -> Vec<&'static str> {
    let routes = include_str!("../../../api/src/ui/ops/mod.rs").split(".route(\"").skip(1);
    let with_post = routes.filter(|route| route.lines().next().is_some_and(|line| line.contains("post(")));
    let paths = with_post.filter_map(|route| route.split('"').next());
    paths.filter(|path| !matches!(*path, "/ops/login" | "/ops/logout")).collect()
}

/// The paths to which the forms of all pages can be sent.
async fn sendable(operator: &Operator, job: Uuid) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let job = format!("/ops/jobs/{job}");
    for page in ["/ops", "/ops/jobs", "/ops/errors", "/ops/webhooks", "/ops/keys", "/ops/audit", &job] {
        let page = operator.get(page).await;
        assert_eq!(page.status, 200);
        let text = page.text();
        let found = text.split("method=\"post\" action=\"").skip(1).filter_map(|form| form.split('"').next());
        paths.extend(found.map(str::to_owned));
    }
    paths
}

#[tokio::test]
async fn an_operator_changes_only_what_the_role_of_the_key_allows() {
    let stack = Stack::with().workers(0).start().await;
    let job = failed(&stack).await;
    sqlx::raw_sql("insert into workers (name) values ('w1')").execute(&stack.db).await.expect("a worker");
    let mut viewer = Operator::with_role(&stack, "view").await;
    let mut driver = Operator::with_role(&stack, "operate").await;
    let admin = Operator::with_role(&stack, "admin").await;
    let forms = forms();
    assert!(forms.len() >= 5, "{forms:?}");
    let signing_out = BTreeSet::from(["/ops/logout".to_owned()]);
    assert_eq!(sendable(&viewer, job).await, signing_out);
    let all: BTreeSet<String> = forms.iter().map(|path| (*path).to_owned()).chain(signing_out).collect();
    assert_eq!(sendable(&admin, job).await, all);
    let without_keys = all.iter().filter(|path| !path.starts_with("/ops/keys")).cloned().collect();
    assert_eq!(sendable(&driver, job).await, without_keys);
    let page = viewer.get("/ops/jobs").await.text();
    assert!(!page.contains("type=\"checkbox\"") && page.contains(&job.to_string()), "{page}");

    let n_rows = trail(&stack).await.len();
    for path in &forms {
        let refused = viewer.post(path, &[]).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(refused.text().contains("Your key may not do this."), "{path}: {}", refused.text());
        let refused = driver.post(path, &[("prefix", &stack.key[3..11]), ("never", "true")]).await;
        assert_eq!(refused.status == 403, path.starts_with("/ops/keys"), "{path}: {refused:?}");
    }
    for action in Action::ALL {
        let made = prepare(&stack, *action).await;
        let n_before = trail(&stack).await.len();
        let Some((path, fields)) = made.form else { continue };
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(viewer.post(path, &fields).await.status, 403, "{action:?}");
        assert_eq!(trail(&stack).await.len(), n_before, "{action:?}");
        let expected = if action.role() == Role::Admin { 403 } else { 303 };
        assert_eq!(driver.post(path, &fields).await.status, expected, "{action:?}");
    }
    assert!(trail(&stack).await.len() > n_rows);
    assert_eq!(viewer.post("/ops/logout", &[]).await.header("location"), "/ops/login");
}

#[tokio::test]
async fn the_admin_api_is_for_keys_of_operators_with_the_role_that_a_request_needs() {
    let stack = Stack::with().workers(0).set_text("AKHAR_CORS_ORIGINS", "https://app.example").start().await;
    let key = async |role: &str| stack.keys(&["create", "--name", role, "--role", role]).await;
    let (viewer, driver, admin) = (key("view").await, key("operate").await, key("admin").await);
    let token = json!({"operation": "digit-recognition", "origin": "https://app.example"});
    let token = send_json(&stack, &admin, "POST", "/v1/tokens", &token).await.json();
    let token = token["token"].as_str().expect("a token");
    let n_before = trail(&stack).await.len();

    let document = stack.get("/openapi.json").await.json();
    let paths = document["paths"].as_object().expect("paths").iter();
    let mut n_changes = 0;
    for (path, item) in paths.filter(|(path, _)| path.starts_with("/v1/admin/")) {
        let path = path.replace("{id}", &Uuid::nil().to_string()).replace(['{', '}'], "");
        for method in item.as_object().expect("methods").keys().map(|method| method.to_uppercase()) {
            let refused = stack.refused(stack.anonymous(&method, &path), 401).await;
            assert_eq!(refused.slug, "unauthorized", "{method} {path}");
            let refused = stack.refused(stack.request(&method, &path), 403).await;
            assert_eq!(refused.slug, "forbidden", "{method} {path}");
            let with_token = stack.anonymous(&method, &path).bearer_auth(token);
            let refused = stack.refused(with_token.header("origin", "https://app.example"), 403).await;
            assert_eq!(refused.slug, "out-of-scope", "{method} {path}");
            let by_viewer = stack.anonymous(&method, &path).bearer_auth(&viewer);
            if method == "GET" {
                let status = send(by_viewer).await.status;
                assert_eq!(
                    status,
                    if path.ends_with(&Uuid::nil().to_string()) { 404 } else { 200 },
                    "{path}"
                );
            } else {
                n_changes += 1;
                assert_eq!(stack.refused(by_viewer, 403).await.slug, "forbidden", "{method} {path}");
            }
        }
    }
    assert!(n_changes >= 7, "{n_changes}");
    assert_eq!(trail(&stack).await.len(), n_before);

    for action in Action::ALL {
        let made = prepare(&stack, *action).await;
        let n_before = trail(&stack).await.len();
        let Some((method, path, body)) = &made.request else { continue };
        assert_eq!(send_json(&stack, &viewer, method, path, body).await.problem(403).slug, "forbidden");
        let by_driver = send_json(&stack, &driver, method, path, body).await;
        if action.role() == Role::Admin {
            let detail = by_driver.problem(403).json["detail"].clone();
            assert_eq!(detail, "The role of the key is operate, and the request needs admin.");
            assert_eq!(trail(&stack).await.len(), n_before, "{action:?}");
        } else {
            assert!((200..300).contains(&by_driver.status), "{action:?}: {by_driver:?}");
        }
    }
}

#[tokio::test]
async fn the_admin_api_lists_pages_of_keys_jobs_and_changes() {
    let stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "viewer", "--role", "view"]).await;
    let get = async |path: &str| send(stack.anonymous("GET", path).bearer_auth(&key)).await;
    let keys = get("/v1/admin/keys?limit=1").await.json();
    assert_eq!((&keys["keys"][0]["name"], &keys["keys"][0]["role"]), (&json!("viewer"), &json!("view")));
    let next = keys["next"].as_str().expect("a next page");
    let keys = get(&format!("/v1/admin/keys?limit=1&before={next}")).await.json();
    assert_eq!((&keys["keys"][0]["name"], keys.get("next")), (&json!("test"), None));

    let (first, second) = (failed(&stack).await, submit(&stack).await);
    let jobs = get("/v1/admin/jobs?limit=1").await.json();
    assert_eq!(jobs["jobs"][0]["id"], json!(second));
    let next = jobs["next"].as_str().expect("a next page");
    let jobs = get(&format!("/v1/admin/jobs?limit=1&from={next}")).await.json();
    assert_eq!((&jobs["jobs"][0]["id"], jobs.get("next")), (&json!(first), None));
    assert_eq!(jobs["jobs"][0]["last_error"], "it broke");
    let found = get("/v1/admin/jobs?account=test&state=failed&error=it%20broke&older-than-s=0").await.json();
    assert_eq!(found["jobs"].as_array().map(Vec::len), Some(1));
    let unknown = get("/v1/admin/jobs?account=nobody&mode=x").await.problem(422);
    assert_eq!(unknown.errors().len(), 1, "{unknown:?}");
    let life = get(&format!("/v1/admin/jobs/{first}")).await.json();
    assert_eq!((&life["job"]["state"], &life["failed_attempts"]), (&json!("failed"), &json!([])));
    assert_eq!(get(&format!("/v1/admin/jobs/{}", Uuid::nil())).await.problem(404).slug, "not-found");
    let counts = get("/v1/admin/jobs/count?change=cancel").await.json();
    assert_eq!(counts["groups"].as_array().map(Vec::len), Some(1), "{counts}");
    assert_eq!(get("/v1/admin/queues").await.json()["queues"][0]["jobs"]["queued"], 1);
    assert_eq!(get("/v1/admin/workers").await.json(), json!({"workers": []}));
    let load = get("/v1/admin/load").await.json();
    assert_eq!((&load["queues"][0]["queued"], &load["queues"][1]["oldest_s"]), (&json!(1), &json!(null)));
    assert_eq!((&load["queues"][0]["mode"], &load["workers"]), (&json!("open"), &json!([])));
    let refused = send(stack.request("GET", "/v1/admin/load")).await;
    assert_eq!(refused.problem(403).slug, "forbidden");

    let audit = get("/v1/admin/audit?limit=1&action=key.create").await.json();
    assert!(audit["rows"][0]["target"].as_str().is_some_and(|on| on.ends_with(" (viewer)")), "{audit}");
    let next = audit["next"].as_str().expect("a next page");
    let audit = get(&format!("/v1/admin/audit?limit=1&action=key.create&before={next}")).await.json();
    assert!(audit["rows"][0]["target"].as_str().is_some_and(|on| on.ends_with(" (test)")), "{audit}");

    let admin = stack.keys(&["create", "--name", "admin", "--role", "admin"]).await;
    let post = async |path: &str, body: Value| send_json(&stack, &admin, "POST", path, &body).await;
    let nothing = post("/v1/admin/jobs/change", json!({"change": "cancel"})).await.problem(422);
    assert_eq!(nothing.errors(), [("all".to_owned(), "missing".to_owned())].into());
    for (ids, code) in [(json!([]), "empty"), (json!("x"), "wrong_type"), (json!(["x"]), "not_a_job")] {
        let refused =
            post("/v1/admin/jobs/change", json!({"change": "purge", "ids": ids, "all": true})).await;
        assert_eq!(refused.problem(422).errors(), [("ids".to_owned(), code.to_owned())].into());
    }
    let all = post("/v1/admin/jobs/change", json!({"change": "cancel", "all": true})).await;
    assert_eq!(all.json(), json!({"n_changed": 1}));
    let redeliver = "/v1/admin/webhooks/redeliver";
    for body in [json!({}), json!({"ids": [Uuid::nil()], "all-dead": true})] {
        let refused = post(redeliver, body).await.problem(422);
        assert_eq!(refused.errors(), [("ids".to_owned(), "missing".to_owned())].into());
    }
    let unknown = post(redeliver, json!({"ids": [Uuid::nil()]})).await.json();
    assert_eq!(unknown, json!({"n_redelivered": 0, "unknown": [Uuid::nil()]}));
    let new = post("/v1/admin/keys", json!({"name": "app", "expires-s": 3600, "rpm": 60})).await;
    assert_eq!(new.status, 201);
    let new = new.json();
    let old = new["key"].as_str().expect("a key");
    assert_eq!(send(stack.anonymous("GET", "/v1/jobs").bearer_auth(old)).await.status, 200);
    let path = format!("/v1/admin/keys/{}/rotate", new["prefix"].as_str().expect("a prefix"));
    let rotated = post(&path, json!({"overlap-s": 60})).await;
    assert_eq!(rotated.status, 201);
    let keys = stack.keys(&["list"]).await;
    assert!(keys.contains("works, expires in 60 s, replaced, rpm 60  app"), "{keys}");
    assert!(keys.contains("works, expires in 60 min, rpm 60  "), "{keys}");
    assert_eq!(post("/v1/admin/keys/nobody00/rotate", json!({})).await.problem(404).slug, "not-found");
    let wrong = post("/v1/admin/keys", json!({"name": "x", "webhook": "https://127.0.0.1/"})).await;
    assert_eq!(wrong.problem(422).errors(), [("webhook".to_owned(), "not_allowed".to_owned())].into());
}

#[tokio::test]
async fn the_admin_api_lists_accounts_with_their_keys_quotas_and_jobs() {
    let stack = Stack::with().workers(0).start().await;
    let viewer = stack.keys(&["create", "--name", "viewer", "--role", "view"]).await;
    let other = stack.keys(&["create", "--name", "other", "--rpm", "60", "--max-queued", "7"]).await;
    stack.keys(&["rotate", &other[3..11], "--overlap", "1h"]).await;
    for _ in 0..3 {
        submit(&stack).await;
    }
    let claimed = store::claim(&stack.db, "w1", &[FreePlaces::any(QUICK, 1)]).await.expect("a claim");
    assert_eq!(claimed.len(), 1);
    let get = async |path: &str| send(stack.anonymous("GET", path).bearer_auth(&viewer)).await;
    let first = get("/v1/admin/accounts?limit=2").await.json();
    let (newest, next) = (&first["accounts"][0], first["next"].as_str().expect("a next page"));
    assert_eq!(
        (&newest["name"], &newest["n_keys"], &newest["rpm"]),
        (&json!("other"), &json!(2), &json!(60))
    );
    assert_eq!((&newest["max_queued"], &newest["retain_s"]), (&json!(7), &Value::Null));
    assert_eq!((&newest["queued"], &newest["running"]), (&json!(0), &json!(0)));
    let second = get(&format!("/v1/admin/accounts?limit=2&before={next}")).await.json();
    let oldest = &second["accounts"][0];
    assert_eq!((&oldest["name"], &oldest["n_keys"], second.get("next")), (&json!("test"), &json!(1), None));
    assert_eq!((&oldest["queued"], &oldest["running"]), (&json!(2), &json!(1)));
    stack.keys(&["revoke", &stack.key[3..11]]).await;
    let all = get("/v1/admin/accounts").await.json();
    assert_eq!((&all["accounts"][2]["name"], &all["accounts"][2]["n_keys"]), (&json!("test"), &json!(0)));
}

#[tokio::test]
async fn the_commands_of_operators_say_the_same_as_the_admin_api() {
    let stack = Stack::with().workers(0).start().await;
    let viewer = stack.keys(&["create", "--name", "viewer", "--role", "view"]).await;
    let job = failed(&stack).await.to_string();
    sqlx::raw_sql("insert into workers (name) values ('w1')").execute(&stack.db).await.expect("a worker");
    let get = async |path: &str| {
        send_json(&stack, &viewer, "GET", &format!("/v1/admin/{path}"), &Value::Null).await
    };
    assert_eq!(get("queues").await.status, 200);
    until("the use of the key is recorded", async || {
        let used = "select last_used_at is not null from api_keys where name = 'viewer'";
        sqlx::query_scalar::<_, bool>(used).fetch_one(&stack.db).await.expect("a key").then_some(())
    })
    .await;
    let found = "jobs?state=failed&account=test&error=it%20broke&queue=quick&operation=digit-recognition&older-than-s=0";
    let find =
        ["jobs", "list", "--state", "failed", "--account", "test", "--error", "it broke", "--queue", "quick"];
    let find = [&find[..], &["--operation", "digit-recognition", "--older-than", "0s"]].concat();
    for (path, list, command) in [
        ("queues", "queues", &["queues", "list"][..]),
        ("workers", "workers", &["workers", "list"]),
        ("models", "models", &["workers", "models"]),
        ("jobs", "jobs", &["jobs", "list"]),
        (found, "jobs", &find),
        ("jobs?older-than-s=3600", "jobs", &["jobs", "list", "--older-than", "1h"]),
        ("jobs?group=none", "jobs", &["jobs", "list", "--group", "none"]),
        ("jobs/count?ended-before-s=0", "groups", &["jobs", "count", "--ended-before", "0s"]),
        (&*format!("jobs/{job}"), "", &["jobs", "show", &job]),
        ("audit?action=key.create", "rows", &["audit", "--action", "key.create"]),
    ] {
        let mut said = stack.akhar_json(command).await;
        let mut document = get(path).await.json();
        let mut expected = if list.is_empty() { document } else { document[list].take() };
        for row in [&mut said, &mut expected].into_iter().filter_map(Value::as_array_mut).flatten() {
            row.as_object_mut().expect("an object").remove("oldest_s"); // an age at another time
        }
        assert_eq!(said, expected, "{command:?}");
    }
    let mut keys = get("keys").await.json()["keys"].take();
    keys.as_array_mut().expect("keys").reverse();
    assert_eq!(stack.akhar_json(&["keys", "list"]).await, keys);
    let webhooks = get("webhooks?state=dead").await.json()["webhooks"][0].take();
    assert_eq!(stack.akhar_json(&["webhooks", "list", "--dead"]).await, webhooks);
    let nobody = get("jobs?account=nobody").await;
    assert_eq!(nobody.status, 422, "{nobody:?}");
    let (code, _, log) = stack.run(&["jobs", "list", "--account", "nobody"]).await;
    assert!(code == Some(1) && log.contains("no account has the name or id"), "{log}");
}

#[tokio::test]
async fn the_audit_trail_is_filtered_and_paged() {
    let stack = Stack::with().workers(0).start().await;
    let mut operator = Operator::signed_in(&stack).await;
    for nth in 0..60 {
        let mode = if nth % 2 == 0 { "paused" } else { "open" };
        operator.post("/ops/queues", &[("queue", "speech"), ("mode", mode)]).await;
    }
    let viewer = Operator::with_role(&stack, "view").await;
    let n_rows = |page: &str| page.matches("<tr role=\"row\">").count() - 1;
    let first = viewer.get("/ops/audit?actor=operator").await.text();
    assert_eq!(n_rows(&first), 50);
    let (_, next) = first.split_once("<a rel=\"next\" href=\"").expect("a next page");
    let next = next.split('"').next().expect("a path").replace("&amp;", "&");
    let second = viewer.get(&next).await.text();
    assert_eq!((n_rows(&second), second.contains("rel=\"next\"")), (10, false), "{second}");
    assert_eq!(n_rows(&viewer.get("/ops/audit?action=queue.resume").await.text()), 30);
    let keys = viewer.get("/ops/audit?action=key.create").await.text();
    assert!(keys.contains("command line") && keys.contains("(operator)"), "{keys}");
    assert!(viewer.get("/ops/audit?actor=nobody").await.text().contains("No such change is recorded."));

    let prefix: String = sqlx::query_scalar("select prefix from api_keys where name = 'operator' limit 1")
        .fetch_one(&stack.db)
        .await
        .expect("a key");
    let paused = stack.akhar_json(&["audit", "--actor", &prefix, "--action", "queue.pause"]).await;
    assert_eq!(paused.as_array().map(Vec::len), Some(30));
    let table = stack.akhar(&["audit", "--limit", "1", "--action", "queue.pause"]).await;
    let words: Vec<_> = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(words[0].join(" "), "TIME WHO ACTION CHANGED FROM ON WHAT", "{table}");
    let expected = format!("operator ({prefix}) queue.pause 1 127.0.0.1 speech");
    assert_eq!(words[1][2..].join(" "), expected, "{table}");
}

#[tokio::test]
async fn admin_keys_from_before_roles_existed_have_the_role_admin() {
    let stack = Stack::with().workers(0).start().await;
    let old = stack.keys(&["create", "--name", "old"]).await;
    let undo = "drop table audit; alter table api_keys drop column role, add column is_admin boolean not null default false;
        update api_keys set is_admin = name = 'old'";
    for statements in [undo, include_str!("../../../migrations/sql/0028_audit.sql")] {
        sqlx::raw_sql(statements).execute(&stack.db).await.expect("the schema changes");
    }
    let keys = stack.akhar_json(&["keys", "list"]).await;
    let roles = [&keys[0], &keys[1]].map(|key| (&key["name"], &key["role"]));
    assert_eq!(roles, [(&json!("test"), &Value::Null), (&json!("old"), &json!("admin"))]);
    let mut operator = Operator::anonymous(&stack);
    assert_eq!(operator.sign_in(&old).await.status, 303);
    operator.post("/ops/keys", &[("prefix", &stack.key[3..11])]).await;
    assert_eq!(trail(&stack).await[0]["action"], "key.revoke");
}

#[tokio::test]
async fn the_audit_trail_is_kept_for_90_days() {
    let stack = Stack::with().workers(0).start().await;
    let age = "with old as (select id, row_number() over (order by id) as nth from audit)
        update audit t set at = now() - make_interval(days => case nth when 1 then 91 else 89 end)
        from old where old.id = t.id";
    stack.akhar(&["queues", "pause", "quick"]).await;
    sqlx::raw_sql(age).execute(&stack.db).await.expect("an update");
    let now = sqlx::query_scalar("select now()").fetch_one(&stack.db).await.expect("a time");
    let clock = akhar_jobs::store::clock(&stack.db, now).await.expect("a clock");
    let day = std::time::Duration::from_secs(24 * 60 * 60);
    akhar_jobs::store::expire(&stack.db, &clock, day, day).await.expect("a deletion");
    let left = trail(&stack).await;
    assert_eq!(left.iter().map(|row| &row["action"]).collect::<Vec<_>>(), [&json!("queue.pause")]);
}
