//! `akhar models verify`: checks model files against their manifests' SHA-256.

use akhar_inference::Registry;
use akhar_platform::config::Config;

use super::error::failed;
use crate::failure::Failure;

pub(super) fn run(config: &Config, id: Option<&str>) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let models = match id {
        Some(id) => std::slice::from_ref(registry.get(id).map_err(failed("verify"))?),
        None => registry.all(),
    };
    let mut broken = None;
    for model in models {
        match model.verify() {
            Ok(()) => println!("{}  {} files whole", model.id, model.files.len()),
            Err(error) => {
                if let Some(earlier) = broken.replace(error) {
                    eprintln!("akhar: {earlier}");
                }
            }
        }
    }
    broken.map_or(Ok(()), |error| Err(error.into()))
}
