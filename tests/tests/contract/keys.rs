//! API keys: which keys are accepted, and until when.

use akhar_accounts::NewKey;
use akhar_client::{Answer, JobResultBody, JobState};
use akhar_tests::{
    Form, Stack, TIMEOUT,
    events::Events,
    http::send,
    images::fixture_of,
    monitor::{metrics, value},
    ops::Operator,
    speech::recording,
    until,
};
use serde_json::Value;
use sqlx::{Connection as _, PgConnection};
use tokio::{task::JoinSet, time::timeout};

use crate::{operations, violations};

#[tokio::test]
async fn commands_take_the_whole_key_and_hints_name_the_program_as_it_was_called() {
    let stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "app"]).await;
    let secret = stack.keys(&["webhook", &key]).await;
    assert!(secret.starts_with("whsec_"), "{secret}");
    assert_eq!(stack.keys(&["webhook", prefix(&key)]).await, secret);
    stack.keys(&["limit", &key, "--rpm", "7"]).await;
    assert!(stack.keys(&["list"]).await.contains("works, rpm 7  app"));
    let new = stack.keys(&["rotate", &key]).await;
    stack.keys(&["revoke", &new]).await;
    let (code, _, log) = stack.run(&["keys", "revoke", &new]).await;
    let shown = !log.contains(new.trim().rsplit('_').next().expect("a secret"));
    assert!(code == Some(1) && shown && log.contains("`akhar keys list` shows all keys"), "{log}");
    let mut command = stack.command(&["keys", "revoke", &new]);
    command.arg0("target/release/akhar");
    let ended = command.output().await.expect("it runs");
    let log = String::from_utf8_lossy(&ended.stderr);
    assert!(log.contains("`target/release/akhar keys list` shows all keys"), "{log}");
}

#[tokio::test]
async fn every_invalid_key_is_refused_with_the_same_answer() {
    let stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let revoked = stack.keys(&["create", "--name", "revoked"]).await;
    stack.keys(&["revoke", prefix(&revoked)]).await;
    let wrong_secret =
        format!("{}{}", &stack.key[..stack.key.len() - 1], if stack.key.ends_with('a') { "b" } else { "a" });
    let headers: Vec<Option<String>> = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Basic dXNlcjpwYXNz",
        "Token abc",
        "Bearer ak_",
        "Bearer ak_12345678_",
        "Bearer ak_abcdefgh_0123456789012345678901234567890123456789012",
        "Bearer é",
    ]
    .map(|header| Some(header.to_owned()))
    .into_iter()
    .chain([None, Some(format!("Bearer {wrong_secret}")), Some(format!("Bearer {revoked}"))])
    .chain([
        Some(stack.key.clone()),
        Some(format!("Bearer {} x", stack.key)),
        Some(format!("Bearer {0}{0}", stack.key)),
    ])
    .collect();
    let mut first: Option<Value> = None;
    for header in headers {
        let mut request = stack.anonymous("POST", &format!("/v1/models/{}", image.operation));
        let form = Form::upload(&image.bytes);
        request = form.send_with(request);
        if let Some(header) = &header {
            request = request.header("authorization", header);
        }
        let answer = send(request.try_clone().expect("bytes")).await;
        assert_eq!(answer.header("www-authenticate"), "Bearer", "{header:?}");
        let mut body = stack.refused(request, 401).await.json;
        body["request_id"].take();
        assert_eq!(*first.get_or_insert_with(|| body.clone()), body, "{header:?}");
    }
    // Routes about jobs need a key too.
    for (method, path) in [
        ("GET", "/v1/jobs/0199a1b2-0000-7000-8000-000000000000"),
        ("DELETE", "/v1/jobs/0199a1b2-0000-7000-8000-000000000000"),
    ] {
        stack.refused(stack.anonymous(method, path), 401).await;
    }
}

