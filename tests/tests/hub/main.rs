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

/// Puts a small speech model with random weights, which has some of them in a second file, on the hub. Returns its catalogue.
fn conformer(world: &Models) -> String {
    let files = [
        ("model", "model.onnx"),
        ("model-weights", "model.onnx_data"),
        ("vocab", "vocab.txt"),
        ("config", "config.json"),
    ];
    let files = world.published("conformer", "conformer/float32", &files);
    format!(
        "[[models]]\nid = 'conformer'\nrepo = 'akhar/conformer'\nrevision = 'main'\nsize_mb = 1\nbest_for = 'tests'\n\
         operation = 'speech-recognition'\nlayout = 'nemo-ctc'\nlanguage = 'pa'\nlicence = 'MIT'\n{files}"
    )
}
