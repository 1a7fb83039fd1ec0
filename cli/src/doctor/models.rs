//! Checks of ONNX Runtime's library and of the models. A machine on which no worker runs needs neither.

use std::path::Path;

use akhar_inference::{Registry, Runtime};
use akhar_platform::config::Config;

use super::check::{Check, Status};

/// All checks of models. The library is loaded, and all files of the models are hashed. What is not there is no failure on a
/// machine without a worker.
pub(super) fn checks(config: &Config, has_worker: bool) -> Vec<Check> {
    let mut checks = of_worker(config);
    let is_missing = |path: &Path| !path.exists();
    if !has_worker && (is_missing(&config.models_dir) || is_missing(&config.ort_dylib)) {
        for check in checks.iter_mut().filter(|check| check.status == Status::Failed) {
            check.status = Status::Warning;
            check.found = format!("no worker can start here, and an api needs none: {}", check.found);
        }
    }
    checks
}

fn of_worker(config: &Config) -> Vec<Check> {
    let mut checks = vec![library(config)];
    match Registry::open(&config.models_dir) {
        Ok(registry) => {
            checks.push(files(&registry));
            checks.push(served(&registry));
        }
        Err(error) => {
            let fix = "set AKHAR_MODELS_DIR to the folder `models` that comes with Akhar";
            checks.push(Check::failed("models", error.to_string(), fix));
        }
    }
    checks
}

fn library(config: &Config) -> Check {
    match Runtime::load(&config.ort_dylib) {
        Ok(_) => Check::ok("library", format!("ONNX Runtime at {} loads", config.ort_dylib.display())),
        Err(error) => {
            let fix = "run `scripts/setup.sh library`, or where akhar was installed with pip, install the package \
                       onnxruntime again; or set AKHAR_ORT_DYLIB to libonnxruntime.so of version 1.24 or newer";
            Check::failed("library", error.to_string(), fix)
        }
    }
}

fn files(registry: &Registry) -> Check {
    let n = registry.all().len();
    match registry.all().iter().find_map(|model| model.verify().err()) {
        None => Check::ok("models", format!("the files of {n} models have the right SHA-256")),
        Some(error) => {
            let fix = "install it again: `scripts/setup.sh weights` and git for bundled models, or the packages akhar and \
                       moonshine-voice where akhar was installed with pip; `akhar models pull` for others; `akhar models \
                       verify` checks all files";
            Check::failed("models", error.to_string(), fix)
        }
    }
}

/// Whether each operation and language has a model that serves it.
fn served(registry: &Registry) -> Check {
    match akhar_worker::serving(registry) {
        Ok(serving) => {
            let ids: Vec<&str> = serving.iter().map(|model| model.id.as_str()).collect();
            Check::ok("operations", format!("each has a model: {}", ids.join(", ")))
        }
        Err(error) => {
            Check::failed("operations", error.to_string(), "choose a model with `akhar models use`")
        }
    }
}