#[tokio::test]
async fn a_key_works_until_it_is_revoked_or_rotated() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let status =
        async |key: &str| send(stack.post_as(key, image.operation, &Form::upload(&image.bytes))).await.status;
    let first = stack.keys(&["create", "--name", "short-lived"]).await;
    assert_eq!((status(&first).await, status(&first).await), (200, 200)); // the second answer uses the key cache

    let second = stack.keys(&["rotate", prefix(&first)]).await;
    assert_ne!(first, second);
    assert_eq!(status(&second).await, 200);
    until("the rotated key is refused", async || (status(&first).await == 401).then_some(())).await;

    stack.keys(&["revoke", prefix(&second)]).await;
    until("the revoked key is refused", async || (status(&second).await == 401).then_some(())).await;
    assert_eq!(status(&stack.key).await, 200);

    let list = stack.keys(&["list"]).await;
    for key in [&first, &second, &stack.key] {
        assert!(list.contains(prefix(key)), "{list}");
        assert!(!list.contains(key.rsplit('_').next().unwrap_or(key)), "a secret in {list}");
    }
    assert!(list.contains("short-lived"), "{list}");
}

#[tokio::test]
async fn the_list_of_keys_says_when_each_was_last_used() {
    let stack = Stack::with().workers(0).start().await;
    let used = stack.keys(&["create", "--name", "used", "--rpm", "60"]).await;
    let forged =
        format!("{}{}", &stack.key[..stack.key.len() - 1], if stack.key.ends_with('a') { "b" } else { "a" });
    assert_eq!(send(stack.anonymous("GET", "/v1/jobs").bearer_auth(&forged)).await.status, 401);
    assert_eq!(send(stack.anonymous("GET", "/v1/jobs").bearer_auth(&used)).await.status, 200);
    let keys = until("the use is recorded", async || {
        let keys = stack.akhar_json(&["keys", "list"]).await;
        (!keys[1]["last_used_at"].is_null()).then_some(keys)
    })
    .await;
    let names = [&keys[0], &keys[1]].map(|key| (&key["name"], &key["prefix"], &key["rpm"]));
    let of = |key: &str, name: &str, rpm: Value| (Value::from(name), Value::from(prefix(key)), rpm);
    let expected = [of(&stack.key, "test", Value::Null), of(&used, "used", 60.into())];
    assert_eq!(names, [&expected[0], &expected[1]].map(|(name, prefix, rpm)| (name, prefix, rpm)));
    assert!(keys[0]["last_used_at"].is_null() && keys[1]["revoked_at"].is_null(), "{keys}");
    let created_at = keys[1]["created_at"].as_str().expect("a time");
    assert!(created_at.ends_with('Z') && keys[1]["last_used_at"].as_str() > Some(created_at), "{keys}");
    let list = stack.keys(&["list"]).await;
    let words: Vec<_> =
        list.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(words[0], "PREFIX CREATED LAST USE STATE NAME");
    assert!(words[1].ends_with(" s ago never works test"), "{list}");
    assert!(words[2].ends_with(" s ago works, rpm 60 used"), "{list}");
}

#[tokio::test]
async fn the_open_streams_and_long_polls_of_a_revoked_key_end() {
    let stack = Stack::with().workers(0).with_metrics().start().await;
    let key = stack.keys(&["create", "--name", "leaked"]).await;
    let with_key = |method: &str, path: &str| stack.anonymous(method, path).bearer_auth(&key);
    let image = fixture_of("੫");
    let submit = async || {
        let request = stack.post_as(&key, image.operation, &Form::upload(&image.bytes));
        send(request.header("prefer", "respond-async")).await.job()
    };
    let (followed, polled) = (submit().await, submit().await);
    let mut events = Events::open(with_key("GET", &format!("/v1/jobs/{followed}/events")), None).await;
    assert_eq!(events.next().await.map(|event| event.name).as_deref(), Some("state"));
    let poll = tokio::spawn(send(with_key("GET", &format!("/v1/jobs/{polled}?wait=60"))));
    let form =
        Form::upload_and(&recording("pa-water.mp3").bytes, "model", "speech-pa").text("stream", "true");
    let text = tokio::spawn(send(form.send_with(with_key("POST", "/v1/audio/transcriptions"))));
    until("all three wait", async || {
        (value(&metrics(&stack.api).await, "akhar_waiters", &[]) == Some(3.0)).then_some(())
    })
    .await;
    stack.keys(&["revoke", prefix(&key)]).await;
    assert!(events.next().await.is_none());
    let polled = timeout(TIMEOUT, poll).await.expect("it ends before its wait").expect("an answer");
    assert_eq!(polled.problem(401).slug, "unauthorized");
    let text = timeout(TIMEOUT, text).await.expect("it ends").expect("an answer").text();
    assert!(text.starts_with("data: {\"error\":"), "{text}");
}

