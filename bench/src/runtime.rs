//! Loads ONNX Runtime in this process, as the product does.

use std::{path::PathBuf, sync::OnceLock};

use akhar_inference::Runtime;
use akhar_tests::root;

/// ONNX Runtime, loaded once in this process.
pub(crate) fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        let dylib = std::env::var_os("AKHAR_ORT_DYLIB")
            .map_or_else(|| root().join(".cache/onnxruntime/libonnxruntime.so"), PathBuf::from);
        Runtime::load(&dylib).expect("ONNX Runtime")
    })
}
