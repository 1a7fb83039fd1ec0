//! The operations page in Chromium, with axe. The program is in `tests/node`.

use akhar_tests::{
    Stack,
    ops::record_day,
    scripts::{NodeFolder, json},
};
use serde_json::json;
use uuid::Uuid;

#[tokio::test]
async fn the_operations_page_is_accessible_on_phones_and_desktops_and_its_numbers_are_live() {
    let stack = Stack::with().workers(0).start().await;
    let admin = stack.keys(&["create", "--name", "operator", "--role", "admin"]).await;
    let job = Uuid::now_v7();
    let failed = sqlx::query(
        "with worker as (insert into workers (name) values ('worker-1')),
         failed as (
             insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id, state, attempt,
                 created_at, started_at, ended_at, last_error, outcome)
             select $1, account_id, 'digit-recognition', 'quick', 0, '{}', 3, 'order-7', 'failed', 1, now(), now(), now(),
                 repeat('a long error ', 50), '{\"kind\":\"failed\"}' from api_keys limit 1),
         webhook as (
             insert into webhook_deliveries (job_id, account_id, url, state, attempt, last_error)
             select $1, account_id, 'https://receiver.example/' || repeat('a/long/path/', 20), 'pending', 2, repeat('e', 300)
             from api_keys limit 1)
         insert into failed_attempts (job_id, attempt, worker, error) values ($1, 1, 'worker-1', repeat('x', 500))",
    );
    // The attempt refers to the job of the same statement, which is checked at its end.
    failed.bind(job).execute(&stack.db).await.expect("a failed job");
    record_day(&stack.db).await;
    let mut look = NodeFolder::new(stack.folder(), "ops").program(&stack, "ops.ts");
    look.env("KEY", &admin).arg("/ops/jobs").arg(format!("/ops/jobs/{job}"));
    look.args(["/ops/jobs?by=job&q=x", "/ops/errors", "/ops/webhooks", "/ops/keys", "/ops/audit"]);
    let result = json(look).await;
    assert_eq!(result["found"], json!([]));
    assert_eq!(result["waiting"], json!(["0", "1", "1", "2"]));
}