#[tokio::test]
async fn the_new_key_after_a_rotation_can_read_the_jobs_of_the_old_key() {
    let mut stack = Stack::with().workers(0).start().await;
    let image = fixture_of("੫");
    let old = stack.keys(&["create", "--name", "rotated"]).await;
    let client = stack.client(&old).asynchronous();
    let submit = async || match client.digit_recognition(image.bytes.clone(), None).await {
        Ok(Answer::Accepted(job)) => job.id,
        other => panic!("not accepted: {other:?}"),
    };
    let (kept, cancelled) = (submit().await, submit().await);
    let new = stack.keys(&["rotate", prefix(&old)]).await;
    let client = stack.client(&new);
    assert_eq!(
        client.delete_job(cancelled).await.expect("it is queued").expect("a job").state,
        JobState::Cancelled
    );
    stack.add_worker().await;
    assert_eq!(client.job(kept, 30).await.expect("the account's job").state, JobState::Succeeded);
    let result = client.job_result(kept).await;
    assert!(
        matches!(&result, Ok(JobResultBody::Predictions(p)) if p.predictions[0].label == "੫"),
        "{result:?}"
    );
    stack.refused(stack.request("GET", &format!("/v1/jobs/{kept}")), 404).await;
}

#[tokio::test]
async fn an_expired_key_is_refused_with_the_reason_and_ends_what_it_opened() {
    let stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "trial", "--expires", "90d", "--role", "view"]).await;
    let get = |key: &str| send(stack.anonymous("GET", "/v1/jobs").bearer_auth(key));
    assert_eq!(get(&key).await.status, 200);
    let mut operator = Operator::anonymous(&stack);
    assert_eq!(operator.sign_in(&key).await.status, 303);
    let list = stack.keys(&["list"]).await;
    assert!(list.contains("works, expires in 90 d, view"), "{list}");
    let image = fixture_of("੫");
    let request = stack.post_as(&key, image.operation, &Form::upload(&image.bytes));
    let job = send(request.header("prefer", "respond-async")).await.job();
    let request = stack.anonymous("GET", &format!("/v1/jobs/{job}/events")).bearer_auth(&key);
    let mut events = Events::open(request, None).await;
    assert_eq!(events.next().await.map(|event| event.name).as_deref(), Some("state"));

    let expire = "update api_keys set expires_at = now() - interval '2 hours' where name = 'trial'";
    sqlx::raw_sql(expire).execute(&stack.db).await.expect("an update");
    assert!(events.next().await.is_none());
    let refused = get(&key).await.problem(401);
    assert_eq!(refused.json["detail"], "The API key has expired. Ask the operator for a new one.");
    assert_eq!(refused.slug, "unauthorized");
    let forged = format!("{}{}", &key[..key.len() - 1], if key.ends_with('a') { "b" } else { "a" });
    let detail = get(&forged).await.problem(401).json["detail"].clone();
    assert_ne!(detail, refused.json["detail"], "only who has the key is told that it exists");
    assert_eq!(operator.get("/ops").await.status, 303);
    assert_eq!(operator.sign_in(&key).await.status, 403);
    let list = stack.keys(&["list"]).await;
    assert!(list.contains("expired 2 h ago, view"), "{list}");
    for wrong in ["0s", "soon", "3651d"] {
        let (code, _, log) = stack.run(&["keys", "create", "--name", "x", "--expires", wrong]).await;
        assert!(code == Some(2) && log.contains("expected a time"), "{log}");
    }
}

