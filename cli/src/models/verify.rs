//! `akhar models verify`: checks the files of installed models against the SHA-256 in their manifests.

use akhar_inference::Registry;
use akhar_platform::config::Config;

use super::error::failed;
use crate::{failure::Failure, output};

pub(super) fn run(config: &Config, id: Option<&str>) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let models = match id {
        Some(id) => std::slice::from_ref(registry.get(id).map_err(failed("verify"))?),
        None => registry.all(),
    };
    let mut broken = None;
    for model in models {
        match model.verify() {
            Ok(()) => output::line(format_args!("{}  {} verified", model.id, n_files(model.files.len())))?,
            Err(error) => {
                if let Some(earlier) = broken.replace(error) {
                    output::note(format_args!("akhar: {earlier}"));
                }
            }
        }
    }
    broken.map_or(Ok(()), |error| Err(error.into()))
}

fn n_files(n: usize) -> String {
    if n == 1 { "1 file".to_owned() } else { format!("{n} files") }
}
