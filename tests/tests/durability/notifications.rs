//! What another role of the database hears, and what it can make the service believe.

use std::collections::BTreeSet;

use akhar_accounts::keys::API_KEY_CHANGED;
use akhar_jobs::store::{JOBS_ENDED, JOBS_QUEUED, QUEUE_MODE_CHANGED};
use akhar_requests::queue_named;
use akhar_tests::{Cluster, Form, Seam, Stack, http::send};
use serde_json::json;
use sqlx::{
    Connection as _, PgConnection,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use uuid::Uuid;

use crate::{digit, submit};

/// The channels whose notifications say something. Those of `webhooks_due` are empty.
const CHANNELS: [&str; 4] = [JOBS_ENDED, JOBS_QUEUED, QUEUE_MODE_CHANGED, API_KEY_CHANGED];

/// Sends announcements of a result that no worker has made, without end.
async fn forge(other: &PgConnectOptions, path: &str) {
    let job = &path["/v1/jobs/".len()..][..36];
    let mut db = PgConnection::connect_with(other).await.expect("every role may connect");
    let row = json!([{"id": job, "operation": "digit-recognition", "state": "succeeded", "attempt": 1,
        "created_at": "2026-11-21T09:00:00+00:00", "started_at": null, "ended_at": "2026-11-21T09:00:01+00:00",
        "outcome": {"kind": "predictions", "predictions": [{"label": "forged", "score": 1.0}]},
        "decode_us": 1, "infer_us": 1, "transcribed_s": null, "group_name": null, "labels": null}]);
    let payloads = [row.to_string(), job.to_owned(), Uuid::now_v7().to_string(), String::new()];
    loop {
        for channel in CHANNELS {
            for payload in &payloads {
                let sent = sqlx::query("select pg_notify($1, $2)").bind(channel).bind(payload);
                sent.execute(&mut db).await.expect("every role may send");
            }
        }
    }
}

/// Whether a payload says no more than which job, key or queue is meant.
fn has_no_content(payload: &str) -> bool {
    let is_name = |part: &str| Uuid::try_parse(part).is_ok() || queue_named(part).is_some();
    payload.is_empty() || payload.split(',').all(is_name)
}

#[tokio::test]
async fn another_role_hears_no_content_and_makes_nobody_believe_it() {
    let cluster = Cluster::own();
    let stack = Stack::with().on(&cluster).start().await;
    sqlx::query("create role other login").execute(&stack.db).await.expect("a role");
    let other = stack.db.servers().options()[0].clone().username("other");
    let mut listener = PgListener::connect_with(&PgPoolOptions::new().connect_lazy_with(other.clone()))
        .await
        .expect("it may");
    listener.listen_all(CHANNELS).await.expect("every role may listen");
    let image = digit();
    let request =
        stack.post(image.operation, &Form::upload(&image.bytes)).header("akhar-label", "name=secret");
    assert_eq!(send(request).await.predictions()[0].0, image.label);
    stack.akhar(&["queues", "pause", "speech"]).await;
    let key = stack.keys(&["create", "--name", "last"]).await;
    stack.keys(&["revoke", &key[3..11]]).await;
    let mut heard = BTreeSet::new();
    while heard.len() < CHANNELS.len() {
        let notification = listener.recv().await.expect("a notification");
        let (channel, payload) = (notification.channel(), notification.payload());
        assert!(has_no_content(payload), "{channel}: {payload}");
        heard.insert(channel.to_owned());
    }

    let held = Seam::Finish.hold(&stack.db).await;
    let path = format!("/v1/jobs/{}?wait=2", submit(&stack).await);
    let answer = tokio::select! {
        answer = stack.get(&path) => answer.json(),
        () = forge(&other, &path) => unreachable!("it goes on"),
    };
    assert_eq!(answer["state"], "running", "{answer}");
    held.release().await;
    let answer = stack.get(&path).await.json();
    assert_eq!(answer["result"]["predictions"][0]["label"], image.label, "{answer}");

    let access = async || {
        let report = stack.akhar_json(&["doctor"]).await;
        let checks = report["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == "access").expect("a check").clone()
    };
    let open = access().await;
    assert!(open["status"] == "warning" && open["found"].to_string().contains("other"), "{open}");
    let fix = open["fix"].as_str().and_then(|fix| fix.split('`').nth(1)).expect("a statement").to_owned();
    sqlx::query(sqlx::AssertSqlSafe(fix)).execute(&stack.db).await.expect("it is executed");
    assert_eq!(access().await["status"], "ok");
    PgConnection::connect_with(&other).await.expect_err("it may not connect any more");
}
