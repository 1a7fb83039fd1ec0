//! The operations page: who may open it, and what it shows and changes. `ops_pages` looks at it in a browser.

use akhar_tests::{
    Form, Stack,
    http::send,
    images::fixture_of,
    ops::{Operator, record_day},
};
use regex::Regex;
use serde_json::{Value, json};
use uuid::Uuid;

const TEXT: &str = "ਗੁਪਤ ਸੁਨੇਹਾ";

/// Submits an asynchronous handwriting job with a text that no page may show.
async fn submit(stack: &Stack) -> Uuid {
    let request = stack.request("POST", "/v1/models/handwriting-generator").header("prefer", "respond-async");
    let body = json!({"text": TEXT, "with-image": false}).to_string();
    send(request.header("content-type", "application/json").header("x-request-id", "order-7").body(body))
        .await
        .job()
}

/// Makes a job fail with this error, as if the service could not process it.
async fn fail(stack: &Stack, job: Uuid, error: &str) {
    let failed = sqlx::query(
        "update jobs set state = 'failed', outcome = '{\"kind\":\"failed\"}', ended_at = now(), attempt = 3, last_error = $2
         where id = $1",
    );
    failed.bind(job).bind(error).execute(&stack.db).await.expect("an update");
}

async fn count(stack: &Stack, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&stack.db).await.expect(query)
}

