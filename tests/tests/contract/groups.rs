//! Groups of jobs and labels: the headers, the counts, the lists, and what other accounts see.

use akhar_tests::{
    Answer, Form, Stack, bulk::Folders, events::Events, http::send, process::run, speech::recording, until,
};
use reqwest::RequestBuilder;
use rustix::process::Signal;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::operations;

const GROUP: &str = "akhar-group";
const LABEL: &str = "akhar-label";

fn digit(stack: &Stack) -> RequestBuilder {
    let image = &operations()[0];
    stack.post(image.operation, &Form::upload(&image.bytes))
}

/// Submits an asynchronous job in this group.
async fn submit(stack: &Stack, group: &str) -> Uuid {
    send(digit(stack).header(GROUP, group).header("prefer", "respond-async")).await.job()
}

/// The counts in the document of a group: queued, running, succeeded, failed and cancelled jobs.
fn counts(group: &Value) -> [i64; 5] {
    let count = |name: &str| group[name].as_i64().expect("a count");
    ["queued", "running", "succeeded", "failed", "cancelled"].map(count)
}

/// The names in a list of groups.
fn names(list: &Answer) -> Vec<String> {
    let json = list.json();
    let groups = json["groups"].as_array().expect("a list").clone();
    groups.iter().map(|group| group["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn a_group_counts_its_jobs_and_answers_when_they_have_ended() {
    let mut stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let broken = stack.post(image.operation, &Form::upload(&image.bytes[..image.bytes.len() / 2]));
    send(broken.header(GROUP, "run-1").header("prefer", "respond-async")).await.job();
    let cancelled = submit(&stack, "run-1").await;
    submit(&stack, "run-1").await;
    submit(&stack, "run-2").await;
    let open = stack.get("/v1/groups/run-1").await.json();
    assert_eq!((counts(&open), &open["has_ended"]), ([3, 0, 0, 0, 0], &json!(false)));
    assert_eq!(open["last_ended_at"], Value::Null);
    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await.status, 200);
    assert_eq!(counts(&stack.get("/v1/groups/run-1").await.json()), [2, 0, 0, 0, 1]);

    let waiting = stack.request("GET", "/v1/groups/run-1?wait=60");
    let (ended, ()) = tokio::join!(send(waiting), stack.add_worker());
    let ended = ended.json();
    assert_eq!((counts(&ended), &ended["has_ended"]), ([0, 0, 1, 1, 1], &json!(true)));
    assert!(ended["last_ended_at"].is_string(), "{ended}");

    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{cancelled}"))).await.status, 204);
    assert_eq!(counts(&stack.get("/v1/groups/run-1").await.json()), [0, 0, 1, 1, 0], "it is deleted");
    assert_eq!(send(digit(&stack).header(GROUP, "run-1")).await.status, 200);
    assert_eq!(
        counts(&stack.get("/v1/groups/run-1").await.json()),
        [0, 0, 2, 1, 0],
        "a caller waited for it"
    );
}

#[tokio::test]
async fn the_events_of_a_group_have_its_counts_until_its_end() {
    let mut stack = Stack::with().workers(0).start().await;
    let jobs = [submit(&stack, "run-1").await, submit(&stack, "run-1").await, submit(&stack, "run-1").await];
    let path = "/v1/groups/run-1/events";
    let follow = async |stack: &Stack, last| Events::open(stack.request("GET", path), last).await;
    let mut stream = follow(&stack, None).await;
    let first = stream.next().await.expect("an event");
    assert_eq!((first.name.as_str(), first.id.as_str()), ("counts", "3.0.0.0.0"));
    assert_eq!(first.data, stack.get("/v1/groups/run-1").await.json());
    send(stack.request("DELETE", &format!("/v1/jobs/{}", jobs[0]))).await;
    let second = stream.next().await.expect("an event");
    assert_eq!((counts(&second.data), second.id.as_str()), ([2, 0, 0, 0, 1], "2.0.0.0.1"));

    // The stream goes on after an event that the client knows.
    let continued = follow(&stack, Some(&second.id)).await;
    stack.add_worker().await;
    for mut events in [stream.rest().await, continued.rest().await] {
        let last = events.pop().expect("an event");
        assert_eq!((last.name.as_str(), last.id.as_str()), ("ended", "0.0.2.0.1"));
        assert_eq!(last.data, stack.get("/v1/groups/run-1").await.json());
        assert!(events.iter().all(|event| event.name == "counts" && event.id != second.id), "{events:?}");
    }
    let events = |last: &str| {
        stack.request("GET", path).header("accept", "text/event-stream").header("last-event-id", last)
    };
    assert_eq!(send(events("0.0.2.0.1")).await.status, 204, "an EventSource does not connect again");
    let again = follow(&stack, Some(&second.id)).await.rest().await;
    assert_eq!(again.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["ended"]);

    submit(&stack, "run-1").await;
    let reopened = follow(&stack, Some("0.0.2.0.1")).await.rest().await;
    assert_eq!(reopened.last().map(|event| event.id.as_str()), Some("0.0.3.0.1"));

    let odd = stack.refused(events("end"), 422).await;
    assert_eq!(odd.errors(), [("Last-Event-ID".to_owned(), "not_an_event".to_owned())].into());
    let unknown = stack.request("GET", "/v1/groups/run-2/events").header("accept", "text/event-stream");
    assert_eq!(stack.refused(unknown, 404).await.slug, "not-found");
}

#[tokio::test]
async fn a_stream_of_a_group_is_one_of_the_account_s_and_ends_with_the_group_and_the_process() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_REQUESTS", 10).start().await;
    submit(&stack, "run-1").await;
    let follow = || stack.request("GET", "/v1/groups/run-1/events").header("accept", "text/event-stream");
    let mut stream = Events::open(follow(), None).await;
    stream.next().await.expect("an event");
    assert_eq!(stack.refused(follow(), 429).await.slug, "too-many-streams");
    send(stack.request("DELETE", "/v1/groups/run-1?purge=true")).await;
    let rest = stream.rest().await;
    assert!(rest.iter().all(|event| event.name == "ended"), "it has no jobs any more: {rest:?}");

    submit(&stack, "run-1").await;
    let stream = until("the place is free", async || {
        let response = follow().send().await.expect("an answer");
        (response.status() == 200).then_some(response)
    })
    .await;
    stack.api.signal(Signal::TERM);
    let body = stream.text().await.expect("the stream ends orderly");
    assert!(body.contains("event: counts") && !body.contains("event: ended"), "{body}");
}

