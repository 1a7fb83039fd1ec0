//! A running worker changes to a pulled model without losing a job.

use std::fs;

use akhar_tests::{
    Process, Stack,
    http::{Form, send},
    images::fixture_of,
    models::{ID, Models, OPERATION, entry},
    speech::{noise, wav},
    until,
};
use serde_json::json;

use super::{flip, omnilingual};

/// All bundled models, and a digits model on the hub that answers with Latin digits.
async fn world() -> Models {
    let world = Models::with_all_bundled().await;
    let latin: Vec<String> = (0..10).map(|digit| format!("\"{digit}\"")).collect();
    let entry = entry();
    let labels = entry.lines().find(|line| line.starts_with("labels")).expect("labels");
    world.catalogue(&entry.replace(labels, &format!("labels = [{}]", latin.join(", "))));
    world
}

/// The bundled models of digits and of handwriting.
const DIGITS: &str = "digits-pa";
const WRITER: &str = "handwriting-pa";

/// How often a worker has loaded this model.
fn n_loads(worker: &Process, id: &str) -> usize {
    let (loaded, of_model) = ("\"model loaded\"", format!("\"model\":\"{id}\""));
    worker.log().iter().filter(|line| line.contains(loaded) && line.contains(&of_model)).count()
}

/// A request for handwriting.
fn write(stack: &Stack) -> reqwest::RequestBuilder {
    stack.request("POST", "/v1/models/handwriting-generator").json(&json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}))
}

#[tokio::test]
async fn a_running_worker_changes_models_and_loses_no_job() {
    let world = world().await;
    let stack = Stack::with().models(&world.folder.join("models")).start().await;
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
    let stack = Stack::with().models(&world.folder.join("models")).start().await;
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

#[tokio::test]
async fn a_model_is_loaded_by_its_first_job_and_kept_when_another_one_changes() {
    let world = world().await;
    let stack = Stack::with().models(&world.folder.join("models")).start().await;
    let worker = &stack.workers[0];
    let loads = || [DIGITS, ID, WRITER].map(|id| n_loads(worker, id));
    assert_eq!(loads(), [1, 0, 0], "digits are loaded before the worker is ready");
    assert_eq!(send(write(&stack)).await.status, 200);
    assert_eq!(loads(), [1, 0, 1]);
    world.done(&["pull", ID]).await;
    world.done(&["use", OPERATION, ID]).await;
    until("the worker changes models", async || (n_loads(worker, ID) > 0).then_some(())).await;
    until("the pulled model answers", async || {
        let image = fixture_of("੫");
        let label = stack.recognise(OPERATION, &image.bytes).await.predictions()[0].0.clone();
        (label == "5").then_some(())
    })
    .await;
    assert_eq!(send(write(&stack)).await.status, 200);
    assert_eq!(loads(), [1, 1, 1], "the handwriting model is the same");
}

#[tokio::test]
async fn a_job_whose_model_cannot_be_loaded_is_tried_again() {
    let world = world().await;
    let stack = Stack::with().models(&world.folder.join("models")).start().await;
    let weights = world.folder.join("models/weights/handwriting-pa.onnx");
    let aside = world.folder.join("handwriting-pa.onnx");
    fs::rename(&weights, &aside).expect("the file is moved away");
    let request = tokio::spawn(send(write(&stack)));
    until("the worker logs the error", async || {
        stack.workers[0].log().iter().any(|line| line.contains("handwriting-pa.onnx")).then_some(())
    })
    .await;
    fs::rename(&aside, &weights).expect("the file is moved back");
    assert_eq!(request.await.expect("an answer").status, 200);
    assert_eq!(n_loads(&stack.workers[0], WRITER), 1);
}

#[tokio::test]
async fn a_worker_transcribes_with_a_pulled_model_as_the_command_does() {
    const SPEECH: &str = "speech-recognition";
    let world = Models::with_all_bundled().await;
    world.catalogue(&omnilingual(&world));
    world.done(&["pull", "omni"]).await;
    world.done(&["use", SPEECH, "omni"]).await;
    let recording = wav(&noise(30));
    let path = world.folder.join("noise.wav");
    fs::write(&path, &recording).expect("a recording");
    let tried = world.done(&["try", "omni", &path.display().to_string()]).await;
    let (_, text) = tried.trim_end().rsplit_once("confidence -  ").expect("a text");
    assert!(text.split(' ').count() > 30, "it has several windows: {text}");
    let stack = Stack::with().models(&world.folder.join("models")).start().await;
    let answer = send(stack.post(SPEECH, &Form::upload_and(&recording, "format", "spoken"))).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["transcription"], text);
}
