//! Helpers that several tests share: ONNX Runtime, golden files and manifests of fixtures, signals.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::{manifest::Manifest, runtime::Runtime};

/// ONNX Runtime, loaded once in the test process.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let dylib = std::env::var_os("AKHAR_ORT_DYLIB")
            .map_or_else(|| root().join(".cache/onnxruntime/libonnxruntime.so"), PathBuf::from);
        Runtime::load(&dylib).expect("ONNX Runtime: run `make test`, which fetches it")
    })
}

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A golden file of the fixtures.
pub(crate) fn golden<T: DeserializeOwned>(path: &str) -> T {
    serde_json::from_slice(&std::fs::read(fixtures(path)).expect("a fixture")).expect("a golden file")
}

/// Bytes that a golden file has in base64.
pub(crate) fn bytes(text: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(text).expect("base64")
}

/// The little-endian numbers in these bytes.
pub(crate) fn floats(text: &str) -> Vec<f32> {
    bytes(text).as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Random numbers from -1 to 1, the same as in the fixtures' script: the upper 24 bits of Knuth's linear
/// congruential generator.
#[expect(clippy::cast_precision_loss, reason = "the numbers have 24 bits")]
pub(crate) fn draws(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..n).map(|_| draw()).collect()
}

/// Noise at 16 kHz whose level changes in steps, added to a sawtooth whose pitch changes in steps.
#[expect(clippy::cast_precision_loss, reason = "the signals last a few seconds")]
pub(crate) fn signal(seed: u64, n: usize) -> Vec<f32> {
    let sample = |(n, draw): (usize, f32)| {
        let swell = (n / 800 % 5 + 1) as f32 / 20.0;
        let saw = (n * (110 + 70 * (n / 3200 % 7)) % 16_000) as f32 / 16_000.0 - 0.5;
        draw * swell + 0.3 * saw
    };
    draws(seed, n).into_iter().enumerate().map(sample).collect()
}

/// The largest difference between two lists of the same length.
pub(crate) fn apart(given: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(given.len(), expected.len());
    given.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// A path in `tests/fixtures`.
pub(crate) fn fixtures(path: &str) -> PathBuf {
    root().join("tests/fixtures").join(path)
}

/// A manifest of the fixtures in `folder`. `files` are pairs of a role and a file name; `tables` is added to
/// the manifest as it is.
pub(crate) fn manifest_of(folder: &str, layout: &str, tables: &str, files: &[(&str, &str)]) -> Manifest {
    let file = |(role, name): &(&str, &str)| {
        let path = fixtures(folder).join(name);
        let sha256 = hex::encode(Sha256::digest(std::fs::read(&path).expect("a fixture")));
        format!("[[files]]\nrole = '{role}'\npath = '{}'\nsha256 = '{sha256}'\n", path.display())
    };
    let files: String = files.iter().map(file).collect();
    let text = format!(
        "id = 'm'\noperation = 'test'\nlayout = '{layout}'\nlicence = 'MIT'\nsource = 'here'\n{tables}\n{files}"
    );
    toml::from_str(&text).expect("a manifest")
}
