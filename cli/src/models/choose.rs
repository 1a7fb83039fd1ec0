//! `akhar models use`: chooses the model for an operation, and prints which models are in use.

use akhar_inference::{BUNDLED, Registry};
use akhar_platform::config::Config;

use super::error::failed;
use crate::{failure::Failure, output};

pub(super) fn run(config: &Config, operation: &str, language: Option<&str>, id: &str) -> Result<(), Failure> {
    let mut registry = Registry::open(&config.models_dir)?;
    if id != BUNDLED {
        registry.get(id).map_err(failed("use"))?.verify()?;
    }
    registry.choose(operation, language, id).map_err(failed("use"))?;
    for model in registry.all().iter().filter(|m| m.operation == operation) {
        match &registry.serves(model)[..] {
            [] => (),
            [None, ..] => output::line(format_args!("{operation}: {}", model.id))?,
            languages => {
                let languages: Vec<&str> = languages.iter().flatten().map(String::as_str).collect();
                output::line(format_args!("{operation} in {}: {}", languages.join(", "), model.id))?;
            }
        }
    }
    Ok(())
}