#[tokio::test]
async fn the_caller_of_an_expired_key_is_named_and_the_key_can_work_again() {
    let stack = Stack::with().workers(0).start().await;
    let key = stack.keys(&["create", "--name", "the bank", "--expires", "30d"]).await;
    let status = async || send(stack.anonymous("GET", "/v1/jobs").bearer_auth(&key)).await.status;
    let of_doctor = async || -> Value {
        let report = stack.akhar_json(&["doctor"]).await;
        let checks = report["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == "keys").expect("keys").clone()
    };
    let expired = async |days: i32| {
        let expire =
            "update api_keys set expires_at = now() - make_interval(days => $1) where name = 'the bank'";
        sqlx::query(expire).bind(days).execute(&stack.db).await.expect("an update");
        until("it has expired", async || (status().await == 401).then_some(())).await;
    };
    expired(8).await;
    assert_eq!(of_doctor().await["status"], "ok", "that was more than a week ago");
    expired(6).await;
    let found = of_doctor().await;
    assert!(
        found["found"].as_str().is_some_and(|found| found.contains("(the bank) expired 6 d ago")),
        "{found}"
    );
    let command = format!("akhar keys expire {} --in 30d", prefix(&key));
    assert!(found["fix"].as_str().is_some_and(|fix| fix.contains(&command)), "{found}");

    stack.akhar(&command.split(' ').skip(1).collect::<Vec<_>>()).await;
    until("it works again", async || (status().await == 200).then_some(())).await;
    assert!(stack.keys(&["list"]).await.contains("works, expires in 30 d"));
    stack.keys(&["expire", prefix(&key), "--never"]).await;
    assert_eq!(of_doctor().await["status"], "ok");
    for wrong in [&["expire", prefix(&key)][..], &["expire", prefix(&key), "--in", "0d"]] {
        assert_eq!(stack.run(&[&["keys"], wrong].concat()).await.0, Some(2), "{wrong:?}");
    }
    stack.keys(&["revoke", prefix(&key)]).await;
    let (code, _, log) = stack.run(&["keys", "expire", prefix(&key), "--never"]).await;
    assert!(code == Some(1) && log.contains("no working key"), "{log}");
}

#[tokio::test]
async fn both_keys_work_in_the_overlap_of_a_rotation() {
    let stack = Stack::with().workers(0).start().await;
    let old = stack.keys(&["create", "--name", "app", "--expires", "10d", "--role", "operate"]).await;
    let status = async |key: &str| send(stack.anonymous("GET", "/v1/jobs").bearer_auth(key)).await.status;
    let of_doctor = async || -> Value {
        let report = stack.akhar_json(&["doctor"]).await;
        let checks = report["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == "keys").expect("keys").clone()
    };
    let found = of_doctor().await;
    assert_eq!(found["status"], "warning", "{found}");
    let fix = format!("run `akhar keys rotate {} --overlap 24h`", prefix(&old));
    assert_eq!(found["fix"], fix.as_str());
    assert!(found["found"].as_str().is_some_and(|found| found.contains("(app) expires in 10 d")), "{found}");

    let new = stack.keys(&["rotate", prefix(&old), "--overlap", "24h"]).await;
    assert_eq!((status(&old).await, status(&new).await), (200, 200));
    let list = stack.keys(&["list"]).await;
    assert!(list.contains("works, expires in 24 h, replaced, operate  app"), "{list}");
    assert!(list.contains("works, expires in 10 d, operate  "), "{list}");
    let found = of_doctor().await;
    assert!(found["found"].as_str().is_some_and(|found| found.starts_with("3 are valid; ")), "{found}");
    assert!(!found.to_string().contains(prefix(&old)), "it is replaced: {found}");
    let (code, _, log) = stack.run(&["keys", "rotate", prefix(&old)]).await;
    assert!(code == Some(1) && log.contains("was rotated before"), "{log}");

    let over = "update api_keys set expires_at = now() where replaced_by is not null";
    sqlx::raw_sql(over).execute(&stack.db).await.expect("an update");
    until("the old key has expired", async || (status(&old).await == 401).then_some(())).await;
    assert_eq!(status(&new).await, 200);
}

#[tokio::test]
async fn a_key_from_before_accounts_existed_gets_an_account_with_the_key_s_id() {
    let stack = Stack::with().workers(0).start().await;
    let undo = "alter table api_keys drop column account_id; drop table accounts; drop table audio_usage;
        drop table webhook_deliveries; alter table jobs drop column webhook_url, drop column retain_s;";
    let accounts = include_str!("../../../migrations/sql/0005_accounts.sql");
    let quotas = include_str!("../../../migrations/sql/0010_quotas.sql");
    let webhooks = include_str!("../../../migrations/sql/0011_webhooks.sql");
    let announcement = include_str!("../../../migrations/sql/0017_webhook_announcement.sql");
    let retention = include_str!("../../../migrations/sql/0026_retention.sql");
    let stored = include_str!("../../../migrations/sql/0040_stored_bytes.sql");
    for statements in [undo, accounts, quotas, webhooks, announcement, retention, stored] {
        sqlx::raw_sql(statements).execute(&stack.db).await.expect("the schema changes");
    }
    let accounts: Vec<(bool, String)> =
        sqlx::query_as("select a.id = k.id, a.name from api_keys k join accounts a on a.id = k.account_id")
            .fetch_all(&stack.db)
            .await
            .expect("rows");
    assert_eq!(accounts, [(true, "test".to_owned())]);
    stack.refused(stack.request("GET", "/v1/jobs/0199a1b2-0000-7000-8000-000000000000"), 404).await;
}

#[tokio::test]
async fn the_authorization_scheme_is_case_insensitive() {
    let stack = Stack::with().workers(0).start().await;
    for scheme in ["bearer", "BEARER", "Bearer"] {
        let request = stack.anonymous("GET", "/v1/jobs/0199a1b2-0000-7000-8000-000000000000");
        stack.refused(request.header("authorization", format!("{scheme} {}", stack.key)), 404).await;
    }
}

/// The prefix that identifies a key: the 8 characters after `ak_`.
fn prefix(key: &str) -> &str {
    let prefix =
        key.strip_prefix("ak_").and_then(|rest| rest.get(..8)).unwrap_or_else(|| panic!("no key: {key}"));
    assert_eq!(key.as_bytes()[11], b'_');
    prefix
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_keys_take_one_connection_however_many_there_are() {
    let stack = Stack::with().workers(0).set("AKHAR_DATABASE_CONNECTIONS", 4).start().await;
    assert_eq!(stack.get("/v1/jobs").await.status, 200);
    let unknown = || {
        let key = NewKey::random();
        send(stack.anonymous("GET", "/v1/jobs").bearer_auth(key.expose()))
    };
    // While this is locked, no key can be found.
    let mut other = PgConnection::connect_with(&stack.db.servers().options()[0]).await.expect("a connection");
    let lock = "begin; lock table tokens in access exclusive mode";
    sqlx::raw_sql(lock).execute(&mut other).await.expect("a lock");
    let requests: JoinSet<_> = (0..50).map(|_| unknown()).collect();
    let served = until("the keys are looked up", async || {
        let waiting = "select count(*) from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'";
        let n: i64 = sqlx::query_scalar(waiting).fetch_one(&mut other).await.expect("a count");
        if n > 0 { Some(stack.get("/v1/jobs").await) } else { None }
    });
    assert_eq!(served.await.status, 200, "a known key is served");
    sqlx::raw_sql("rollback").execute(&mut other).await.expect("the lock is free");
    assert!(requests.join_all().await.iter().all(|answer| answer.status == 401));
}

#[tokio::test]
async fn a_name_has_no_characters_that_are_not_seen() {
    let stack = Stack::with().workers(0).start().await;
    let admin = stack.keys(&["create", "--name", "operator", "--role", "admin"]).await;
    for (hidden, code) in [("shop\u{202e}pohs", "U+202E"), ("shop\u{1b}[2J", "U+001B")] {
        let (status, _, log) = stack.run(&["keys", "create", "--name", hidden]).await;
        assert_eq!(status, Some(1), "{log}");
        assert!(log.contains(code), "{log}");
        let request = stack.anonymous("POST", "/v1/admin/keys").bearer_auth(&admin);
        let refused = stack.refused(request.json(&serde_json::json!({"name": hidden})), 422).await;
        assert_eq!(refused.errors(), violations([("name", "character_not_allowed")]));
    }
}
