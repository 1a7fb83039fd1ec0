//! The disk of Postgres is full while a job runs. A trigger raises the server's error.

use akhar_tests::{Stack, until};

use crate::{every_job_ended_once, record_ends, submit};

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