#[tokio::test]
async fn a_group_without_jobs_does_not_exist() {
    let stack = Stack::with().workers(0).start().await;
    let job = submit(&stack, "run-1").await;
    for _ in ["cancelled", "deleted"] {
        send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    }
    let gone = stack.refused(stack.request("GET", "/v1/groups/run-1"), 404).await;
    assert_eq!(gone.json["detail"], "No job of your account is in a group \"run-1\".");
    for path in ["/v1/groups/a%2Fb", "/v1/groups/-a", "/v1/groups/"] {
        assert_eq!(stack.refused(stack.request("GET", path), 404).await.slug, "not-found", "{path}");
    }
    assert!(names(&stack.get("/v1/groups").await).is_empty());
}

#[tokio::test]
async fn pages_of_groups_are_in_the_order_of_names_and_of_one_account() {
    let stack = Stack::with().workers(0).start().await;
    for group in ["b", "c", "a", "b"] {
        submit(&stack, group).await;
    }
    let first = stack.get("/v1/groups?limit=2").await;
    assert_eq!((names(&first), &first.json()["next"]), (vec!["a".to_owned(), "b".to_owned()], &json!("b")));
    let last = stack.get("/v1/groups?limit=2&after=b").await;
    assert_eq!((names(&last), &last.json()["next"]), (vec!["c".to_owned()], &Value::Null));
    let other = stack.keys(&["create", "--name", "other"]).await;
    let theirs = |path: &str| stack.anonymous("GET", path).bearer_auth(&other);
    assert!(names(&send(theirs("/v1/groups")).await).is_empty());
    assert_eq!(stack.refused(theirs("/v1/groups/a"), 404).await.slug, "not-found");
    let image = &operations()[0];
    let own = stack.post_as(&other, image.operation, &Form::upload(&image.bytes)).header(GROUP, "a");
    send(own.header("prefer", "respond-async")).await.job();
    for group in [stack.get("/v1/groups/a").await, send(theirs("/v1/groups/a")).await] {
        assert_eq!(counts(&group.json()), [1, 0, 0, 0, 0], "each account has its own group");
    }
}

#[tokio::test]
async fn jobs_are_listed_by_their_group_and_labels() {
    let stack = Stack::with().workers(0).start().await;
    let labelled = digit(&stack).header(GROUP, "run-1").header(LABEL, "customer=42, file=a.mp3");
    let labelled = send(labelled.header(LABEL, "lang=pa").header("prefer", "respond-async")).await.job();
    let grouped = submit(&stack, "run-1").await;
    submit(&stack, "run-2").await;
    for (query, expected) in [
        ("group=run-1", vec![grouped, labelled]),
        ("label=customer%3D42", vec![labelled]),
        ("label=lang%3Dpa&group=run-1", vec![labelled]),
        ("label=lang%3Dpa&group=run-2", vec![]),
        ("label=customer%3D43", vec![]),
    ] {
        let list = stack.get(&format!("/v1/jobs?{query}")).await.json();
        let jobs = list["jobs"].as_array().expect("a list");
        let ids: Vec<Uuid> = jobs
            .iter()
            .map(|job| job["id"].as_str().and_then(|id| id.parse().ok()).expect("an id"))
            .collect();
        assert_eq!(ids, expected, "{query}");
    }
    let job = stack.get(&format!("/v1/jobs/{labelled}")).await.json();
    assert_eq!(job["group"], "run-1");
    assert_eq!(job["labels"], json!({"customer": "42", "file": "a.mp3", "lang": "pa"}));
    let job = stack.get(&format!("/v1/jobs/{grouped}")).await.json();
    assert_eq!(job.get("labels"), None);
}

