//! Webhooks: signed as the reference library checks it, sent again after failures, never sent to private addresses.

use akhar_tests::{
    Form, Stack, free_port, http::send, images::fixture_of, ops::Operator, speech::recording, until,
    webhooks::Receiver,
};
use serde_json::{Value, json};
use uuid::Uuid;

const WEBHOOK: &str = "akhar-webhook";

/// A service that may send webhooks to this machine.
async fn stack() -> Stack {
    Stack::with().set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8").start().await
}

/// The prefix of the stack's key.
fn prefix(stack: &Stack) -> &str {
    &stack.key[3..11]
}

/// Makes a secret for the account of the stack's key.
async fn secret(stack: &Stack) -> String {
    stack.keys(&["webhook", prefix(stack)]).await
}

fn digit(stack: &Stack) -> reqwest::RequestBuilder {
    let image = fixture_of("੫");
    stack.post(image.operation, &Form::upload(&image.bytes))
}

/// Requests an asynchronous job with a webhook.
async fn submit(stack: &Stack, url: &str) -> Uuid {
    send(digit(stack).header(WEBHOOK, url).header("prefer", "respond-async")).await.job()
}

/// Waits until the delivery of this job is in this state. Returns the number of attempts and the last error.
async fn delivery_is(stack: &Stack, id: Uuid, state: &str) -> (i32, Option<String>) {
    let row = "select state, attempt, last_error from webhook_deliveries where job_id = $1";
    until(&format!("the webhook is {state}"), async || {
        let row: Option<(String, i32, Option<String>)> =
            sqlx::query_as(row).bind(id).fetch_optional(&stack.db).await.expect("a row");
        row.filter(|row| row.0 == state).map(|(_, attempt, error)| (attempt, error))
    })
    .await
}

