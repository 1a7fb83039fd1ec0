//! What browsers do with the service's answers, in Chromium. The pages are in `tests/node`.

use akhar_tests::{
    Form, Stack,
    http::send,
    scripts::{NodeFolder, json},
    speech::{recording, wav},
};
use serde_json::{Value, json};

#[tokio::test]
async fn a_browsers_event_source_continues_a_broken_stream_and_gets_each_event_once() {
    let stack = Stack::start().await;
    let file = wav(&recording("pa-two-sentences.wav").samples().repeat(4));
    let form = Form::upload(&file).text("with-timestamps", "true");
    let job = send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job();
    let mut follow = NodeFolder::new(stack.folder(), "browser").program(&stack, "events.ts");
    // The connections break when the third segment has begun: its id is sent, its data is not.
    follow.arg(job.to_string()).arg("id: 1.3\n");
    let result = json(follow).await;

    let document = stack.get(&format!("/v1/jobs/{job}")).await.json();
    let segments = document["result"]["timestamps"].as_array().expect("asked for");
    assert!(segments.len() > 3, "{segments:?}");
    let connections = result["connections"].as_array().expect("a list");
    for (page, expected) in [
        ("closed", vec![json!([null, 200]), json!(["1.2", 200])]),
        // Without a `close` in the page, the browser connects once more and is told to stop.
        ("ended", vec![json!([null, 200]), json!(["1.2", 200]), json!(["end", 204])]),
    ] {
        let seen = result[page].as_array().expect("a list");
        let all = |name: &str| seen.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
        let found: Vec<(&Value, &Value)> = all("segment").iter().map(|s| (&s["id"], &s["data"])).collect();
        let ids: Vec<Value> = (1..=segments.len()).map(|nth| json!(format!("1.{nth}"))).collect();
        assert_eq!(found, ids.iter().zip(segments).collect::<Vec<_>>(), "{page}");
        let progress: Vec<_> =
            all("progress").iter().filter_map(|event| event["data"]["transcribed_s"].as_f64()).collect();
        assert!(progress.is_sorted(), "{page}: {progress:?}");
        assert_eq!(all("done"), [&json!({"name": "done", "id": "end", "data": document})], "{page}");
        assert_eq!(seen.last(), all("done").first().copied(), "{page}");
        let path = format!("/events/{page}");
        let made = connections.iter().filter(|connection| connection["path"] == *path);
        let made: Vec<Value> = made.map(|made| json!([made["lastEventId"], made["status"]])).collect();
        assert_eq!(made, expected, "{page}");
    }
}
