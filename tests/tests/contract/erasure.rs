//! Erased accounts: nothing of them is left but the fact, nothing is written for them afterwards, and other accounts are untouched.

use std::collections::BTreeSet;

use akhar_accounts::idempotency::{self, Claim};
use akhar_jobs::{
    GroupName, JobId, NewJob,
    store::{self, Ending, Guard, Reservation, ReservedUpload, Submitted},
    uploads::UploadStore,
};
use akhar_operators::{EraseError, accounts, erasure};
use akhar_platform::database::Pool;
use akhar_tests::{
    Cluster, Form, Stack,
    http::send,
    images::fixture_of,
    ops::{Operator, actor},
    queue::{end, new_job, submit},
    speech::recording,
    until,
    uploads::Store,
};
use serde_json::json;
use sqlx::Connection as _;
use uuid::Uuid;

use crate::deletion::{has, stored};

const SITE: &str = "https://app.example";

/// Gives the service a key of an account with this name that has something in every table. The texts of the account begin with `mark`.
async fn fill(stack: &Stack, store: &Store, name: &str, mark: &str) -> (String, Uuid) {
    let key = stack.keys(&["create", "--name", name, "--role", "admin", "--audio-minutes", "60"]).await;
    let prefix = &key[3..11];
    stack.keys(&["webhook", prefix, "--webhook", &format!("https://{mark}.example/")]).await;
    let account = accounts::find(&stack.db, prefix).await.expect("an account");
    let digit = || {
        let image = [&fixture_of("੫").bytes[..], mark.as_bytes()].concat();
        stack.post_as(&key, "digit-recognition", &Form::upload(&image)).header("prefer", "respond-async")
    };
    let handwriting = stack.anonymous("POST", "/v1/models/handwriting-generator").bearer_auth(&key);
    let handwriting = handwriting.json(&json!({"text": "ਪੰਜ", "with-image": true}));
    let done = send(handwriting.header("x-request-id", format!("{mark}-request"))).await;
    assert_eq!(done.status, 200, "{}", done.text());
    let in_group =
        digit().header("akhar-group", format!("{mark}-group")).header("akhar-label", format!("{mark}=label"));
    let in_group = send(in_group.header("idempotency-key", format!("{mark}-key"))).await.job();
    let ended = async |job: Uuid| {
        let path = format!("/v1/jobs/{job}?wait=60");
        let ended = send(stack.anonymous("GET", &path).bearer_auth(&key)).await.json();
        assert_eq!(ended["state"], "succeeded", "{ended}");
    };
    ended(in_group).await;
    let deleted = send(digit()).await.job();
    ended(deleted).await;
    let delete = stack.anonymous("DELETE", &format!("/v1/jobs/{deleted}")).bearer_auth(&key);
    assert_eq!(send(delete).await.status, 204);
    stack.akhar(&["queues", "pause", "speech"]).await;
    stack.akhar(&["queues", "pause", "quick"]).await;
    let speech = Form::upload(&recording("pa-water.mp3").bytes);
    let speech = stack.post_as(&key, "speech-recognition", &speech).header("prefer", "respond-async");
    let speech = send(speech).await.job();
    let [running, waiting] = [send(digit()).await.job(), send(digit()).await.job()];
    let reserved = Uuid::now_v7();
    let Store::Folder(folder) = store else { unreachable!("the test has a folder") };
    std::fs::write(folder.join(format!("{reserved}.{account}")), mark).expect("an object");
    for (sql, id) in [
        ("update jobs set state = 'running', attempt = 1, worker = 'nobody' where id = $1", running),
        ("insert into segments (job_id, attempt, n, start_s, end_s, text) select $1, 1, 1, 0, 1, $2", in_group),
        ("insert into stream_inputs (job_id, n, bytes) select $1, 1, convert_to($2, 'UTF8')", in_group),
        ("insert into stream_outputs (job_id, n, event) select $1, 1, to_jsonb($2)", in_group),
        ("insert into streams (job_id) select $1", in_group),
        ("insert into failed_attempts (job_id, attempt, error) select $1, 1, $2", waiting),
        ("insert into reserved_uploads (id, account_id, n_bytes) select $1, account_id, 9 from api_keys where prefix = $3", reserved),
        ("insert into audio_reservations (job_id, account_id, seconds) select $1, account_id, 9 from api_keys where prefix = $3
             on conflict do nothing", speech),
    ] {
        let sql = format!("with given as (select $1::uuid, $2::text, $3::text) {sql}");
        let sql = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id).bind(format!("{mark}-text")).bind(prefix);
        sql.execute(&stack.db).await.expect("a row");
    }
    let token = json!({"operation": "digit-recognition", "origin": SITE});
    assert_eq!(send(stack.anonymous("POST", "/v1/tokens").bearer_auth(&key).json(&token)).await.status, 201);
    let mut operator = Operator::anonymous(stack);
    operator.sign_in(&key).await;
    // No job of this queue waits, so none ends while rows are counted.
    operator.post("/ops/queues", &[("queue", "live"), ("mode", "paused")]).await;
    for search in [
        &["--account", prefix][..],
        &["--group", &format!("{mark}-group")],
        &["--request-id", &format!("{mark}-request")],
        &[&in_group.to_string()],
    ] {
        let retry = "update jobs set state = 'failed', outcome = '{\"kind\":\"failed\"}', media_type = null where id = $1";
        sqlx::query(retry).bind(in_group).execute(&stack.db).await.expect("a failed job");
        let with_request = "update jobs set request_id = $2 where id = $1";
        sqlx::query(with_request)
            .bind(in_group)
            .bind(format!("{mark}-request"))
            .execute(&stack.db)
            .await
            .expect("a row");
        let yes: &[&str] = if search.len() == 2 { &["--yes"] } else { &[] };
        assert_eq!(stack.akhar(&[&["jobs", "retry"], search, yes].concat()).await, "1 jobs wait again");
        sqlx::query("update jobs set ended_at = now(), state = 'succeeded' where id = $1")
            .bind(in_group)
            .execute(&stack.db)
            .await
            .expect("an ended job");
    }
    until("the group has ended, and its webhook is written", async || {
        let ended = "select true from job_groups where account_id = $1 and ended_at is not null";
        sqlx::query_scalar::<_, bool>(ended).bind(account).fetch_optional(&stack.db).await.expect("an answer")
    })
    .await;
    stack.keys(&["rotate", prefix, "--overlap", "24h"]).await;
    (key, account)
}

