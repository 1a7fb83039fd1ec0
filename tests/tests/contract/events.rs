//! The events of a job: what they say, how a stream is continued, and how many streams there may be.

use akhar_jobs::{FreePlaces, Part, store};
use akhar_requests::SPEECH;
use akhar_tests::{
    Form, Stack,
    events::{Event, Events},
    http::send,
    speech::recording,
    until,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::operations;

/// Submits a recording of this many sentences, each of two seconds, and returns its job.
async fn submit_recording(stack: &Stack, n_sentences: usize, with_timestamps: bool) -> Uuid {
    let form = Form::upload(&recording("pa-water.mp3").bytes.repeat(n_sentences));
    let form = form.text("with-timestamps", &with_timestamps.to_string());
    send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job()
}

async fn submit_image(stack: &Stack) -> Uuid {
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    send(request.header("prefer", "respond-async")).await.job()
}

async fn follow(stack: &Stack, job: Uuid, last: Option<&str>) -> Events {
    Events::open(stack.request("GET", &path(job)), last).await
}

fn path(job: Uuid) -> String {
    format!("/v1/jobs/{job}/events")
}

/// The data of all events with this name.
fn all(events: &[Event], name: &str) -> Vec<Value> {
    events.iter().filter(|event| event.name == name).map(|event| event.data.clone()).collect()
}

async fn n_stored_segments(stack: &Stack) -> i64 {
    sqlx::query_scalar("select count(*) from segments").fetch_one(&stack.db).await.expect("a count")
}

#[tokio::test]
async fn the_events_of_a_recording_have_its_states_its_progress_and_its_segments() {
    let mut stack = Stack::with().workers(0).start().await;
    let (before, job) = (submit_recording(&stack, 1, false).await, submit_recording(&stack, 90, true).await);
    let mut stream = follow(&stack, job, None).await;
    let first = stream.next().await.expect("an event");
    assert_eq!(
        (first.name.as_str(), first.data),
        ("state", json!({"state": "queued", "attempt": 0, "place": 2}))
    );
    stack.add_worker().await;
    let mut events = Vec::new();
    while all(&events, "segment").len() < 3 {
        events.push(stream.next().await.expect("more events"));
    }
    drop(stream);
    let last = events.last().expect("an event").id.clone();
    assert_eq!(last, "1.3");
    events.extend(follow(&stack, job, Some(&last)).await.rest().await);

    let document = stack.get(&format!("/v1/jobs/{job}")).await.json();
    assert_eq!(all(&events, "done"), std::slice::from_ref(&document));
    let segments = document["result"]["timestamps"].as_array().expect("asked for").clone();
    assert!(segments.len() > 6, "{segments:?}");
    assert_eq!(all(&events, "segment"), segments);
    let progress: Vec<f64> =
        all(&events, "progress").iter().filter_map(|data| data["transcribed_s"].as_f64()).collect();
    assert!(progress.is_sorted(), "{progress:?}");

    // After the end, a stream gives the same segments as before.
    let again = follow(&stack, job, Some("1.3")).await.rest().await;
    assert_eq!(all(&again, "segment"), segments[3..]);
    let whole = follow(&stack, job, None).await.rest().await;
    assert_eq!(all(&whole, "segment"), segments);
    let end = whole.last().expect("the end");
    assert_eq!((end.name.as_str(), &end.data), ("done", &document));
    let answer = send(stack.request("GET", &path(job)).header("last-event-id", &end.id)).await;
    assert_eq!((answer.status, answer.body.len()), (204, 0));

    // The segments need not be part of the result.
    stack.job_is(before, "succeeded").await;
    let untimed = follow(&stack, before, None).await.rest().await;
    let texts: Vec<Value> =
        all(&untimed, "segment").iter().map(|data| data["transcription"].clone()).collect();
    assert_eq!(texts, [all(&untimed, "done")[0]["result"]["transcription"].clone()]);
    assert_eq!(n_stored_segments(&stack).await, 0, "they are deleted when the job ends");
}

#[tokio::test]
async fn after_a_crash_the_segments_come_again_under_other_ids() {
    let mut stack = Stack::with().workers(0).start().await;
    let job = submit_recording(&stack, 2, true).await;
    // A worker that claims the job, writes some progress and then dies.
    store::beat(&stack.db, "dead-worker", &[]).await.expect("a heartbeat");
    let claimed =
        store::claim(&stack.db, "dead-worker", &[FreePlaces::any(SPEECH, 1)]).await.expect("a claim");
    let part =
        |n: u8| Part { start_s: n.into(), end_s: f64::from(n) + 0.5, text: n.to_string(), channel: None };
    let note = async |progress_s: f64, n_before: usize, parts: &[Part]| {
        let noted = store::note_progress(&stack.db, claimed[0].fence, progress_s, n_before, parts).await;
        assert!(noted.expect("it is written"), "the claim is current");
    };
    note(2.75, 0, &[part(1), part(2)]).await;
    let mut stream = follow(&stack, job, None).await;
    let mut events = Vec::new();
    while all(&events, "progress").is_empty() {
        events.push(stream.next().await.expect("more events"));
    }
    note(3.5, 2, &[part(3)]).await;
    while all(&events, "progress").len() < 2 {
        events.push(stream.next().await.expect("more events"));
    }
    let found: Vec<(&str, &str)> =
        events.iter().map(|event| (event.name.as_str(), event.id.as_str())).collect();
    let expected = [
        ("state", "1.0"),
        ("segment", "1.1"),
        ("segment", "1.2"),
        ("progress", "1.2"),
        ("segment", "1.3"),
        ("progress", "1.3"),
    ];
    assert_eq!(found, expected);
    assert_eq!(events[0].data, json!({"state": "running", "attempt": 1}));
    assert_eq!(events[2].data, json!({"start": 2.0, "end": 2.5, "transcription": "2"}));
    assert_eq!(all(&events, "progress"), [json!({"transcribed_s": 2.75}), json!({"transcribed_s": 3.5})]);
    drop(stream);
    let stream = follow(&stack, job, Some("1.2")).await;

    stack.add_worker().await;
    let (known, second): (Vec<Event>, Vec<Event>) =
        stream.rest().await.into_iter().partition(|event| event.id.starts_with("1."));
    assert_eq!(all(&known, "segment"), [json!({"start": 3.0, "end": 3.5, "transcription": "3"})]);
    let done = &all(&second, "done")[0];
    assert_eq!(done["attempt"], 2);
    assert_eq!(all(&second, "segment"), *done["result"]["timestamps"].as_array().expect("asked for"));
    let ids = second.iter().filter(|event| event.name == "segment").map(|event| &event.id);
    assert!(ids.map(String::as_str).eq(["2.1"]));
    assert_eq!(n_stored_segments(&stack).await, 0);
    // What a client knows of an attempt that failed does not count.
    let again = follow(&stack, job, Some("1.1")).await.rest().await;
    assert_eq!(all(&again, "segment"), all(&second, "segment"));
}

#[tokio::test]
async fn the_number_of_streams_of_an_account_is_limited() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_REQUESTS", 10).start().await;
    let job = submit_image(&stack).await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    stack.refused(stack.anonymous("GET", &path(job)).bearer_auth(&other), 404).await;
    stack.refused(stack.anonymous("GET", &path(job)), 401).await;
    let stream = follow(&stack, job, None).await;
    let refused = stack.refused(stack.request("GET", &path(job)), 429).await;
    assert_eq!(refused.slug, "too-many-streams");
    drop(stream);
    until("the place is free again", async || {
        let answer = stack.request("GET", &path(job)).send().await.expect("an answer");
        (answer.status() == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_stream_ends_with_its_job_or_with_the_process() {
    let mut stack = Stack::with().workers(0).start().await;
    let (cancelled, waiting) = (submit_image(&stack).await, submit_image(&stack).await);
    let (one, mut two) = (follow(&stack, cancelled, None).await, follow(&stack, waiting, None).await);
    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await.status, 200);
    let events = one.rest().await;
    let end = events.last().expect("the end");
    assert_eq!((end.name.as_str(), &end.data["state"]), ("done", &json!("cancelled")));
    let refused = stack.refused(stack.request("GET", &path(waiting)).header("last-event-id", "x"), 422).await;
    assert_eq!(refused.errors(), [("Last-Event-ID".to_owned(), "not_an_event".to_owned())].into());
    stack.refused(stack.request("GET", &path(waiting)).header("accept", "application/json"), 406).await;

    assert_eq!(two.next().await.expect("an event").name, "state");
    stack.api.signal(Signal::TERM);
    assert!(all(&two.rest().await, "done").is_empty());
    assert!(stack.api.ended().await.success());
}