/// Makes the next attempt due as soon as the last one has failed. Its error is forgotten in the same statement, so that it is
/// not taken for that of the next attempt.
async fn let_it_try_again(stack: &Stack, id: Uuid, attempt: i32) {
    until(&format!("attempt {attempt} has failed"), async || {
        let moved = sqlx::query(
            "update webhook_deliveries set due_at = now(), last_error = null
             where job_id = $1 and attempt = $2 and last_error is not null and state = 'pending'",
        );
        let moved = moved.bind(id).bind(attempt).execute(&stack.db).await.expect("an update");
        (moved.rows_affected() == 1).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_end_of_a_job_is_announced_and_signed() {
    let stack = stack().await;
    let first = secret(&stack).await;
    let second = stack.keys(&["webhook", prefix(&stack), "--rotate"]).await;
    assert_ne!(first, second);
    assert_eq!(secret(&stack).await, second, "it is shown again");
    let receiver = Receiver::start(&[&first, &second]).await;
    let url = format!("{}/ok", receiver.base);

    let answer = send(digit(&stack).header(WEBHOOK, &url)).await;
    let id: Uuid = answer.header("akhar-job").parse().expect("an id");
    let webhook = &receiver.receives(1, "/ok").await[0];
    assert_eq!(webhook["headers"]["webhook-id"], id.to_string());
    assert_eq!(webhook["headers"]["content-type"], "application/json");
    assert_eq!(webhook["body"]["type"], "job.succeeded");
    assert_eq!(webhook["body"]["timestamp"], webhook["body"]["data"]["ended_at"]);
    assert_eq!(webhook["body"]["data"], stack.get(&format!("/v1/jobs/{id}")).await.json());
    assert_eq!(webhook["body"]["data"]["result"], answer.json());
    assert_eq!(delivery_is(&stack, id, "delivered").await, (1, None));

    let broken = stack.post("digit-recognition", &Form::upload(&fixture_of("੫").bytes[..500]));
    send(broken.header(WEBHOOK, format!("{}/ok?broken", receiver.base))).await.problem(422);
    let failed = &receiver.receives(1, "/ok?broken").await[0]["body"];
    assert_eq!((&failed["type"], &failed["data"]["state"]), (&json!("job.failed"), &json!("failed")));
    assert_eq!(failed["data"]["error"]["errors"][0]["code"], "undecodable");
}

#[tokio::test]
async fn the_end_of_a_group_is_announced_once_each_time() {
    let mut stack = Stack::with().workers(0).set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.1").start().await;
    let receiver = Receiver::start(&[&secret(&stack).await]).await;
    let url = |name: &str| format!("{}/ok?{name}", receiver.base);
    stack.keys(&["webhook", prefix(&stack), "--webhook", &url("account")]).await;
    let in_group = |name: &str| {
        digit(&stack)
            .header("akhar-group", name)
            .header(WEBHOOK, url("job"))
            .header("prefer", "respond-async")
    };
    let cancelled = send(in_group("run-1").header("akhar-group-webhook", url("old"))).await.job();
    for url in [Some(url("group")), None] {
        let headers = url.map(|url| ("akhar-group-webhook", url));
        send(headers.into_iter().fold(in_group("run-1"), |request, (name, url)| request.header(name, url)))
            .await
            .job();
    }
    send(in_group("run-2")).await.job();
    send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await;
    stack.add_worker().await;

    let first = receiver.receives(1, "/ok?group").await.remove(0);
    let group = stack.get("/v1/groups/run-1").await.json();
    assert_eq!(
        first["body"],
        json!({"type": "group.ended", "timestamp": group["last_ended_at"], "data": group})
    );
    assert_eq!((&group["succeeded"], &group["cancelled"]), (&json!(2), &json!(1)));
    let of_account = receiver.receives(1, "/ok?account").await.remove(0);
    assert_eq!(of_account["body"]["data"]["name"], "run-2");
    assert_eq!(receiver.receives(4, "/ok?job").await.len(), 4);

    send(digit(&stack).header("akhar-group", "run-1").header(WEBHOOK, url("job"))).await;
    let second = receiver.receives(2, "/ok?group").await.remove(1);
    assert_eq!(second["body"]["data"]["succeeded"], 3);
    assert_ne!(first["headers"]["webhook-id"], second["headers"]["webhook-id"]);
    assert!(receiver.received("/ok?old").is_empty());
    let (id, group): (Uuid, String) =
        sqlx::query_as("select id, group_name from webhook_deliveries where group_name = 'run-1'")
            .fetch_one(&stack.db)
            .await
            .expect("a row");
    assert_eq!(second["headers"]["webhook-id"], id.to_string());
    let listed = stack.akhar(&["webhooks", "list", "--json"]).await;
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_group = listed.iter().find(|webhook| webhook["id"] == id.to_string()).expect("it is listed");
    assert_eq!(of_group["group"], group);
    assert_eq!(stack.akhar(&["webhooks", "redeliver", &id.to_string()]).await.trim(), "1");
    let again = receiver.receives(3, "/ok?group").await.remove(2);
    assert_eq!(again["body"], second["body"]);

    send(stack.request("DELETE", "/v1/groups/run-1?purge=true")).await;
    let count = "select count(*) from webhook_deliveries where group_name = 'run-1'";
    let n: i64 = sqlx::query_scalar(count).fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n, 0, "it is deleted with the group");
}

#[tokio::test]
async fn the_webhook_of_a_group_needs_a_group_and_a_secret() {
    let stack = stack().await;
    let request = || digit(&stack).header("akhar-group-webhook", "https://receiver.example/akhar");
    let without = stack.refused(request(), 422).await;
    assert_eq!(without.errors(), [("Akhar-Group".to_owned(), "missing".to_owned())].into());
    let unsigned = stack.refused(request().header("akhar-group", "run-1"), 422).await;
    assert_eq!(unsigned.errors(), [("Akhar-Group-Webhook".to_owned(), "no_secret".to_owned())].into());
    let private =
        digit(&stack).header("akhar-group-webhook", "https://10.0.0.1/").header("akhar-group", "run-1");
    let private = stack.refused(private, 422).await;
    assert_eq!(private.errors(), [("Akhar-Group-Webhook".to_owned(), "not_allowed".to_owned())].into());
}

#[tokio::test]
async fn a_cancelled_job_and_openai_s_routes_are_announced_at_the_account_s_url() {
    let mut stack = Stack::with().workers(0).set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.1").start().await;
    let receiver = Receiver::start(&[&secret(&stack).await]).await;
    let url = format!("{}/ok", receiver.base);
    stack.keys(&["webhook", prefix(&stack), "--webhook", &url]).await;
    assert!(stack.keys(&["list"]).await.contains(&format!("works, webhook {url}  test")));
    // An api process hears of the change by a notification, so an earlier job may have no webhook.
    let queued = until("a job has the webhook", async || {
        let id = send(digit(&stack).header("prefer", "respond-async")).await.job();
        let url: Option<String> = stack.row("select webhook_url from jobs where id = $1", id).await;
        url.map(|_| id)
    })
    .await;
    let cancelled = send(stack.request("DELETE", &format!("/v1/jobs/{queued}"))).await.json();
    let webhook = &receiver.receives(1, "/ok").await[0];
    assert_eq!(
        webhook["body"],
        json!({"type": "job.cancelled", "timestamp": cancelled["ended_at"], "data": cancelled})
    );

    let form = Form::upload_and(&recording("pa-school.wav").bytes, "model", "speech-pa");
    let request =
        stack.request("POST", "/v1/audio/transcriptions").header("content-type", form.content_type());
    let id = send(request.header("prefer", "respond-async").body(form.body())).await.job();
    stack.add_worker().await;
    let both = receiver.receives(2, "/ok").await;
    let of_job = |request: &&Value| request["body"]["data"]["id"] == id.to_string();
    let transcribed = both.iter().find(of_job).expect("a webhook of the job");
    assert!(transcribed["body"]["data"]["result"]["transcription"].is_string(), "{transcribed}");

    stack.keys(&["webhook", prefix(&stack), "--no-webhook"]).await;
    assert!(!stack.keys(&["list"]).await.contains("webhook"));
}

#[tokio::test]
async fn a_webhook_that_fails_is_sent_again_and_given_up_after_a_day() {
    let stack = stack().await;
    let receiver = Receiver::start(&[&secret(&stack).await]).await;
    let failing = submit(&stack, &format!("{}/fail/2", receiver.base)).await;
    let cut = submit(&stack, &format!("{}/cut", receiver.base)).await;
    let moved = submit(&stack, &format!("{}/moved/{}/ok", receiver.base, receiver.base)).await;
    let gone = submit(&stack, &format!("{}/gone", receiver.base)).await;

    for attempt in [1, 2] {
        let_it_try_again(&stack, failing, attempt).await;
    }
    assert_eq!(delivery_is(&stack, failing, "delivered").await.0, 3);
    let attempts = receiver.receives(3, "/fail/2").await;
    let ids: Vec<Value> = attempts.into_iter().map(|r| r["headers"]["webhook-id"].clone()).collect();
    assert_eq!(ids, vec![json!(failing.to_string()); 3], "each attempt has the same id");

    let (attempts, error) = delivery_is(&stack, gone, "dead").await;
    assert_eq!((attempts, error.as_deref()), (1, Some("the receiver answered 410 Gone")));
    until("the redirect is not followed", async || {
        let error: Option<String> =
            stack.row("select last_error from webhook_deliveries where job_id = $1", moved).await;
        error.filter(|error| error.contains("307") && error.contains("redirects are not followed"))
    })
    .await;
    assert!(receiver.received("/ok").is_empty());

    for attempt in 1..8 {
        let_it_try_again(&stack, cut, attempt).await;
    }
    assert_eq!(delivery_is(&stack, cut, "dead").await.0, 8);
    let doctor = stack.akhar(&["doctor"]).await;
    assert!(doctor.contains("1 have failed and are repeated, 2 were given up in the last day"), "{doctor}");
    let dead = stack.akhar(&["webhooks", "list", "--dead"]).await;
    assert!(
        dead.starts_with("ID ")
            && dead.lines().count() == 3
            && dead.contains(&cut.to_string())
            && dead.contains("410 Gone"),
        "{dead}"
    );
    let listed = stack.akhar(&["webhooks", "list", "--json"]).await;
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_cut = listed.iter().find(|delivery| delivery["id"] == cut.to_string()).expect("it is listed");
    assert_eq!((&of_cut["state"], &of_cut["attempts"]), (&json!("dead"), &json!(8)));

    // Somebody repairs the receiver, and the operator sends both again.
    sqlx::query("update webhook_deliveries set url = $1")
        .bind(format!("{}/ok", receiver.base))
        .execute(&stack.db)
        .await
        .expect("an update");
    assert_eq!(stack.akhar(&["webhooks", "redeliver", &cut.to_string()]).await, "1");
    assert_eq!(delivery_is(&stack, cut, "delivered").await, (1, None));
    assert_eq!(stack.akhar(&["webhooks", "redeliver", "--dead"]).await, "1");
    assert_eq!(delivery_is(&stack, gone, "delivered").await, (1, None));
}

#[tokio::test]
async fn a_slow_receiver_does_not_delay_others() {
    let stack = stack().await;
    let secret = secret(&stack).await;
    let (slow, other) = (Receiver::start(&[&secret]).await, Receiver::start(&[&secret]).await);
    for _ in 0..20 {
        submit(&stack, &format!("{}/hang", slow.base)).await;
    }
    slow.receives(4, "/hang").await;
    let id = submit(&stack, &format!("{}/ok", other.base)).await;
    assert_eq!(delivery_is(&stack, id, "delivered").await.0, 1);
    assert_eq!(slow.received("/hang").len(), 4, "a receiver has so many attempts at a time");
}

#[tokio::test]
async fn a_slow_path_does_not_delay_another_path_of_its_host() {
    let stack = stack().await;
    let receiver = Receiver::start(&[&secret(&stack).await]).await;
    for n in 0..20 {
        submit(&stack, &format!("{}/hang/a?job={n}", receiver.base)).await;
        submit(&stack, &format!("{}/hang/b?job={n}", receiver.base)).await;
    }
    let n_held = || -> [usize; 2] {
        ["a", "b"]
            .map(|path| (0..20).map(|n| receiver.received(&format!("/hang/{path}?job={n}")).len()).sum())
    };
    until("both slow paths have an attempt", async || n_held().iter().all(|n| *n > 0).then_some(())).await;
    let healthy = submit(&stack, &format!("{}/ok", receiver.base)).await;
    assert_eq!(delivery_is(&stack, healthy, "delivered").await.0, 1);
    let [a, b] = n_held();
    assert!(a <= 4 && b <= 4, "{a} and {b} attempts of one receiver at a time");
}

#[tokio::test]
async fn operators_find_webhooks_and_do_not_see_their_queries() {
    let mut stack = Stack::with().workers(0).set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.1").start().await;
    secret(&stack).await;
    let nobody_listens = format!("http://127.0.0.1:{}", free_port());
    for path in ["orders?token=s3cr3t", "news"] {
        let job = submit(&stack, &format!("{nobody_listens}/{path}")).await;
        send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
        until("the attempt has failed", async || {
            let error = "select last_error from webhook_deliveries where job_id = $1";
            let error: Option<Option<String>> =
                sqlx::query_scalar(error).bind(job).fetch_optional(&stack.db).await.expect("a row");
            error.flatten()
        })
        .await;
    }
    stack.api.kill().await; // nothing is attempted from now on
    let dead = "update webhook_deliveries set state = 'dead', due_at = now(), ended_at = now() where url like '%orders%'";
    sqlx::query(dead).execute(&stack.db).await.expect("an update");
    let listed = async |arguments: &[&str]| stack.akhar(&[&["webhooks", "list"], arguments].concat()).await;
    let all = listed(&[]).await;
    assert!(
        all.contains(&format!("{nobody_listens}/orders?…")) && all.contains("Connection refused"),
        "{all}"
    );
    assert!(
        !all.contains("s3cr3t") && all.lines().any(|line| line.contains("pending") && line.contains(" in ")),
        "{all}"
    );
    for (arguments, [orders, news]) in [
        (vec!["--state", "dead"], [true, false]),
        (vec!["--state", "pending"], [false, true]),
        (vec!["--url", "/ORDERS"], [true, false]),
        (vec!["--account", "test"], [true, true]),
        (vec!["--key", prefix(&stack), "--url", "news"], [false, true]),
        (vec!["--url", "s3cr3t"], [false, false]),
    ] {
        let found = listed(&arguments).await;
        assert_eq!(
            [found.contains("/orders"), found.contains("/news")],
            [orders, news],
            "{arguments:?}: {found}"
        );
    }

    stack.restart_api().await;
    let mut operator = Operator::signed_in(&stack).await;
    let page =
        async |operator: &Operator, query: &str| operator.get(&format!("/ops/webhooks?{query}")).await.text();
    let all = page(&operator, "").await;
    assert!(all.contains("/orders?…") && all.contains("/news") && !all.contains("s3cr3t"), "{all}");
    for (query, [orders, news]) in [
        ("state=dead", [true, false]),
        ("url=NEWS", [false, true]),
        ("account=test&state=pending", [false, true]),
        ("account=nobody", [false, false]),
    ] {
        let found = page(&operator, query).await;
        assert_eq!(
            [found.contains("/orders?…"), found.contains("/news<")],
            [orders, news],
            "{query}: {found}"
        );
    }
    let again =
        operator.post("/ops/webhooks", &[("dead", "all"), ("return", "/ops/webhooks?state=dead")]).await;
    assert_eq!(again.header("location"), "/ops/webhooks?state=dead&done=redelivered&n=1&of=1");
    let viewer = Operator::with_role(&stack, "view").await;
    assert!(!page(&viewer, "").await.contains("again"), "who may only look has no button");
}

#[tokio::test]
async fn a_webhook_is_not_sent_to_an_address_that_is_not_public() {
    let stack = Stack::start().await;
    let refused = async |url: &str| {
        let problem = stack.refused(digit(&stack).header(WEBHOOK, url), 422).await;
        let [(field, code)] = &problem.errors().into_iter().collect::<Vec<_>>()[..] else {
            panic!("{problem:?}")
        };
        assert_eq!(field, "Akhar-Webhook");
        code.clone()
    };
    assert_eq!(refused("https://example.com/").await, "no_secret");
    let receiver = Receiver::start(&[&secret(&stack).await]).await;
    assert_eq!(send(digit(&stack).header(WEBHOOK, "https://name.invalid")).await.status, 200);
    let port = receiver.base.rsplit(':').next().expect("a port");
    for (url, code) in [
        (receiver.base.clone(), "not_allowed"),
        (format!("https://127.0.0.1:{port}/ok"), "not_allowed"),
        (format!("https://[::ffff:127.0.0.1]:{port}/ok"), "not_allowed"),
        (format!("https://2130706433:{port}/ok"), "not_allowed"),
        ("https://169.254.169.254/latest".to_owned(), "not_allowed"),
        ("https://user@example.com/".to_owned(), "not_allowed"),
        ("https://example.com:25/".to_owned(), "not_allowed"),
        ("example.com".to_owned(), "not_a_url"),
        (format!("https://example.com/{}", "x".repeat(2048)), "too_long"),
    ] {
        assert_eq!(refused(&url).await, code, "{url}");
    }
    // A name is resolved when the webhook is sent.
    let id = submit(&stack, &format!("https://localhost:{port}/ok")).await;
    let error = until("the attempt has failed", async || {
        let error = "select last_error from webhook_deliveries where job_id = $1";
        let error: Option<Option<String>> =
            sqlx::query_scalar(error).bind(id).fetch_optional(&stack.db).await.expect("a row");
        error.flatten()
    })
    .await;
    assert_eq!(error, "the name \"localhost\" has no address that is public");
    assert!(receiver.received("/ok").is_empty());
}
