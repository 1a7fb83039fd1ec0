//! The disk of Postgres is full while a job runs. A trigger raises the server's error.

use akhar_platform::database::Pool;
use akhar_tests::{Form, Stack, until};
use reqwest::RequestBuilder;
use sqlx::AssertSqlSafe;

use crate::{digit, every_job_ended_once, record_ends, submit};

/// Refuses every answer of a job, as a server without disk space does. Counts the tries in a sequence, which a rollback
/// does not reset.
const FULL_DISK: &str = "create sequence tries;
    create function disk_is_full() returns trigger language plpgsql as
    $$ begin perform nextval('tries'); raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger disk_is_full before update on jobs for each row
    when (new.state = 'succeeded') execute function disk_is_full();";

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_written_once_the_disk_has_space_again() {
    let stack = Stack::start().await;
    record_ends(&stack.db).await;
    sqlx::raw_sql(FULL_DISK).execute(&stack.db).await.expect("a trigger");
    let job = submit(&stack).await;
    until("the worker tried twice to write the answer", async || {
        let query = "select coalesce((select last_value from pg_sequences where sequencename = 'tries'), 0)";
        let n_tries: i64 = sqlx::query_scalar(query).fetch_one(&stack.db).await.expect("a count");
        (n_tries >= 2).then_some(())
    })
    .await;
    sqlx::raw_sql("drop trigger disk_is_full on jobs").execute(&stack.db).await.expect("space");
    stack.job_is(job, "succeeded").await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 1, "the job ran again, although its answer was known");
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

/// Refuses every write of a table with this message and SQLSTATE.
async fn refuse_writes(db: &Pool, table: &str, message: &str, code: &str) {
    let refuse = format!(
        "create or replace function refuse() returns trigger language plpgsql as
         $$ begin raise exception '{message}' using errcode = '{code}'; end $$;
         create trigger refuse before insert or update or delete on {table} for each row execute function refuse();"
    );
    sqlx::raw_sql(AssertSqlSafe(refuse)).execute(db).await.expect("a trigger");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_that_a_full_disk_refuses_gets_507_and_other_shortages_get_503() {
    let stack = Stack::with().workers(0).start().await;
    let admin = stack.keys(&["create", "--name", "night shift", "--role", "admin"]).await;
    let post =
        || stack.post(digit().operation, &Form::upload(&digit().bytes)).header("prefer", "respond-async");
    let body = serde_json::json!({"name": "another"});
    let requests: [(&str, &dyn Fn() -> RequestBuilder); 5] = [
        ("jobs", &|| post()),
        ("jobs", &|| {
            stack
                .request("POST", "/v1/models/handwriting-generator")
                .json(&serde_json::json!({"text": "ਸਤਿ"}))
        }),
        ("job_groups", &|| post().header("akhar-group", "run-1")),
        ("idempotency_keys", &|| post().header("idempotency-key", "\"a key\"")),
        ("api_keys", &|| stack.anonymous("POST", "/v1/admin/keys").bearer_auth(&admin).json(&body)),
    ];
    for (message, code, status, slug) in [
        ("could not extend file", "53100", 507, "storage-full"),
        ("could not extend file \"base/5/1\": Disk quota exceeded", "XX000", 507, "storage-full"),
        ("could not extend file \"base/5/1\": File too large", "XX000", 507, "storage-full"),
        ("out of memory", "53200", 503, "unavailable"),
        ("out of file descriptors", "53000", 503, "unavailable"),
    ] {
        for (table, request) in requests {
            refuse_writes(&stack.db, table, message, code).await;
            let problem = stack.refused(request(), status).await;
            assert_eq!(problem.slug, slug, "{table}: {message}");
            let allow = format!("drop trigger refuse on {table}");
            sqlx::raw_sql(AssertSqlSafe(allow)).execute(&stack.db).await.expect("no trigger");
        }
    }
}
