//! Old jobs and what else is kept for a time are deleted some rows at a time, and the jobs of dead workers do not wait for it.

use std::time::Duration;

use akhar_jobs::store;
use akhar_platform::database::{Database, Pool};
use akhar_tests::{Cluster, Seam, Stack, until};

use crate::submit;

/// Jobs, keys of requests, audited changes and the like that are too old.
const N: i64 = 2_500;

/// Inserts `$1` rows of each kind that are a year old.
const OLD_ROWS: [&str; 6] = [
    "insert into jobs (id, account_id, operation, queue, priority, parameters, state, attempt, max_attempts, request_id,
         created_at, started_at, ended_at, outcome, acknowledged)
     select gen_random_uuid(), gen_random_uuid(), 'digit-recognition', 'quick', 1, '{}', 'cancelled', 1, 3, 'old',
         now() - interval '1 year', now() - interval '1 year', now() - interval '1 year', null, true
     from generate_series(1, $1)",
    "insert into idempotency_keys (account_id, key, fingerprint, job_id, created_at)
     select gen_random_uuid(), 'key', '', gen_random_uuid(), now() - interval '1 year' from generate_series(1, $1)",
    "insert into audit (id, at, action, target, n_changed, actor)
     select gen_random_uuid(), now() - interval '1 year', 'queue.pause', 'quick', 1, 'old' from generate_series(1, $1)",
    "insert into audio_usage (account_id, day, seconds)
     select gen_random_uuid(), now() - interval '1 year', 1 from generate_series(1, $1)",
    "insert into audio_reservations (job_id, account_id, seconds, reserved_at)
     select gen_random_uuid(), gen_random_uuid(), 1, now() - interval '1 year' from generate_series(1, $1)",
    "insert into claimed_turns (queue, priority, turn) select 'quick', 1, n from generate_series(1, $1) n",
];

async fn insert_old(db: &Pool, n: i64) {
    for statement in OLD_ROWS {
        sqlx::query(statement).bind(n).execute(db).await.expect(statement);
    }
}

async fn n_old(db: &Pool) -> i64 {
    let count = "select (select count(*) from jobs where request_id = 'old') + (select count(*) from idempotency_keys)
         + (select count(*) from audit where actor = 'old') + (select count(*) from audio_usage)
         + (select count(*) from audio_reservations) + (select count(*) - 1 from claimed_turns)";
    sqlx::query_scalar(count).fetch_one(db).await.expect("a count")
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_too_old_is_deleted_some_rows_at_a_time() {
    let options = Cluster::shared().database().await;
    let database = Database::connect("akhar-test", options.into(), 4).await.expect("it answers");
    let db = &database.pool;
    akhar_migrations::migrate(db).await.expect("a schema");
    insert_old(db, N).await;
    // A statement that deletes more rows than this fails.
    for table in ["jobs", "idempotency_keys", "audit", "audio_usage", "audio_reservations", "claimed_turns"] {
        let check = format!(
            "create function few_{table}() returns trigger language plpgsql as $$ begin
                 if (select count(*) from gone) > 1000 then raise 'too many rows'; end if; return null; end $$;
             create trigger few after delete on {table} referencing old table as gone
                 for each statement execute function few_{table}();"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(check)).execute(db).await.expect("a trigger");
    }
    let now = sqlx::query_scalar("select now()").fetch_one(db).await.expect("a time");
    let clock = store::clock(db, now).await.expect("a clock");
    let day = Duration::from_secs(24 * 60 * 60);
    let n_deleted = store::expire(db, &clock, day, day).await.expect("a deletion");
    assert_eq!((n_deleted, n_old(db).await), (N.cast_unsigned(), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_jobs_of_a_dead_worker_do_not_wait_until_old_ones_are_deleted() {
    let mut stack = Stack::start().await;
    insert_old(&stack.db, 4 * N).await;
    // Deleting all of them takes half a minute.
    let slow = "create function sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(0.002); return old; end $$;
         create trigger slow before delete on jobs for each row execute function sleep();";
    sqlx::raw_sql(slow).execute(&stack.db).await.expect("a trigger");
    let mut held = Seam::Finish.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    stack.add_worker().await;
    let old_jobs = async || -> i64 {
        let count = sqlx::query_scalar("select count(*) from jobs where request_id = 'old'");
        count.fetch_one(&stack.db).await.expect("a count")
    };
    until("the second worker deletes old jobs", async || (old_jobs().await < 4 * N).then_some(())).await;
    stack.workers[0].kill().await;
    held.disconnect().await;
    held.release().await;
    stack.job_is(job, "succeeded").await;
    let n_left = old_jobs().await;
    assert!(n_left > 0, "the job has waited until all old ones were deleted");
}
