//! Helpers that several tests share: ONNX Runtime, and manifests of fixtures.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use sha2::{Digest as _, Sha256};

use crate::{Manifest, Runtime};

/// ONNX Runtime, loaded once in the test process.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let dylib = std::env::var_os("AKHAR_ORT_DYLIB")
            .map_or_else(|| root().join(".cache/onnxruntime/libonnxruntime.so"), PathBuf::from);
        Runtime::load(&dylib).expect("ONNX Runtime: run `make test`, which fetches it")
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
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
