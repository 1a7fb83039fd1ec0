//! A running worker changes to a pulled model without losing a job.

use std::fs;

use akhar_tests::{
    Stack,
    images::fixture_of,
    models::{ID, Models, OPERATION, entry},
    until,
};

use super::flip;

/// All bundled models, and a digits model on the hub that answers with Latin digits.
async fn world() -> Models {
    let world = Models::with_all_bundled().await;
    let latin: Vec<String> = (0..10).map(|digit| format!("\"{digit}\"")).collect();
    let entry = entry();
    let labels = entry.lines().find(|line| line.starts_with("labels")).expect("labels");
    world.catalogue(&entry.replace(labels, &format!("labels = [{}]", latin.join(", "))));
    world
}

/// The memory of a worker that loads a second set of models beside the first, MiB at most.
const TWO_SETS_MIB: f64 = 1200.0;

#[tokio::test]
async fn a_running_worker_changes_models_and_loses_no_job() {
    let world = world().await;
    let mut stack = Stack::with().models(&world.folder.join("models")).start().await;
    stack.workers[0].allow_memory(TWO_SETS_MIB);
    let image = fixture_of("੫");
    let first = async || stack.recognise(OPERATION, &image.bytes).await.predictions()[0].0.clone();
    assert_eq!(first().await, "੫");
    world.done(&["pull", ID]).await;
    assert_eq!(first().await, "੫", "a pulled model does not serve until it is chosen");
    world.done(&["use", OPERATION, ID]).await;
    // Requests continue while the worker changes models. One of the two models answers each of them.
    until("the pulled model answers", async || {
        let label = first().await;
        assert!(label == "੫" || label == "5", "{label}");
        (label == "5").then_some(())
    })
    .await;
    world.done(&["use", OPERATION, "bundled"]).await;
    until("the bundled model answers again", async || (first().await == "੫").then_some(())).await;
}

#[tokio::test]
async fn a_worker_keeps_its_models_when_the_chosen_one_cannot_be_loaded() {
    let world = world().await;
    let mut stack = Stack::with().models(&world.folder.join("models")).start().await;
    stack.workers[0].allow_memory(TWO_SETS_MIB);
    let image = fixture_of("੫");
    world.done(&["pull", ID]).await;
    // `models use` would refuse a damaged file, so the choice is written without it.
    flip(&world.pulled("onnx/model.onnx"));
    let choice = format!("[[use]]\noperation = \"{OPERATION}\"\nid = \"{ID}\"\n");
    fs::write(world.folder.join("models/pulled/use.toml"), choice).expect("a choice");
    until("the worker logs the error", async || {
        stack.workers[0].log().iter().any(|line| line.contains("cannot load the chosen models")).then_some(())
    })
    .await;
    let label = stack.recognise(OPERATION, &image.bytes).await.predictions()[0].0.clone();
    assert_eq!(label, "੫");
}
