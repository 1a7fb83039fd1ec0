//! A pull that ends well, at once or after having been interrupted.

use std::fs;

use akhar_tests::{Fault, hub::sha256, until};
use rustix::process::Signal;

use crate::{CONFIG, ID, MODEL, OPERATION, World, hash_of, model};

#[tokio::test]
async fn what_is_pulled_is_whole_recorded_and_fetched_once() {
    let world = World::new().await;
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
    assert_eq!(names.len(), 3, "nothing but files, folder and manifest: {names:?}");
    assert!(!world.partial("").exists());
    assert_eq!(world.done(&["verify", ID]).await, format!("{ID}  2 files verified\n"));
    assert_eq!(world.done(&["verify"]).await.lines().count(), 2);
    assert_eq!(world.listed(ID).await[6..], ["pulled", "no"]);

    let n_asked = world.hub.asked().len();
    assert!(world.done(&["pull", ID]).await.contains("installed already"));
    assert_eq!(world.hub.asked().len(), n_asked, "the hub is left alone");
}

/// Starts a pull, waits until half of the model has come, and interrupts it.
async fn interrupt_at_half(world: &World) -> usize {
    let half = model().len() / 2;
    world.hub.fail(MODEL, Fault::HoldAt(half));
    let mut pull = world.start(&["pull", ID]);
    let partial = world.partial("onnx/model.onnx");
    until("half of the model lies here", async || {
        fs::metadata(&partial).is_ok_and(|m| m.len() == half as u64).then_some(())
    })
    .await;
    pull.signal(Signal::TERM); // which no shell has its background ignore, as it does SIGINT
    assert!(!pull.ended().await.success());
    assert!(!world.pulled("").exists(), "half a model is not installed");
    half
}

#[tokio::test]
async fn an_interrupted_pull_goes_on_where_it_ended() {
    let world = World::new().await;
    let half = interrupt_at_half(&world).await;
    world.done(&["pull", ID]).await;
    let sent = world.hub.sent(MODEL);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert_eq!(sent[1].range, Some(format!("bytes={half}-")));
    assert_eq!((sent[1].status, sent[0].n_bytes + sent[1].n_bytes), (206, model().len()));
    assert_eq!(world.hub.sent(CONFIG)[1].status, 416, "the small file had come whole");
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
    world.done(&["verify", ID]).await;
}

#[tokio::test]
async fn a_file_that_changed_meanwhile_is_fetched_anew() {
    let world = World::new().await;
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
async fn a_byte_that_changed_on_the_disk_meanwhile_is_found_out() {
    let world = World::new().await;
    interrupt_at_half(&world).await;
    crate::flip(&world.partial("onnx/model.onnx"));
    let said = world.refused(&["pull", ID]).await;
    assert!(said.contains("onnx/model.onnx: its SHA-256") && said.contains(&sha256(&model())), "{said}");
    world.done(&["pull", ID]).await;
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
}

#[tokio::test]
async fn a_broken_connection_is_taken_up_again() {
    let world = World::new().await;
    let (n, half) = (model().len(), model().len() / 2);
    world.hub.fail(CONFIG, Fault::Status(429));
    world.hub.fail(MODEL, Fault::BreakAt(half));
    world.hub.fail(MODEL, Fault::Status(503));
    let ended = world.run(&["pull", ID]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let sent: Vec<_> = world.hub.sent(MODEL).iter().map(|asked| (asked.status, asked.n_bytes)).collect();
    assert_eq!(sent, [(200, half), (503, 0), (206, n - half)]);
    for said in ["429", "(2 of 2)", "trying again", "503", "resuming after", "100 %"] {
        assert!(ended.err.contains(said), "no {said} in\n{}", ended.err);
    }
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
}

#[tokio::test]
async fn a_hub_that_knows_no_ranges_sends_all_again() {
    let world = World::new().await;
    world.hub.ignore_ranges();
    world.hub.fail(MODEL, Fault::BreakAt(1000));
    world.done(&["pull", ID]).await;
    let sent = world.hub.sent(MODEL);
    assert_eq!(sent[1].range.as_deref(), Some("bytes=1000-"));
    assert_eq!((sent[1].status, sent[1].n_bytes), (200, model().len()));
    assert_eq!(hash_of(&world.pulled("onnx/model.onnx")), sha256(&model()));
}