/// How many rows each table has of an account.
async fn rows(db: &Pool, account: Uuid) -> Vec<(&'static str, i64)> {
    erasure::count(db, account).await.expect("counts")
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_an_erased_account_is_left_but_the_fact() {
    let store = Store::folder(Cluster::shared().folder());
    let settings = Stack::with().settings(store.settings()).set_text("AKHAR_CORS_ORIGINS", SITE);
    let stack = settings.start().await;
    let (key, account) = fill(&stack, &store, "Meera's clinic", "meera").await;
    for queue in ["quick", "speech"] {
        stack.akhar(&["queues", "resume", queue]).await;
    }
    let (_, other) = fill(&stack, &store, "Arjan", "arjan").await;
    let of_other = rows(&stack.db, other).await;
    let prefixes: Vec<String> = sqlx::query_scalar(
        "select prefix from api_keys where account_id = $1 union all select id::text from api_keys where account_id = $1
         union all select id::text from jobs where account_id = $1 union all select id::text from deleted_jobs where account_id = $1",
    )
    .bind(account)
    .fetch_all(&stack.db)
    .await
    .expect("names");
    let mut texts = prefixes;
    texts.extend(["meera", "Meera's clinic"].map(str::to_owned));
    let before = stored(&stack, &store).await;
    assert!(texts.iter().all(|text| has(&before, text)), "they are looked for in the right way");
    let n_audit = "select count(*) from audit";
    let n_before: i64 = sqlx::query_scalar(n_audit).fetch_one(&stack.db).await.expect("a count");

    let (code, table, _) = stack.run(&["accounts", "erase", "Meera's clinic", "--dry-run"]).await;
    assert_eq!(code, Some(0), "{table}");
    let listed: BTreeSet<_> =
        table.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
    // The webhook of the job that ends is written when it ends.
    for (name, _) in erasure::OF_ACCOUNTS {
        assert!(listed.contains(name), "the account has nothing in {name}: {table}");
    }
    let (code, _, log) = stack.run(&["accounts", "erase", "Meera's clinic"]).await;
    assert!(code == Some(1) && log.contains("add --yes"), "{log}");
    assert!(
        stack
            .on_a_terminal(&["accounts", "erase", "Meera's clinic"], "n\n")
            .await
            .contains("nothing was changed")
    );
    sqlx::raw_sql("analyze").execute(&stack.db).await.expect("statistics");
    let statistics = async || -> String {
        let values = "select string_agg(s::text, ' ') from pg_stats s where schemaname = 'public'";
        sqlx::query_scalar(values).fetch_one(&stack.db).await.expect("statistics")
    };
    assert!(statistics().await.contains("meera-group"));
    let said = stack.akhar(&["accounts", "erase", "Meera's clinic", "--yes"]).await;
    assert_eq!(said, format!("erased the account {account}"));

    let after = stored(&stack, &store).await;
    let statistics = statistics().await;
    for text in &texts {
        assert!(!has(&after, text) && !statistics.contains(text), "{text} is still stored");
    }
    let fact = stack.akhar_json(&["audit", "--action", "account.erase"]).await;
    assert_eq!((fact.as_array().map(Vec::len), &fact[0]["target"]), (Some(1), &json!(account)), "{fact}");
    let n_after: i64 = sqlx::query_scalar(n_audit).fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_after, n_before + 1, "what was changed stays in the trail");
    let n_named = String::from_utf8_lossy(&after).matches(&account.to_string()).count();
    assert_eq!(n_named, 1, "only the trail names the account");
    assert_eq!((rows(&stack.db, account).await, rows(&stack.db, other).await), (Vec::new(), of_other));
    assert!(has(&after, "arjan-group") && has(&after, "request=arjan-request"));
    let request = stack.post_as(&key, "digit-recognition", &Form::upload(&fixture_of("੫").bytes));
    stack.refused(request, 401).await;
    let (code, _, log) = stack.run(&["accounts", "erase", "Meera's clinic", "--yes"]).await;
    assert!(code == Some(1) && log.contains("no account has the name"), "{log}");
}

