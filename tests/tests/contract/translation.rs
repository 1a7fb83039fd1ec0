//! The operation `translation`: a text in, its translation out, with what every job has.

use akhar_client::{Answer as Answered, TranslationRequest};
use akhar_tests::{Stack, http::send, until};
use serde_json::{Value, json};

use crate::violations;

const PATH: &str = "/v1/models/translation";

fn translate(stack: &Stack, fields: &Value) -> reqwest::RequestBuilder {
    stack.request("POST", PATH).json(fields)
}

/// The document of a translation of `fields`.
async fn translated(stack: &Stack, fields: Value) -> Value {
    let answer = send(translate(stack, &fields)).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "application/json"),
        "{}",
        answer.text()
    );
    answer.json()
}

#[tokio::test]
async fn a_text_is_translated_from_the_language_of_its_script() {
    let stack = Stack::start().await;
    for lang in ["auto", "pa"] {
        let body = translated(&stack, json!({"text": "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ", "lang": lang})).await;
        assert_eq!(
            (&body["translation"], &body["language"]),
            (&json!("the weather is very good today"), &json!("pa"))
        );
        assert!(body["confidence"].as_f64().is_some_and(|c| 0.4 < c && c <= 1.0), "{body}");
    }
    let english = json!({"text": "The weather is very nice today."});
    let answer = send(translate(&stack, &english)).await;
    assert_eq!(answer.json()["language"], "en");
    assert_eq!(answer.json()["translation"], "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ।");
    assert!(answer.header("server-timing").contains("infer;dur="));
    assert_eq!(answer.header("akhar-warnings"), "");
    let text = send(translate(&stack, &english).header("accept", "text/plain")).await;
    assert_eq!(
        (text.header("content-type"), &*text.text()),
        ("text/plain; charset=utf-8", "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ।")
    );
    stack.refused(translate(&stack, &english).header("accept", "image/png"), 406).await;
}

#[tokio::test]
async fn each_line_of_a_text_becomes_a_line() {
    let stack = Stack::start().await;
    let body = translated(&stack, json!({"text": "\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\r\n\r\n123\nਧੰਨਵਾਦ। ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ।\n"})).await;
    let lines: Vec<&str> = body["translation"].as_str().expect("a text").split('\n').collect();
    assert_eq!(
        (lines.len(), lines[0], lines[1], lines[2], lines[3], lines[5]),
        (6, "", "Hello", "", "123", ""),
        "{body}"
    );
    assert!(lines[4].to_lowercase().contains("thank") && lines[4].to_lowercase().contains("hello"), "{body}");
    let nothing = translated(&stack, json!({"text": "123"})).await;
    assert_eq!(nothing, json!({"translation": "123", "language": "pa"}));
    let long = "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ।\n".repeat(40);
    let body = translated(&stack, json!({"text": long})).await;
    let lines: Vec<&str> = body["translation"].as_str().expect("a text").lines().collect();
    assert!(lines.len() == 40 && lines.iter().all(|line| *line == lines[0]), "{body}");
}

#[tokio::test]
async fn a_translation_has_the_form_and_the_script_that_are_asked_for() {
    let stack = Stack::start().await;
    let of = async |more: Value| {
        let mut fields = json!({"text": "He has two hundred and fifty rupees.", "lang": "en"});
        fields.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let answer = send(translate(&stack, &fields)).await;
        (
            answer.json()["translation"].as_str().expect("a text").to_owned(),
            answer.header("akhar-warnings").to_owned(),
        )
    };
    assert!(of(json!({})).await.0.contains("ਢਾਈ ਸੌ") || of(json!({})).await.0.contains("ਦੋ ਸੌ ਪੰਜਾਹ"));
    assert!(of(json!({"format": "written"})).await.0.contains("250"));
    assert!(of(json!({"format": "written", "digits": "gurmukhi"})).await.0.contains("੨੫੦"));
    let (latin, warnings) = of(json!({"script": "latin"})).await;
    assert!(latin.is_ascii() || latin.contains('ā') || latin.contains('ṃ'), "{latin}");
    assert!(!latin.chars().any(|c| ('\u{a00}'..='\u{a7f}').contains(&c)) && warnings.is_empty(), "{latin}");
    let (shahmukhi, warnings) = of(json!({"script": "shahmukhi"})).await;
    assert!(shahmukhi.contains('\u{6d2}') || shahmukhi.contains('\u{6c1}'), "{shahmukhi}");
    assert!(warnings.contains("Shahmukhi text is approximate"), "{warnings}");
}

