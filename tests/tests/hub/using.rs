//! Installed models are listed, verified, chosen and removed.

use std::fs;

use akhar_tests::{Fault, until};

use crate::{ID, MODEL, OPERATION, World, flip};

#[tokio::test]
async fn a_pulled_model_serves_when_it_is_chosen_and_can_be_removed_when_it_is_not() {
    let world = World::new().await;
    world.done(&["pull", ID]).await;
    assert_eq!(world.listed("digits-pa").await[6..], ["bundled", "yes"]);
    assert_eq!(world.done(&["use", OPERATION, ID]).await, format!("{OPERATION}: {ID}\n"));
    assert_eq!(world.listed("digits-pa").await[6..], ["bundled", "no"]);
    assert_eq!(world.listed(ID).await[6..], ["pulled", "yes"]);
    let choices = fs::read_to_string(world.folder.join("models/pulled/use.toml")).expect("choices");
    assert!(choices.contains(OPERATION) && choices.contains(ID), "{choices}");

    let said = world.refused(&["remove", ID]).await;
    assert!(said.contains("in use") && said.contains("bundled"), "{said}");
    assert_eq!(world.done(&["use", OPERATION, "bundled"]).await, format!("{OPERATION}: digits-pa\n"));
    assert_eq!(world.done(&["remove", ID]).await, format!("removed {ID}\n"));
    assert!(!world.pulled("").exists());
    assert_eq!(world.listed(ID).await.last().map(String::as_str), Some("tests"), "it can be pulled again");
    world.done(&["pull", ID]).await;
}

#[tokio::test]
async fn a_flipped_byte_on_the_disk_is_refused_by_verify_and_use() {
    let world = World::new().await;
    world.done(&["pull", ID]).await;
    flip(&world.pulled("onnx/model.onnx"));
    for arguments in [&["verify", ID] as &[&str], &["use", OPERATION, ID]] {
        let said = world.refused(arguments).await;
        assert!(said.contains("onnx/model.onnx: its SHA-256 is"), "{arguments:?}: {said}");
    }
    assert!(!world.folder.join("models/pulled/use.toml").exists());
    let ended = world.run(&["verify"]).await;
    assert_eq!(
        (ended.code, ended.out.as_str()),
        (
            Some(1),
            "digits-pa  1 file verified
"
        ),
        "the result for the other model is printed too"
    );
    flip(&world.folder.join("models/weights/digits-pa.onnx"));
    let said = world.refused(&["verify"]).await;
    assert!(said.contains("digits-pa.onnx") && said.contains("onnx/model.onnx"), "{said}");
}

#[tokio::test]
async fn a_model_that_cannot_serve_the_operation_is_refused() {
    let world = World::new().await;
    world.done(&["pull", ID]).await;
    let said = world.refused(&["use", OPERATION, "digits-9"]).await;
    assert!(said.contains("digits-9") && said.contains("digits-pa, digits-hub"), "{said}");
    let said = world.refused(&["use", "alphabet-recognition", ID]).await;
    assert!(said.contains("not for alphabet-recognition"), "{said}");
    let said = world.refused(&["use", OPERATION, ID, "--lang", "pa"]).await;
    assert!(said.contains("not for digit-recognition --lang pa"), "{said}");
    let said = world.refused(&["use", "weather", "bundled"]).await;
    assert!(said.contains("serves weather"), "{said}");
    assert_eq!(world.listed("digits-pa").await[6..], ["bundled", "yes"]);
}

#[tokio::test]
async fn only_pulled_models_can_be_removed() {
    let world = World::new().await;
    assert!(world.refused(&["remove", "digits-pa"]).await.contains("bundled"));
    assert!(world.refused(&["remove", "../../models"]).await.contains("no model"));
    world.hub.fail(MODEL, Fault::HoldAt(10));
    let mut pull = world.start(&["pull", ID]);
    until("the pull has begun", async || world.partial("onnx/model.onnx").exists().then_some(())).await;
    pull.kill().await;
    world.done(&["remove", ID]).await;
    assert!(!world.partial("").exists(), "the files of an interrupted pull are removed too");
}

#[tokio::test]
async fn the_catalogue_is_listed_with_the_operator_s_entries_first() {
    let world = World::new().await;
    let out = world.done(&["list"]).await;
    let (installed, to_pull) = out.split_once("akhar models pull ID").expect("two tables");
    assert!(installed.contains("digits-pa") && !installed.contains(ID), "{out}");
    for id in [ID, "whisper-large-v3-turbo", "whisper-small", "parakeet-tdt-0.6b-v3", "indicconformer-pa"] {
        assert!(to_pull.contains(id), "no {id} in\n{out}");
    }
    let nllb = world.listed("nllb-200-distilled-600m").await;
    assert_eq!(nllb[1..5], ["translation", "en, pa", "m2m100", "CC-BY-NC-4.0"]);
    assert!(to_pull.find(ID) < to_pull.find("whisper"), "{out}");
    world.catalogue("[[models]]\nid = 'm'\n");
    let said = world.refused(&["list"]).await;
    assert!(said.contains("catalogue.toml") && said.contains("repo"), "{said}");
}
