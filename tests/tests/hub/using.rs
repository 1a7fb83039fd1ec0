//! Installed models are listed, verified, chosen and removed.

use std::{fmt::Write as _, fs};

use akhar_tests::{
    Fault,
    models::{ID, MODEL, Models, OPERATION},
    root, until,
};

use serde_json::Value;

use crate::{conformer, flip, hash_of, omnilingual, speech_model};

#[tokio::test]
async fn a_pulled_model_serves_when_it_is_chosen_and_can_be_removed_when_it_is_not() {
    let world = Models::new().await;
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
    let world = Models::new().await;
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
    let world = Models::new().await;
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
    let world = Models::new().await;
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
    let world = Models::new().await;
    let out = world.done(&["list"]).await;
    let (installed, to_pull) = out.split_once("akhar models pull ID").expect("two tables");
    assert!(installed.contains("digits-pa") && !installed.contains(ID), "{out}");
    for id in [
        ID,
        "whisper-large-v3-turbo",
        "whisper-small",
        "parakeet-tdt-0.6b-v3",
        "indicconformer-pa",
        "omnilingual-1b",
    ] {
        assert!(to_pull.contains(id), "no {id} in\n{out}");
    }
    let nllb = world.listed("nllb-200-distilled-600m").await;
    assert_eq!(nllb[1..5], ["translation", "en, pa", "m2m100", "CC-BY-NC-4.0"]);
    let indictrans = world.listed("indictrans2-pa-en").await;
    assert_eq!(indictrans[1..5], ["translation", "pa", "indictrans2", "MIT"]);
    assert!(to_pull.find(ID) < to_pull.find("whisper"), "{out}");
    world.catalogue("[[models]]\nid = 'm'\n");
    let said = world.refused(&["list"]).await;
    assert!(said.contains("catalogue.toml") && said.contains("repo"), "{said}");
}

#[tokio::test]
async fn a_model_with_weights_beside_its_graph_is_pulled_and_tried_beside_the_bundled_one() {
    let world = Models::new().await;
    world.catalogue(&conformer(&world));
    let bundled = fs::read_to_string(root().join("models/speech-pa.toml")).expect("a manifest");
    fs::write(world.folder.join("models/speech-pa.toml"), bundled).expect("a manifest");
    for name in ["onnx", "lm", "vocab.txt", "config.json"] {
        let file = format!("weights/speech-pa.{name}");
        fs::copy(root().join("models").join(&file), world.folder.join("models").join(&file)).expect("a copy");
    }
    let pulled = world.run(&["pull", "conformer"]).await;
    assert!(pulled.err.contains("about 1.00 MB") && pulled.err.contains("licence MIT"), "{}", pulled.err);
    assert_eq!(world.done(&["verify", "conformer"]).await, "conformer  4 files verified\n");

    let clip = root().join("tests/fixtures/audio/pa-school.wav").display().to_string();
    let out = world.done(&["try", "conformer", &clip]).await;
    let lines: Vec<&str> = out.lines().map(str::trim).collect();
    assert_eq!(lines[0], format!("{clip}  2.5 s"));
    assert!(lines[1].starts_with("speech-pa  ") && lines[1].contains("ਸਕੂਲ"), "{out}");
    assert!(lines[2].starts_with("conformer  ") && lines[2].contains("confidence -"), "{out}");
    let said = world.refused(&["try", "conformer", "--lang", "en", &clip]).await;
    assert!(said.contains("expected --lang pa"), "{said}");
    let said = world.refused(&["try", "digits-pa", &clip]).await;
    assert!(said.contains("expected one for speech-recognition"), "{said}");
    flip(&world.folder.join("models/pulled/conformer/model.onnx_data"));
    let said = world.refused(&["try", "conformer", &clip]).await;
    assert!(said.contains("model.onnx_data: its SHA-256 is"), "{said}");
}

