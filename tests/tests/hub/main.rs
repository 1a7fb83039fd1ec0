//! The `akhar models` commands: models are pulled from a hub, resumed after an interruption, refused, chosen
//! and removed.

mod pulling;
mod trouble;
mod using;
mod working;

use std::{fs, path::Path};

use akhar_tests::hub::sha256;

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