#[tokio::test]
async fn the_erasure_knows_every_table() {
    let mut db =
        sqlx::PgConnection::connect_with(&Cluster::shared().database().await).await.expect("it answers");
    let tables: Vec<(String, bool)> = sqlx::query_as(
        "select relname::text, exists (
             select from pg_attribute where attrelid = c.oid and attname in ('account_id', 'job_id', 'key_id'))
         from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
    )
    .fetch_all(&mut db)
    .await
    .expect("tables");
    let of_accounts: BTreeSet<_> = erasure::OF_ACCOUNTS.iter().map(|(table, _)| *table).collect();
    for (table, names_owner) in &tables {
        let is_of_none = erasure::OF_NO_ACCOUNT.contains(&&**table);
        assert!(
            of_accounts.contains(&**table) != is_of_none,
            "erasure.rs must say whose rows the table {table} has"
        );
        assert!(!names_owner || !is_of_none || table == "audit", "the rows of {table} are those of accounts");
    }
    assert_eq!(tables.len(), of_accounts.len() + erasure::OF_NO_ACCOUNT.len(), "a table is gone");
}

/// An account with a key.
async fn account(stack: &Stack) -> Uuid {
    let key = stack.keys(&["create", "--name", "erased"]).await;
    accounts::find(&stack.db, &key[3..11]).await.expect("an account")
}

