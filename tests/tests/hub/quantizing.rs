//! Int8 copies of speech models are made, compared, and installed beside their models.

use std::fs;

use akhar_tests::{models::Models, root};

use crate::{conformer, flip};

/// A world whose hub has a small model with random weights, and the path of a recording.
async fn world() -> (Models, String) {
    let world = Models::new().await;
    world.catalogue(&conformer(&world));
    (world, root().join("tests/fixtures/audio/pa-two-sentences.wav").display().to_string())
}

#[tokio::test]
async fn an_int8_copy_of_a_pulled_model_is_installed_beside_it() {
    let (world, clip) = world().await;
    world.done(&["pull", "conformer"]).await;
    let out = world.done(&["quantize", "conformer", "--clip", &clip, "--force"]).await;
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with(&clip), "{out}");
    assert!(lines[1].starts_with("  conformer       ") && lines[1].contains("of its length"), "{out}");
    assert!(lines[2].starts_with("  conformer-int8  ") && lines[2].contains("of its length"), "{out}");
    assert!(lines[3].contains("of the letters are the same") && lines[3].contains("kB instead of"), "{out}");
    assert!(lines[4].contains("akhar models use speech-recognition conformer-int8"), "{out}");

    let folder = world.folder.join("models/pulled");
    assert_eq!(world.done(&["verify", "conformer-int8"]).await, "conformer-int8  3 files verified\n");
    assert_eq!(world.done(&["verify", "conformer"]).await, "conformer  4 files verified\n");
    let manifest = fs::read_to_string(folder.join("conformer-int8/conformer-int8.toml")).expect("a manifest");
    for said in
        ["`akhar models quantize conformer`, from ", "/akhar/conformer/tree/main", "language = \"pa\""]
    {
        assert!(manifest.contains(said), "no {said} in\n{manifest}");
    }
    let size = |path: &str| fs::metadata(folder.join(path)).expect("a file").len();
    let floats = size("conformer/model.onnx") + size("conformer/model.onnx_data");
    assert!(size("conformer-int8/model.onnx") < floats, "the matrix of floats is gone");
    assert!(!folder.join(".partial/conformer-int8").exists());
    world.done(&["use", "speech-recognition", "conformer-int8", "--lang", "pa"]).await;

    let again = world.done(&["quantize", "conformer"]).await;
    assert_eq!(again, "conformer-int8 is installed already\n");
    let said = world.refused(&["quantize", "conformer-int8", "--force"]).await;
    assert!(said.contains("it may be quantised already"), "{said}");
}

#[tokio::test]
async fn a_pull_with_int8_installs_both_or_says_why_not() {
    let (world, _) = world().await;
    let ended = world.run(&["pull", "conformer", "--int8"]).await;
    assert!(
        ended.out.contains("conformer is installed") && ended.out.contains("letters are the same"),
        "{ended:?}"
    );
    let place = world.folder.join("models/pulled/conformer-int8");
    let is_installed = ended.out.contains("conformer-int8 is installed");
    assert_eq!((ended.code, place.exists()), (Some(i32::from(!is_installed)), is_installed), "{ended:?}");
    assert!(is_installed || ended.err.contains("--force installs it all the same"), "{ended:?}");
    assert!(!world.folder.join("models/pulled/.partial/conformer-int8").exists());
}

#[tokio::test]
async fn a_model_that_cannot_be_quantised_is_refused_and_nothing_is_left() {
    let (world, clip) = world().await;
    let said = world.refused(&["quantize", "digits-pa"]).await;
    assert!(said.contains("digits-pa is a model for digit-recognition"), "{said}");
    let said = world.refused(&["pull", "indictrans2", "--int8"]).await;
    assert!(said.contains("indictrans2-en-pa is a model for translation"), "{said}");
    assert!(world.hub.requests().is_empty());

    let files = [
        ("encoder", "encoder-model.onnx"),
        ("decoder", "decoder_joint-model.onnx"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
    ];
    let entry = conformer(&world).replace("nemo-ctc", "nemo-tdt");
    let (head, _) = entry.split_once("[[models.files]]").expect("files");
    world.catalogue(&format!("{head}{}", world.published("conformer", "transducer/tdt", &files)));
    world.done(&["pull", "conformer"]).await;
    let said = world.refused(&["quantize", "conformer", "--clip", &clip]).await;
    assert!(said.contains("nemo-tdt") && said.contains("Expected nemo-ctc"), "{said}");
    world.done(&["remove", "conformer"]).await;

    world.catalogue(&conformer(&world));
    world.done(&["pull", "conformer"]).await;
    let said = world.refused(&["quantize", "conformer", "--lang", "en"]).await;
    assert!(said.contains("conformer is for pa alone"), "{said}");
    flip(&world.folder.join("models/pulled/conformer/model.onnx_data"));
    let said = world.refused(&["quantize", "conformer", "--clip", &clip]).await;
    assert!(said.contains("model.onnx_data: its SHA-256 is"), "{said}");
    assert!(!world.folder.join("models/pulled/conformer-int8").exists());
}
