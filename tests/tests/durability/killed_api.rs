//! An api is killed (-9) while callers wait.

use std::collections::BTreeSet;

use akhar_tests::{
    Form, Stack,
    http::{send, try_send},
};
use uuid::Uuid;

use crate::digit;

const N_CALLERS: i64 = 5;

#[tokio::test(flavor = "multi_thread")]
async fn callers_of_a_killed_api_get_the_same_jobs_by_their_idempotency_keys() {
    let mut stack = Stack::with().workers(0).start().await;
    let image = digit();
    let form = Form::upload(&image.bytes);
    let requests = |stack: &Stack| -> Vec<_> {
        let of = |n| stack.post(image.operation, &form).header("idempotency-key", format!("order-{n}"));
        (0..N_CALLERS).map(of).collect()
    };
    let waiting: Vec<_> =
        requests(&stack).into_iter().map(|request| tokio::spawn(try_send(request))).collect();
    stack.jobs_are(N_CALLERS, "queued").await;
    let jobs: Vec<Uuid> = sqlx::query_scalar("select id from jobs").fetch_all(&stack.db).await.expect("jobs");
    stack.restart_api().await;
    for caller in waiting {
        assert!(caller.await.expect("no panic").is_err(), "the api was killed");
    }
    let again: Vec<_> = requests(&stack).into_iter().map(|request| tokio::spawn(send(request))).collect();
    stack.add_worker().await;
    let mut answered = BTreeSet::new();
    for caller in again {
        let answer = caller.await.expect("no panic");
        assert_eq!(answer.predictions()[0].0, image.label);
        answered.insert(answer.header("akhar-job").parse::<Uuid>().expect("the id of a job"));
    }
    assert_eq!(answered, jobs.into_iter().collect(), "each repeated request has the job of the first one");
    stack.jobs_are(N_CALLERS, "succeeded").await;
}
