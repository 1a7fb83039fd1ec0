//! The `akhar models` commands: models are pulled from a hub, resumed after an interruption, refused,
//! chosen and removed.

mod pulling;
mod trouble;
mod using;
mod working;

use std::{fs, path::Path};

use akhar_tests::{hub::sha256, models::Models};

/// Flips one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).expect("a write");
}

fn hash_of(path: &Path) -> String {
    sha256(&fs::read(path).expect("a file"))
}

/// Puts a small speech model with random weights, which are in this folder of fixtures, on the hub. Returns its catalogue.
fn speech_model(world: &Models, id: &str, layout: &str, folder: &str, files: &[(&str, &str)]) -> String {
    let files = world.published(id, folder, files);
    format!(
        "[[models]]\nid = '{id}'\nrepo = 'akhar/{id}'\nrevision = 'main'\nsize_mb = 1\nbest_for = 'tests'\n\
         operation = 'speech-recognition'\nlayout = '{layout}'\nlanguage = 'pa'\nlicence = 'MIT'\n{files}"
    )
}

/// One that has some of its weights in a second file.
fn conformer(world: &Models) -> String {
    let files = [
        ("model", "model.onnx"),
        ("model-weights", "model.onnx_data"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
    ];
    speech_model(world, "conformer", "nemo-ctc", "conformer/float32", &files)
}

/// One in the files of Omnilingual ASR in 8 bits.
fn omnilingual(world: &Models) -> String {
    let files = [("model", "model.int8.onnx"), ("vocab", "tokens.txt")];
    speech_model(world, "omni", "omnilingual", "omnilingual", &files)
}