#[tokio::test]
async fn nothing_is_written_for_an_account_that_was_erased() {
    let stack = Stack::with().workers(0).start().await;
    let (db, uploads) = (&stack.db, UploadStore::in_database());
    let account_id = account(&stack).await;
    let of_account = || NewJob {
        account_id,
        group: GroupName::parse("g"),
        webhook_url: Some("https://a.example/".into()),
        ..new_job()
    };
    let (running, other) = (of_account(), new_job());
    assert_eq!(submit(db, &[&running]).await.expect("a row"), [Submitted::Accepted]);
    sqlx::raw_sql("update jobs set state = 'running', attempt = 1").execute(db).await.expect("a claim");
    erasure::erase(db, &uploads, &actor(), account_id).await.expect("it is erased");
    let late = Ending::dead(akhar_jobs::Fence { job: running.id, attempt: 1 }, "late".to_owned(), true);
    assert_eq!(
        end(db, &[late, Ending::cancelled(Guard::Unended { job: running.id, account_id })])
            .await
            .expect("an answer")
            .met,
        [false; 2]
    );
    assert_eq!(
        submit(db, &[&of_account(), &other]).await.expect("rows"),
        [Submitted::Exists, Submitted::Accepted]
    );
    let job = JobId(Uuid::now_v7());
    assert_eq!(idempotency::claim(db, account_id, "key", b"x", job.0).await.expect("an answer"), Claim::New);
    let reservation = Reservation { job, account_id, seconds: 1.0, quota_s: 60.0 };
    assert!(store::reserve_amount(db, reservation).await.expect("an answer").is_accepted);
    let upload = ReservedUpload { id: job.0, account_id, n_bytes: 9 };
    assert!(!store::reserve_upload(db, upload, 1000, 1).await.expect("an answer"));
    assert_eq!(rows(db, account_id).await, []);
    let n_left: i64 =
        sqlx::query_scalar("select (select count(*) from jobs) + (select count(*) from job_groups)")
            .fetch_one(db)
            .await
            .expect("a count");
    assert_eq!(n_left, 1, "the job of the other account");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_written_when_an_erasure_begins_is_waited_for_and_erased() {
    let stack = Stack::with().workers(0).start().await;
    for write in [
        "insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id, turn)
             select gen_random_uuid(), $1, 'digit-recognition', 'quick', 0, '{}', 3, 'r', turn
             from unnest(next_turns('{quick}', '{0}', array[$1])) as turn",
        "insert into idempotency_keys (account_id, key, fingerprint, job_id) select $1, 'k', 'x', $1 where may_write($1)",
    ] {
        erase_beside(&stack, account(&stack).await, write).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_changes_while_it_is_erased_is_erased() {
    let stack = Stack::with().workers(0).start().await;
    let account_id = account(&stack).await;
    let add = "insert into audio_usage (account_id, day, seconds) values ($1, current_date, 1)";
    sqlx::query(add).bind(account_id).execute(&stack.db).await.expect("a row");
    erase_beside(&stack, account_id, "update audio_usage set seconds = 2 where account_id = $1").await;
}

/// Erases an account, beside a transaction that has written something for it and ends when the erasure waits for it.
async fn erase_beside(stack: &Stack, account_id: Uuid, write: &'static str) {
    let mut writing = stack.db.servers().connect().await.expect("a connection");
    let mut writing = writing.begin().await.expect("a transaction");
    sqlx::query(write).bind(account_id).execute(&mut *writing).await.expect("a row");
    let db = stack.db.clone();
    let erasing =
        tokio::spawn(
            async move { erasure::erase(&db, &UploadStore::in_database(), &actor(), account_id).await },
        );
    until("the erasure waits", async || {
        let waits = "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database())";
        sqlx::query_scalar::<_, bool>(waits).fetch_one(&stack.db).await.expect("locks").then_some(())
    })
    .await;
    writing.commit().await.expect("a commit");
    erasing.await.expect("no panic").expect("it is erased");
    assert_eq!(rows(&stack.db, account_id).await, [], "{write}");
}

#[tokio::test]
async fn an_erasure_that_stopped_goes_on_when_it_is_begun_again() {
    let store = Store::folder(Cluster::shared().folder());
    let stack = Stack::with().workers(0).settings(store.settings()).start().await;
    let request = stack.post("digit-recognition", &Form::upload(&fixture_of("੫").bytes));
    send(request.header("prefer", "respond-async")).await.job();
    let account = accounts::find(&stack.db, "test").await.expect("an account");
    let there = "with former as (select id, upload_url from jobs)
        update jobs j set upload_url = 's3://bucket/name' from former where former.id = j.id returning former.upload_url";
    let object: String = sqlx::query_scalar(there).fetch_one(&stack.db).await.expect("a job");
    let stopped = erasure::erase(&stack.db, &UploadStore::in_database(), &actor(), account).await;
    assert!(matches!(stopped, Err(EraseError::Uploads(_))), "{stopped:?}");
    assert!(rows(&stack.db, account).await.contains(&("jobs", 1)));
    let doctor = stack.akhar(&["doctor"]).await;
    assert!(doctor.contains("erasure        begun and not finished: test"), "{doctor}");
    stack.refused(stack.request("GET", "/v1/jobs"), 401).await;
    let back = sqlx::query("update jobs set upload_url = $1").bind(object);
    back.execute(&stack.db).await.expect("an update");
    stack.akhar(&["accounts", "erase", "test", "--yes"]).await;
    assert_eq!((rows(&stack.db, account).await, store.objects().await), (Vec::new(), Vec::<String>::new()));
    let fact = stack.akhar_json(&["audit", "--action", "account.erase"]).await;
    assert_eq!(fact.as_array().map(Vec::len), Some(1), "{fact}");
}