#[tokio::test]
async fn lines_that_are_probably_wrong_are_named() {
    let stack = Stack::start().await;
    let answer = send(translate(&stack, &json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\nਖਗਘਙ ਠਝਢ ਞਙਘ ਫਛਥ ਢਠਝ"}))).await;
    let warning = "low confidence: the translation is probably wrong, in line 2";
    assert_eq!(answer.header("akhar-warnings"), format!("{warning:?}"));
    let job = stack.get(&format!("/v1/jobs/{}", answer.header("akhar-job"))).await.json();
    assert_eq!((&job["warnings"], &job["result"]), (&json!([warning]), &answer.json()));
    assert_eq!(job["confidence"], answer.json()["confidence"]);
    assert!(job["confidence"].as_f64().is_some_and(|confidence| confidence < 0.4), "{job}");
    assert_eq!((&job["operation"], &job["transcribed_s"]), (&json!("translation"), &Value::Null));
}

#[tokio::test]
async fn what_is_wrong_is_said_by_field() {
    let stack = Stack::with().workers(0).start().await;
    let refused = async |fields: Value| stack.refused(translate(&stack, &fields), 422).await;
    assert_eq!(refused(json!({})).await.errors(), violations([("text", "missing")]));
    for (text, code) in [
        (json!(" \n"), "too_short"),
        (json!("ਕ".repeat(5_001)), "too_long"),
        (json!("ਕ\0"), "character_not_allowed"),
        (json!(1), "wrong_type"),
    ] {
        assert_eq!(refused(json!({"text": text})).await.errors(), violations([("text", code)]));
    }
    let all = refused(
        json!({"text": 1, "lang": "fr", "format": "x", "script": "arabic", "language": "pa", "top-k": 1}),
    );
    let expected = violations([
        ("text", "wrong_type"),
        ("lang", "not_a_choice"),
        ("format", "not_a_choice"),
        ("script", "not_a_choice"),
        ("language", "unknown"),
        ("top-k", "unknown"),
    ]);
    assert_eq!(all.await.errors(), expected);
    let digits = refused(json!({"text": "ਕ", "digits": "gurmukhi"})).await;
    assert_eq!(digits.errors(), violations([("digits", "unsupported")]));
    stack.refused(stack.anonymous("POST", PATH).json(&json!({"text": "ਕ"})), 401).await;
    stack.refused(stack.request("POST", PATH).body("ਕ"), 415).await;
}

#[tokio::test]
async fn a_translation_is_a_job_with_its_guarantees() {
    let mut stack = Stack::with().workers(0).start().await;
    let greeting = json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"});
    let submit = |key: &str| {
        let request =
            translate(&stack, &greeting).header("prefer", "respond-async").header("akhar-group", "texts");
        request.header("idempotency-key", key).header("akhar-label", "customer=42")
    };
    let accepted = send(submit("a-key")).await;
    let job = accepted.job();
    assert_eq!(send(submit("a-key")).await.job(), job, "it is the same job");
    let other = translate(&stack, &json!({"text": "ਧੰਨਵਾਦ"})).header("idempotency-key", "a-key");
    let reused = stack.refused(other, 422).await;
    assert_eq!(reused.errors(), violations([("Idempotency-Key", "reused")]));
    let cancelled = send(submit("another")).await.job();
    assert_eq!(
        send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await.json()["state"],
        "cancelled"
    );
    let limited = stack.keys(&["create", "--name", "limited", "--max-queued", "1"]).await;
    let queued = || {
        stack.anonymous("POST", PATH).bearer_auth(&limited).json(&greeting).header("prefer", "respond-async")
    };
    assert_eq!(send(queued()).await.status, 202);
    stack.refused(queued(), 429).await;
    let brief =
        send(translate(&stack, &greeting).header("prefer", "wait=1").header("akhar-retain", "60")).await;
    assert_eq!((brief.status, brief.header("preference-applied")), (202, "wait=1"));
    stack.add_worker().await;
    let ended = stack.get(&format!("/v1/jobs/{job}?wait=60")).await.json();
    assert_eq!(
        (&ended["state"], &ended["group"], &ended["labels"]["customer"]),
        (&json!("succeeded"), &json!("texts"), &json!("42"))
    );
    assert_eq!(ended["result"]["translation"], "Hello");
    let text = stack.request("GET", &format!("/v1/jobs/{job}/result")).header("accept", "text/plain");
    assert_eq!(send(text).await.text(), "Hello");
    let events = stack.get(&format!("/v1/jobs/{job}/events")).await.text();
    assert!(
        events.contains("event: done")
            && events.contains("\"translation\":\"Hello\"")
            && !events.contains("event: progress"),
        "{events}"
    );
    let listed = stack.get("/v1/jobs?operation=translation&group=texts&state=succeeded").await.json();
    assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await.status, 204);
    assert_eq!(stack.get(&format!("/v1/jobs/{job}")).await.status, 410);
}

#[tokio::test]
async fn a_token_is_for_translation_alone() {
    let origin = "https://app.example";
    let stack = Stack::with().set_text("AKHAR_CORS_ORIGINS", origin).start().await;
    let creation =
        stack.request("POST", "/v1/tokens").json(&json!({"operation": "translation", "origin": origin}));
    let token = send(creation).await.json()["token"].as_str().expect("a token").to_owned();
    let from_page = |path: &str, fields: Value| {
        stack.anonymous("POST", path).bearer_auth(&token).header("origin", origin).json(&fields)
    };
    let answer = send(from_page(PATH, json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}))).await;
    assert_eq!(answer.json()["translation"], "Hello");
    stack.refused(from_page("/v1/models/handwriting-generator", json!({"text": "ਸਤਿ"})), 403).await;
}

#[tokio::test]
async fn a_translation_that_is_cancelled_stops() {
    let stack = Stack::start().await;
    let long = "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ। ਅਸੀਂ ਬਾਜ਼ਾਰ ਜਾ ਰਹੇ ਹਾਂ।\n".repeat(100);
    let request = translate(&stack, &json!({"text": long})).header("prefer", "respond-async");
    let job = send(request).await.job();
    stack.job_is(job, "running").await;
    send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    until("the worker stops it", async || {
        stack.workers[0].log().iter().any(|line| line.contains("attempt stopped")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn the_client_translates() {
    let stack = Stack::start().await;
    let request = TranslationRequest {
        text: "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ".to_owned(), ..TranslationRequest::default()
    };
    let client = stack.client(&stack.key);
    let Ok(Answered::Done(body)) = client.translation(&request).await else { panic!("not done") };
    assert_eq!((&*body.translation, &*body.language), ("Hello", "pa"));
    let Ok(Answered::Accepted(job)) = client.asynchronous().translation(&request).await else {
        panic!("not accepted")
    };
    let ended = stack.client(&stack.key).ended_translation(job.id).await.expect("a result");
    assert_eq!(ended, body);
}