#[tokio::test]
async fn a_header_with_another_value_is_refused_with_what_was_expected() {
    let stack = Stack::with().workers(0).start().await;
    let form = Form::upload(&recording("pa-water.mp3").bytes).text("model", "default");
    let speech = || form.send_with(stack.request("POST", "/v1/audio/transcriptions"));
    for (request, status) in [(digit(&stack), 422), (speech(), 400)] {
        let refused = stack.refused(request.header(GROUP, "a/b").header(LABEL, "customer"), status).await;
        let expected = [("Akhar-Group", "character_not_allowed"), ("Akhar-Label", "character_not_allowed")];
        assert_eq!(
            refused.errors(),
            expected.map(|(field, code)| (field.to_owned(), code.to_owned())).into()
        );
    }
    let refused = stack.refused(stack.request("GET", "/v1/groups?after=-&limit=0"), 422).await;
    let expected = [("after", "character_not_allowed"), ("limit", "out_of_range")];
    assert_eq!(refused.errors(), expected.map(|(field, code)| (field.to_owned(), code.to_owned())).into());
}

#[tokio::test]
async fn a_repeated_request_keeps_the_group_of_the_first_one() {
    let stack = Stack::with().workers(0).start().await;
    let request = |group: &str| {
        let request = digit(&stack).header("idempotency-key", "a-key").header("prefer", "respond-async");
        request.header(GROUP, group)
    };
    let first = send(request("run-1")).await.job();
    assert_eq!(send(request("run-2")).await.job(), first);
    assert_eq!(names(&stack.get("/v1/groups").await), ["run-1"]);
    assert_eq!(counts(&stack.get("/v1/groups/run-1").await.json()), [1, 0, 0, 0, 0]);
}

#[tokio::test]
async fn a_group_is_cancelled_and_deleted_as_one() {
    let stack = Stack::with().workers(0).start().await;
    let waiting = [submit(&stack, "run-1").await, submit(&stack, "run-1").await];
    let other = submit(&stack, "run-2").await;
    let cancelled = send(stack.request("DELETE", "/v1/groups/run-1")).await;
    assert_eq!((cancelled.status, counts(&cancelled.json())), (200, [0, 0, 0, 0, 2]));
    stack.job_is(waiting[0], "cancelled").await;
    assert_eq!(send(stack.request("DELETE", "/v1/groups/run-1?purge=true")).await.status, 204);
    stack.refused(stack.request("GET", "/v1/groups/run-1"), 404).await;
    stack.refused(stack.request("DELETE", "/v1/groups/run-1"), 404).await;
    let gone = stack.refused(stack.request("GET", &format!("/v1/jobs/{}", waiting[1])), 410).await;
    assert_eq!(gone.slug, "job-deleted");
    stack.job_is(other, "queued").await;
    let theirs = stack.keys(&["create", "--name", "other"]).await;
    let of_another = stack.anonymous("DELETE", "/v1/groups/run-2").bearer_auth(&theirs);
    stack.refused(of_another, 404).await;
    stack.job_is(other, "queued").await;
}

#[tokio::test]
async fn operators_select_jobs_by_their_group() {
    let stack = Stack::with().workers(0).start().await;
    let jobs = [submit(&stack, "run-1").await, submit(&stack, "run-1").await];
    let other = submit(&stack, "run-2").await;
    let listed = stack.akhar_json(&["jobs", "list", "--group", "run-1"]).await;
    let listed = listed.as_array().expect("a list");
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|job| job["group"] == "run-1"), "{listed:?}");
    assert!(stack.akhar(&["jobs", "show", &jobs[0].to_string()]).await.contains("group        run-1"));
    assert_eq!(
        stack.akhar(&["jobs", "cancel", "--group", "run-1", "--yes"]).await.trim(),
        "2 jobs cancelled"
    );
    stack.job_is(jobs[1], "cancelled").await;
    stack.job_is(other, "queued").await;
}

#[tokio::test]
async fn a_run_of_many_recordings_is_one_group() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "grouped");
    for name in ["pa-water.mp3", "pa-school.wav"] {
        folders.add(name, &recording(name).bytes);
    }
    let (code, out, log) = run(folders.command(&stack, &["--group", "calls"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert_eq!(counts(&stack.get("/v1/groups/calls").await.json()), [0, 0, 2, 0, 0]);
    folders.add("pa-sister.wav", &recording("pa-sister.wav").bytes);
    let (code, out, log) = run(folders.command(&stack, &["--resume"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert_eq!(counts(&stack.get("/v1/groups/calls").await.json()), [0, 0, 3, 0, 0]);
    let (code, out, log) = run(folders.command(&stack, &["--resume", "--group", "a/b"])).await;
    assert!(code == Some(2) && log.contains("expected the name of a group"), "{out}{log}");
}
