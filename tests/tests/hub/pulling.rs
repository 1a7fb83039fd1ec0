//! Pulls that succeed, also after an interruption.

use std::fs;

use akhar_tests::{
    Fault,
    hub::sha256,
    models::{CONFIG, ID, MODEL, Models, OPERATION, model},
    until,
};
use rustix::process::Signal;

use crate::hash_of;

#[tokio::test]
async fn a_pulled_model_is_verified_recorded_and_not_downloaded_again() {
    let world = Models::new().await;
    assert_eq!(world.listed(ID).await.last().map(String::as_str), Some("tests"));
    let out = world.done(&["pull", ID]).await;
    assert!(out.contains(&format!("akhar models use {OPERATION} {ID}")), "{out}");
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
    let manifest = fs::read_to_string(world.pulled("digits-hub.toml")).expect("a manifest");
    for said in [&sha256(&model()), &sha256(b"{}"), "akhar/digits/tree/main", "੯", "image-classifier"] {
        assert!(manifest.contains(said), "no {said} in\n{manifest}");
    }
    let mut names: Vec<_> = fs::read_dir(world.pulled("")).expect("it is there").collect();
    names.sort_by_key(|entry| entry.as_ref().expect("an entry").file_name());
    assert_eq!(names.len(), 3, "a file, a folder and the manifest: {names:?}");
    assert!(!world.partial("").exists());
    assert_eq!(world.done(&["verify", ID]).await, format!("{ID}  2 files verified\n"));
    assert_eq!(world.done(&["verify"]).await.lines().count(), 2);
    assert_eq!(world.listed(ID).await[6..], ["pulled", "no"]);

    let n_requests = world.hub.requests().len();
    assert!(world.done(&["pull", ID]).await.contains("installed already"));
    assert_eq!(world.hub.requests().len(), n_requests, "the second pull sends no requests");
}

/// Starts a pull, waits until half of the model is downloaded, and interrupts the pull. Returns the size of
/// that half.
async fn interrupt_at_half(world: &Models) -> usize {
    let half = model().len() / 2;
    world.hub.fail(MODEL, Fault::HoldAt(half));
    let mut pull = world.start(&["pull", ID]);
    let partial = world.partial("onnx/model.onnx");
    until("half of the model is downloaded", async || {
        fs::metadata(&partial).is_ok_and(|m| m.len() == half as u64).then_some(())
    })
    .await;
    pull.signal(Signal::TERM); // not SIGINT, which shells make their background processes ignore
    assert!(!pull.ended().await.success());
    assert!(!world.pulled("").exists(), "half a model is not installed");
    half
}

#[tokio::test]
async fn an_interrupted_pull_continues_where_it_ended() {
    let world = Models::new().await;
    let half = interrupt_at_half(&world).await;
    world.done(&["pull", ID]).await;
    let sent = world.hub.sent(MODEL);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert_eq!(sent[1].range, Some(format!("bytes={half}-")));
    assert_eq!((sent[1].status, sent[0].n_bytes + sent[1].n_bytes), (206, model().len()));
    assert_eq!(world.hub.sent(CONFIG)[1].status, 416, "the small file was already complete");
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
    world.done(&["verify", ID]).await;
}

#[tokio::test]
async fn a_file_that_changed_on_the_hub_is_downloaded_again() {
    let world = Models::new().await;
    interrupt_at_half(&world).await;
    let mut other = model();
    other.reverse();
    world.hub.put(MODEL, &other);
    world.done(&["pull", ID]).await;
    let sent = world.hub.sent(MODEL);
    assert!(sent[1].if_range.is_some(), "{sent:?}");
    assert_eq!((sent[1].status, sent[1].n_bytes), (200, other.len()));
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&other));
}

#[tokio::test]
async fn a_byte_that_changed_on_the_disk_is_detected() {
    let world = Models::new().await;
    interrupt_at_half(&world).await;
    crate::flip(&world.partial("onnx/model.onnx"));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("onnx/model.onnx: its SHA-256") && said.contains(&sha256(&model())), "{said}");
    world.done(&["pull", ID]).await;
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
}

#[tokio::test]
async fn a_pull_continues_after_a_broken_connection() {
    let world = Models::new().await;
    let (n, half) = (model().len(), model().len() / 2);
    world.hub.fail(CONFIG, Fault::Status(429));
    world.hub.fail(MODEL, Fault::BreakAt(half));
    world.hub.fail(MODEL, Fault::Status(503));
    let ended = world.run(&["pull", ID]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let sent: Vec<_> =
        world.hub.sent(MODEL).iter().map(|request| (request.status, request.n_bytes)).collect();
    assert_eq!(sent, [(200, half), (503, 0), (206, n - half)]);
    for said in ["429", "(2 of 2)", "trying again", "503", "resuming after", "100 %"] {
        assert!(ended.err.contains(said), "no {said} in\n{}", ended.err);
    }
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
}

#[tokio::test]
async fn a_hub_that_ignores_ranges_sends_the_whole_file_again() {
    let world = Models::new().await;
    world.hub.ignore_ranges();
    world.hub.fail(MODEL, Fault::BreakAt(1000));
    world.done(&["pull", ID]).await;
    let sent = world.hub.sent(MODEL);
    assert_eq!(sent[1].range.as_deref(), Some("bytes=1000-"));
    assert_eq!((sent[1].status, sent[1].n_bytes), (200, model().len()));
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
}