#[tokio::test]
async fn the_overview_has_a_row_for_each_group_until_its_jobs_have_ended() {
    let mut stack = Stack::with().workers(0).start().await;
    let operator = Operator::signed_in(&stack).await;
    let image = fixture_of("੫");
    let submit = || {
        let request = stack.post(image.operation, &Form::upload(&image.bytes));
        send(request.header("akhar-group", "night-run").header("prefer", "respond-async"))
    };
    let mut last = submit().await.job();
    for _ in 0..2 {
        last = submit().await.job();
    }
    send(stack.request("DELETE", &format!("/v1/jobs/{last}"))).await;
    let waiting = "id=\"group0-waiting\">2<";
    let text = akhar_tests::until("the page is read again", async || {
        let text = operator.get("/ops").await.text();
        text.contains(waiting).then_some(text)
    })
    .await;
    assert!(text.contains("night-run") && text.contains("id=\"group0-cancelled\">1<"), "{text}");
    stack.add_worker().await;
    stack.jobs_are(2, "succeeded").await;
    akhar_tests::until("the group has ended", async || {
        (!operator.get("/ops").await.text().contains("night-run")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_overview_has_the_last_day_of_each_queue_for_every_role() {
    let stack = Stack::with().workers(0).start().await;
    let recorded = "select count(distinct queue) from queue_minutes";
    akhar_tests::until("the process records a minute", async || {
        (count(&stack, recorded).await == 3).then_some(())
    })
    .await;
    record_day(&stack.db).await;
    let operator = Operator::with_role(&stack, "view").await;
    let page = operator.get("/ops").await.text();
    for queue in ["quick", "speech", "live"] {
        for chart in ["rates", "wait"] {
            assert!(page.contains(&format!("aria-labelledby=\"{queue}-{chart}-title\"")), "{queue} {chart}");
        }
    }
    assert_eq!(page.matches("not recorded: 1 min.</desc>").count(), 6);
    // One minute is missing, which is an area of its own.
    let gap = Regex::new(r#"class="missing" d="M(\d+) 1000V0H(\d+)V1000z""#).expect("a pattern");
    let gaps: Vec<_> = gap.captures_iter(&page).map(|found| found.extract::<2>().1).collect();
    let numbers = gaps.iter().map(|gap| gap.map(|x| x.parse::<u32>().expect("a number")));
    assert!(gaps.len() == 6 && numbers.clone().all(|[from, to]| to == from + 1), "{gaps:?}");
    for shown in [
        "/min</text>",
        " s</text>",
        ":00</text>",
        "<th role=\"columnheader\" scope=\"col\">Minutes recorded</th>",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[tokio::test]
async fn the_charts_mark_what_changed() {
    let stack = Stack::start().await;
    record_day(&stack.db).await;
    stack.akhar(&["queues", "pause", "speech", "--why", "a new model"]).await;
    let page = Operator::with_role(&stack, "view").await.get("/ops").await.text();
    let mark = Regex::new(r#"<line class="mark"[^>]*><title>([^<]*)</title>"#).expect("a pattern");
    let marks: Vec<&str> = mark.captures_iter(&page).map(|found| found.extract::<1>().1[0]).collect();
    for changed in [
        "queue.pause speech why=a new model by ",
        concat!(" started: akhar ", env!("CARGO_PKG_VERSION")),
        "model of digit-recognition: ",
    ] {
        let n = marks.iter().filter(|mark| mark.contains(changed)).count();
        assert_eq!(n, 6, "{changed} is in each chart: {marks:?}");
        assert!(page.split_once("What changed").is_some_and(|(_, list)| list.contains(changed)), "{page}");
    }
}

#[tokio::test]
async fn only_an_admin_key_opens_the_operations_page() {
    let stack = Stack::with().workers(0).start().await;
    let admin = stack.keys(&["create", "--name", "night shift", "--role", "admin"]).await;
    assert!(stack.keys(&["list"]).await.lines().any(|line| line.contains("works, admin  night shift")));
    for page in [
        "/ops",
        "/ops/jobs",
        "/ops/errors",
        "/ops/webhooks",
        "/ops/keys",
        &format!("/ops/jobs/{}", Uuid::nil()),
    ] {
        let answer = Operator::anonymous(&stack).get(page).await;
        assert_eq!((answer.status, answer.header("location")), (303, "/ops/login"), "{page}");
    }
    let wrong = format!("{}{}", &admin[..admin.len() - 1], if admin.ends_with('a') { 'b' } else { 'a' });
    for key in ["", "ak_", &wrong, &stack.key] {
        let refused = Operator::anonymous(&stack).sign_in(key).await;
        assert_eq!(refused.status, 403, "{key}");
        assert!(
            !refused.headers.get_all("set-cookie").iter().any(|c| c.as_bytes().starts_with(b"akhar_ops="))
        );
    }
    assert_eq!(count(&stack, "select count(*) from ops_sessions").await, 0);

    let mut operator = Operator::anonymous(&stack);
    let entered = operator.sign_in(&admin).await;
    assert_eq!((entered.status, entered.header("location")), (303, "/ops"));
    let page = operator.get("/ops").await;
    assert_eq!(page.status, 200);
    assert!(page.text().contains("night shift") && !page.text().contains(&admin[12..]));
    assert_eq!(send(stack.anonymous("GET", "/v1/jobs").bearer_auth(&admin)).await.status, 200);

    for ended in [
        "update ops_sessions set created_at = now() - interval '721 minutes'",
        "update ops_sessions set created_at = now(), seen_at = now() - interval '61 minutes'",
    ] {
        sqlx::raw_sql(ended).execute(&stack.db).await.expect("an update");
        assert_eq!(operator.get("/ops").await.status, 303, "{ended}");
    }
    assert_eq!(operator.sign_in(&admin).await.status, 303);
    assert_eq!(operator.post("/ops/logout", &[]).await.header("location"), "/ops/login");
    assert_eq!(operator.get("/ops").await.status, 303);
    assert_eq!(operator.sign_in(&admin).await.status, 303);
    stack.keys(&["revoke", &admin[3..11]]).await;
    assert_eq!(operator.get("/ops").await.status, 303);
    assert_eq!(operator.get("/ops/events").await.status, 204);
}

#[tokio::test]
async fn a_session_is_protected_in_the_browser_and_against_other_sites() {
    let stack = Stack::with().workers(0).set_text("AKHAR_TRUSTED_PROXIES", "127.0.0.1").start().await;
    let admin = stack.keys(&["create", "--name", "admin", "--role", "admin"]).await;
    let mut operator = Operator::anonymous(&stack);
    operator.proxied("https");
    let entered = operator.sign_in(&admin).await;
    let cookies: Vec<_> =
        entered.headers.get_all("set-cookie").iter().map(|c| c.to_str().expect("ASCII")).collect();
    let session = cookies.iter().find(|cookie| cookie.starts_with("akhar_ops=")).expect("a session");
    assert!(session.ends_with("; Path=/ops; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"), "{session}");
    let page = operator.get("/ops").await;
    let policy = page.header("content-security-policy");
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"));
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert!(
        !page.text().contains("style=")
            && !page.text().contains("<style")
            && !page.text().contains("onclick")
    );

    let pause = [("queue", "quick"), ("mode", "paused")];
    for refused in [
        operator.send_form("/ops/queues", &pause, None, None).await,
        operator.send_form("/ops/queues", &pause, Some("0"), None).await,
        operator
            .send_form("/ops/queues", &pause, Some(&operator.token().await), Some("https://other.example"))
            .await,
        operator.send_form("/ops/queues", &[("token", &"x".repeat(70_000))], None, None).await,
    ] {
        assert_eq!(refused.status, 403);
    }
    assert_eq!(count(&stack, "select count(*) from queue_controls").await, 0);
    assert_eq!(operator.post("/ops/queues", &pause).await.status, 303);
    assert_eq!(count(&stack, "select count(*) from queue_controls where mode = 'paused'").await, 1);

    let mut guesser = Operator::anonymous(&stack);
    for _ in 0..10 {
        assert_eq!(guesser.sign_in("ak_guess").await.status, 403);
    }
    let limited = guesser.sign_in(&admin).await;
    assert_eq!((limited.status, limited.header("retry-after")), (429, "60"));
    assert_eq!(operator.sign_in(&admin).await.status, 303, "another client of the proxy");
}

#[tokio::test]
async fn a_client_that_is_no_proxy_cannot_pass_for_others_when_it_signs_in() {
    let stack = Stack::with().workers(0).start().await;
    let mut guesser = Operator::anonymous(&stack);
    for _ in 0..10 {
        assert_eq!(guesser.sign_in("ak_guess").await.status, 403);
    }
    guesser.proxied("https");
    assert_eq!(guesser.sign_in("ak_guess").await.status, 429);
}

#[tokio::test]
async fn operators_find_and_change_jobs_on_the_operations_page() {
    let mut stack = Stack::with().workers(0).start().await;
    let mut operator = Operator::signed_in(&stack).await;
    let (first, second, third) = (submit(&stack).await, submit(&stack).await, submit(&stack).await);
    let account: Uuid = stack.row("select account_id from jobs where id = $1", first).await;
    fail(&stack, first, "it <broke>").await;
    let found = async |operator: &Operator, query: &str| -> Vec<bool> {
        let page = operator.get(&format!("/ops/jobs?{query}")).await.text();
        [first, second, third].iter().map(|id| page.contains(&format!("/ops/jobs/{id}"))).collect()
    };
    let prefix = &stack.key[3..11];
    for (query, expected) in [
        (String::new(), [true, true, true]),
        ("state=failed".to_owned(), [true, false, false]),
        ("state=queued&queue=quick".to_owned(), [false, true, true]),
        ("state=succeeded".to_owned(), [false; 3]),
        (format!("by=job&q={second}"), [false, true, false]),
        ("by=request&q=order-7".to_owned(), [true, true, true]),
        (format!("by=request&q={}", Uuid::now_v7()), [false; 3]),
        (format!("by=account&q={prefix}&state=failed"), [true, false, false]),
        (format!("by=account&q={account}"), [true, true, true]),
        ("by=error&q=it%20%3Cbroke%3E".to_owned(), [true, false, false]),
        ("by=job&q=nonsense".to_owned(), [false; 3]),
    ] {
        assert_eq!(found(&operator, &query).await, expected, "{query}");
    }
    for page in
        ["/ops/jobs".to_owned(), "/ops".to_owned(), "/ops/errors".to_owned(), format!("/ops/jobs/{first}")]
    {
        let text = operator.get(&page).await.text();
        assert!(!text.contains(TEXT) && !text.contains("ਗੁਪਤ"), "{page} shows what a caller sent");
        assert!(!text.contains("<broke>"), "{page} shows an error as HTML");
    }
    assert!(operator.get("/ops/errors").await.text().contains("it &lt;broke&gt;"));

    let retried = operator.post("/ops/errors", &[("error", "it <broke>")]).await;
    assert_eq!(retried.header("location"), "/ops/errors?done=retried&n=1&of=1");
    stack.job_is(first, "queued").await;
    let back = ("return", "/ops/jobs?state=queued");
    let ids = [first.to_string(), second.to_string(), third.to_string()];
    let cancelled =
        operator.post("/ops/jobs", &[("action", "cancel"), ("id", &ids[0]), ("id", &ids[1]), back]).await;
    assert_eq!(cancelled.header("location"), "/ops/jobs?state=queued&done=cancelled&n=2&of=2");
    let deleted = operator.post("/ops/jobs", &[("action", "delete"), ("id", &ids[0]), ("id", &ids[2])]).await;
    assert_eq!(deleted.header("location"), "/ops/jobs?done=deleted&n=1&of=2", "one still waits");
    assert_eq!(operator.get(&format!("/ops/jobs/{first}")).await.status, 404);
    fail(&stack, third, "again").await;
    let retried = operator
        .post("/ops/jobs", &[("action", "retry"), ("id", &ids[2]), ("return", "//evil.example")])
        .await;
    assert_eq!(retried.header("location"), "/ops/jobs?done=retried&n=1&of=1", "it returns to no other site");
    stack.add_worker().await;
    stack.job_is(third, "succeeded").await;
    let life = operator.get(&format!("/ops/jobs/{third}")).await.text();
    assert!(life.contains("order-7") && life.contains("again") && !life.contains("points"), "{life}");
}

#[tokio::test]
async fn all_jobs_that_a_search_finds_are_changed_after_a_look() {
    let stack = Stack::with().workers(0).start().await;
    let mut operator = Operator::signed_in(&stack).await;
    for _ in 0..60 {
        submit(&stack).await;
    }
    let first: Uuid =
        sqlx::query_scalar("select min(id::text)::uuid from jobs").fetch_one(&stack.db).await.expect("a job");
    fail(&stack, first, "it broke").await;
    assert_eq!(
        operator
            .get("/ops")
            .await
            .text()
            .split("id=\"kept\">")
            .nth(1)
            .and_then(|rest| rest.split('<').next()),
        Some("60")
    );
    let all = ("all", "yes");
    let queued = ("return", "/ops/jobs?state=queued");
    let page = operator.post("/ops/jobs", &[("action", "cancel"), queued, all]).await;
    let text = page.text();
    assert!(
        page.status == 200 && text.contains("Cancel: 59") && text.contains("handwriting-generator"),
        "{text}"
    );
    assert_eq!(
        count(&stack, "select count(*) from jobs where state = 'queued'").await,
        59,
        "nothing is changed yet"
    );
    for wrong in ["/ops/jobs?by=job&q=nonsense", "/ops/jobs?by=nonsense"] {
        let refused = [("action", "delete"), ("return", wrong), all, ("confirmed", "60")];
        assert_eq!(operator.post("/ops/jobs", &refused).await.status, 404, "{wrong}");
    }
    let confirmed = ("confirmed", "59");
    let cancelled = operator.post("/ops/jobs", &[("action", "cancel"), queued, all, confirmed]).await;
    assert_eq!(cancelled.header("location"), "/ops/jobs?state=queued&done=cancelled&n=59&of=59");
    let failed = ("return", "/ops/jobs?state=failed&by=account&q=test");
    let retried = operator.post("/ops/jobs", &[("action", "retry"), failed, all, ("confirmed", "1")]).await;
    assert!(retried.header("location").ends_with("done=retried&n=1&of=1"), "{retried:?}");
    stack.job_is(first, "queued").await;
}

#[tokio::test]
async fn operators_change_queues_workers_and_keys_on_the_operations_page() {
    let stack = Stack::start().await;
    let mut operator = Operator::signed_in(&stack).await;
    let workers = stack.akhar_json(&["workers", "list"]).await;
    let name = workers[0]["name"].as_str().expect("a name").to_owned();
    assert!(operator.get("/ops").await.text().contains(&name));
    for (drain, expected) in [("true", true), ("false", false)] {
        operator.post("/ops/workers", &[("name", &name), ("drain", drain)]).await;
        assert_eq!(stack.akhar_json(&["workers", "list"]).await[0]["is_draining"], expected);
    }
    for mode in ["paused", "draining", "open"] {
        operator.post("/ops/queues", &[("queue", "speech"), ("mode", mode)]).await;
        assert_eq!(stack.akhar_json(&["queues", "list"]).await[1]["mode"], mode);
    }
    let picture = fixture_of("੫");
    assert_eq!(send(stack.post(picture.operation, &Form::upload(&picture.bytes))).await.status, 200);
    let event = operator.first_event("/ops/events").await;
    assert_eq!(event["values"]["quick-waiting"], "0", "{event}");
    assert_eq!(event["values"][format!("{name}-jobs")], "0", "{event}");

    let other = stack.keys(&["create", "--name", "other", "--max-queued", "7"]).await;
    let page = operator.get("/ops/keys").await.text();
    assert!(page.contains(&other[3..11]) && !page.contains(&other[12..]) && page.contains("0 / 7"), "{page}");
    operator.post("/ops/keys", &[("prefix", &other[3..11])]).await;
    assert!(
        stack.keys(&["list"]).await.lines().any(|line| line.contains("revoked") && line.contains("other"))
    );
}

#[tokio::test]
async fn the_overview_offers_the_larger_model_when_most_texts_are_probably_wrong() {
    let mut stack = Stack::with().workers(0).start().await;
    let offer = "akhar models use speech-recognition indicconformer-pa --lang pa";
    let other = "[{\"text\": \"translation\", \"start\": 0, \"end\": 2}]";
    let wrong = "[{\"text\": \"transcription\", \"start\": 0, \"end\": 2}]";
    let ended = async |stack: &Stack, n: i32, lang: &str, text: &str, parts: &str, age_h: i32| {
        let add = sqlx::query(
            "insert into jobs (id, account_id, operation, queue, priority, parameters, max_attempts, request_id, state, attempt,
                 created_at, started_at, ended_at, outcome)
             select gen_random_uuid(), account_id, 'speech-recognition', 'speech', 0, jsonb_build_object('lang', $2), 3, 'x',
                 'succeeded', 1, at, at, at,
                 jsonb_build_object('kind', 'transcription', 'transcription', $3, 'seconds', 2, 'probably_wrong', $4::jsonb)
             from (select account_id, now() - make_interval(hours => $5) as at from api_keys limit 1) as key,
                 generate_series(1, $1)",
        );
        add.bind(n).bind(lang).bind(text).bind(parts).bind(age_h).execute(&stack.db).await.expect("jobs");
    };
    ended(&stack, 7, "pa", "ਘਰ", "[]", 1).await;
    ended(&stack, 7, "pa", "ਘਰ", wrong, 1).await;
    // None of these counts: translations, silence, English, yesterday.
    ended(&stack, 9, "pa", "ਘਰ", wrong, 25).await;
    ended(&stack, 9, "pa", "", wrong, 1).await;
    ended(&stack, 9, "en", "home", wrong, 1).await;
    ended(&stack, 1, "pa", "ਘਰ", other, 1).await;
    let operator = Operator::signed_in(&stack).await;
    let page = operator.get("/ops").await.text();
    assert!(!page.contains(offer), "{page}");

    ended(&stack, 2, "pa", "ਘਰ", wrong, 1).await;
    stack.restart_api().await; // it counts texts every ten minutes
    let operator = Operator::signed_in(&stack).await;
    let event = operator.first_event("/ops/events").await;
    let said = |alert: &Value| alert.as_str().is_some_and(|alert| alert.contains(offer));
    assert!(event["alerts"].as_array().is_some_and(|alerts| alerts.iter().any(said)), "{event}");
    let page = operator.get("/ops").await.text();
    assert!(page.contains(offer), "{page}");
}