#[tokio::test]
async fn a_model_that_takes_samples_is_pulled_used_and_tried() {
    let world = Models::new().await;
    let float32 = [("model", "model.onnx"), ("model-weights", "model.weights"), ("vocab", "tokens.txt")];
    let other = speech_model(&world, "omni-float32", "omnilingual", "omnilingual", &float32);
    world.catalogue(&(omnilingual(&world) + &other));
    let clip = root().join("tests/fixtures/audio/pa-two-sentences.wav").display().to_string();
    for (id, n_files) in [("omni-float32", 3), ("omni", 2)] {
        world.done(&["pull", id]).await;
        assert_eq!(world.done(&["verify", id]).await, format!("{id}  {n_files} files verified\n"));
        let used = world.done(&["use", "speech-recognition", id]).await;
        assert_eq!(used, format!("speech-recognition in pa: {id}\n"));
        let out = world.done(&["try", id, &clip]).await;
        let text = out.lines().last().expect("a line");
        assert!(
            text.trim().starts_with(id) && text.contains("confidence -  ") && text.contains('ਲ'),
            "{out}"
        );
    }
}

#[tokio::test]
async fn files_that_do_not_belong_to_the_model_are_named() {
    let world = Models::new().await;
    let lacking = speech_model(&world, "half", "omnilingual", "omnilingual", &[("model", "model.int8.onnx")]);
    world.catalogue(&(omnilingual(&world) + &lacking));
    world.done(&["pull", "half"]).await;
    for arguments in [&["verify", "half"] as &[&str], &["use", "speech-recognition", "half"]] {
        let said = world.refused(arguments).await;
        assert!(said.contains("half.toml: it names no file with the role \"vocab\""), "{said}");
    }
    world.done(&["pull", "omni"]).await;
    let place = world.folder.join("models/pulled/omni");
    let units = root().join("tests/fixtures/conformer/int8/tokens.txt");
    let manifest = fs::read_to_string(place.join("omni.toml")).expect("a manifest");
    let manifest = manifest.replace(&hash_of(&place.join("tokens.txt")), &hash_of(&units));
    fs::write(place.join("omni.toml"), manifest).expect("a manifest");
    fs::copy(units, place.join("tokens.txt")).expect("a copy");
    let clip = root().join("tests/fixtures/audio/pa-seven.wav").display().to_string();
    let said = world.refused(&["try", "omni", &clip]).await;
    assert!(said.contains("the model omni") && said.contains("the 257 units of its vocab"), "{said}");
}

#[tokio::test]
async fn one_name_pulls_a_model_for_each_direction_and_both_translate() {
    let world = Models::new().await;
    let files = [
        ("encoder", "encoder_model.onnx"),
        ("encoder-weights", "encoder_model.onnx.data"),
        ("decoder", "decoder_model.onnx"),
        ("decoder-with-past", "decoder_with_past_model.onnx"),
        ("decoder-weights", "decoder_shared.onnx.data"),
        ("source-tokenizer", "tokenizer_src.json"),
        ("target-tokenizer", "tokenizer_tgt.json"),
    ];
    let directions = [("en", "pa"), ("pa", "en")];
    let mut catalogue = String::new();
    for (from, to) in directions {
        let id = format!("{from}-{to}");
        write!(
            catalogue,
            "[[models]]\nid = '{id}'\nset = 'small'\nrepo = 'akhar/{id}'\nrevision = 'main'\nsize_mb = 1\n\
             best_for = 'tests'\noperation = 'translation'\nlayout = 'indictrans2'\nlanguage = '{from}'\n\
             licence = 'MIT'\n[models.generation]\nno_repeat_ngram_size = 3\nmax_new_tokens = 40\n"
        )
        .expect("a text grows");
        catalogue.push_str(&world.published(&id, &format!("seq2seq/indictrans2/{id}"), &files));
    }
    world.catalogue(&catalogue);
    let said = world.done(&["pull", "small"]).await;
    assert!(said.contains("en-pa is installed") && said.contains("pa-en is installed"), "{said}");
    assert!(world.done(&["pull", "small"]).await.contains("pa-en is installed already"));
    world.done(&["use", "translation", "en-pa"]).await;
    let both = world.done(&["use", "translation", "pa-en"]).await;
    assert!(both.contains("translation in en: en-pa") && both.contains("translation in pa: pa-en"), "{both}");
    for (from, to) in directions {
        let golden = root().join(format!("tests/fixtures/seq2seq/indictrans2/{from}-{to}/golden.json"));
        let golden: Value = serde_json::from_slice(&fs::read(golden).expect("a fixture")).expect("JSON");
        let case = &golden["cases"][0];
        let translated = world.translated(case["text"].as_str().expect("a text"), from, to).await;
        assert_eq!(translated.trim(), case["beam_text"].as_str().expect("a text").trim());
    }
}
