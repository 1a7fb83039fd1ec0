//! Roles of operators, and the trail of what they changed.

use std::collections::BTreeSet;

use akhar_accounts::Action;
use akhar_tests::{Form, Stack, http::send, images::fixture_of, ops::Operator};
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

/// One change, with what it is made by: a command, and a form of a page if there is one.
struct Made {
    command: Vec<String>,
    form: Option<(&'static str, Vec<(&'static str, String)>)>,
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
    let with_key = |words: &[&str], form| {
        let command = texts(&[&["keys", words[0], &key], &words[1..]].concat());
        Made { command, form, target: of_key.clone() }
    };
    let queue = |verb: &str, mode: &str| {
        let form = ("/ops/queues", vec![("queue", "quick".to_owned()), ("mode", mode.to_owned())]);
        Made { command: texts(&["queues", verb, "quick"]), form: Some(form), target: "quick".to_owned() }
    };
    let worker = |verb: &str, drain: &str| {
        let form = ("/ops/workers", vec![("name", "w1".to_owned()), ("drain", drain.to_owned())]);
        Made { command: texts(&["workers", verb, "w1"]), form: Some(form), target: "w1".to_owned() }
    };
    let job = |verb: &str, action: &str, job: Uuid| {
        let form = ("/ops/jobs", vec![("action", action.to_owned()), ("id", job.to_string())]);
        let command = texts(&["jobs", verb, &job.to_string()]);
        Made { command, form: Some(form), target: format!("id={job}") }
    };
    execute("delete from queue_controls; delete from workers").await;
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
            Made { command, form: None, target: format!("id={job}") }
        }
        Action::KeyCreate => {
            let command = texts(&["keys", "create", "--name", "new"]);
            Made { command, form: None, target: "(new)".to_owned() }
        }
        Action::KeyLimit => with_key(&["limit", "--rpm", "60"], None),
        Action::KeyWebhook => with_key(&["webhook"], None),
        Action::KeyRotate => with_key(&["rotate"], None),
        Action::KeyRevoke => with_key(&["revoke"], Some(("/ops/keys", vec![("prefix", key.clone())]))),
    }
}

/// The trail, the newest first.
async fn trail(stack: &Stack) -> Vec<Value> {
    let rows = stack.akhar_json(&["audit", "--limit", "1000"]).await;
    rows.as_array().expect("rows").clone()
}

#[tokio::test]
async fn every_change_of_an_operator_leaves_one_row_in_the_audit_trail() {
    let stack = Stack::with().workers(0).start().await;
    let mut operator = Operator::signed_in(&stack).await;
    let mut secrets = vec![stack.key.rsplit('_').next().expect("a secret").to_owned()];
    for action in Action::ALL {
        let made = prepare(&stack, *action).await;
        let n_before = trail(&stack).await.len();
        let command: Vec<&str> = made.command.iter().map(String::as_str).collect();
        let out = stack.akhar(&command).await;
        secrets.extend(out.rsplit('_').next().filter(|_| out.contains('_')).map(str::to_owned));
        let rows = trail(&stack).await;
        assert_eq!(rows.len(), n_before + 1, "{action:?}: {rows:?}");
        let row = &rows[0];
        assert_eq!((&row["action"], &row["n_changed"]), (&json!(action.name()), &json!(1)), "{row}");
        assert!(row["target"].as_str().is_some_and(|on| on.ends_with(&made.target)), "{row}");
        assert!(row["actor"].as_str().is_some_and(|actor| actor.contains('@')), "{row}");
        assert!(row["address"].is_null() && row["key_prefix"].is_null(), "{row}");
        if !matches!(action, Action::KeyCreate | Action::WebhooksRedeliver) {
            stack.run(&command).await;
            assert_eq!(trail(&stack).await.len(), n_before + 1, "{action:?} again changes nothing");
        }

        let Some((path, _)) = prepare(&stack, *action).await.form else { continue };
        let made = prepare(&stack, *action).await;
        let n_before = trail(&stack).await.len();
        let (_, fields) = made.form.expect("a form");
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(operator.post(path, &fields).await.status, 303, "{action:?}");
        let rows = trail(&stack).await;
        assert_eq!(rows.len(), n_before + 1, "{action:?}: {rows:?}");
        let row = &rows[0];
        assert_eq!((&row["action"], &row["n_changed"]), (&json!(action.name()), &json!(1)), "{row}");
        assert_eq!((&row["actor"], &row["address"]), (&json!("operator"), &json!("127.0.0.1")), "{row}");
        assert!(row["target"].as_str().is_some_and(|on| on.ends_with(&made.target)), "{row}");
        operator.post(path, &fields).await;
        assert_eq!(trail(&stack).await.len(), n_before + 1, "{action:?} again changes nothing");
    }
    let whole = json!(trail(&stack).await).to_string();
    assert!(secrets.len() > 3);
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
    for page in ["/ops", "/ops/jobs", "/ops/errors", "/ops/keys", "/ops/audit", &job] {
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
    let without_keys = all.iter().filter(|path| *path != "/ops/keys").cloned().collect();
    assert_eq!(sendable(&driver, job).await, without_keys);
    let page = viewer.get("/ops/jobs").await.text();
    assert!(!page.contains("type=\"checkbox\"") && page.contains(&job.to_string()), "{page}");

    let n_rows = trail(&stack).await.len();
    for path in &forms {
        let refused = viewer.post(path, &[]).await;
        assert_eq!(refused.status, 403, "{path}");
        assert!(refused.text().contains("Your key may not do this."), "{path}: {}", refused.text());
        let refused = driver.post(path, &[("prefix", &stack.key[3..11])]).await;
        assert_eq!(refused.status == 403, *path == "/ops/keys", "{path}: {refused:?}");
    }
    for action in Action::ALL {
        let made = prepare(&stack, *action).await;
        let n_before = trail(&stack).await.len();
        let Some((path, fields)) = made.form else { continue };
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(viewer.post(path, &fields).await.status, 403, "{action:?}");
        assert_eq!(trail(&stack).await.len(), n_before, "{action:?}");
        let expected = if action.role() == akhar_accounts::Role::Admin { 403 } else { 303 };
        assert_eq!(driver.post(path, &fields).await.status, expected, "{action:?}");
    }
    assert!(trail(&stack).await.len() > n_rows);
    assert_eq!(viewer.post("/ops/logout", &[]).await.header("location"), "/ops/login");
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
