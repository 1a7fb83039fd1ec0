//! `akhar models try`: transcribes recordings with an installed model and with the bundled one, side by side.

use std::path::PathBuf;

use akhar_inference::{Manifest, Registry};
use akhar_jobs::Language;
use akhar_platform::config::Config;

use super::{
    error::failed,
    speech::{Clip, OPERATION, id_width, language, loaded},
};
use crate::failure::Failure;

pub(super) fn run(config: &Config, id: &str, lang: Language, files: &[PathBuf]) -> Result<(), Failure> {
    let registry = Registry::open(&config.models_dir)?;
    let model = registry.get(id).map_err(failed("try"))?;
    let lang = language("try", model, Some(lang))?;
    let is_bundled = |other: &&Manifest| {
        registry.is_bundled(&other.id)
            && other.operation == OPERATION
            && other.language.as_deref() == Some(lang)
    };
    let bundled = registry.all().iter().find(is_bundled).filter(|bundled| bundled.id != id);
    let mut models = loaded(config, bundled.into_iter().chain([model]))?;
    let width = id_width(&models);
    for file in files {
        let clip = Clip::open(file)?;
        clip.print()?;
        for (manifest, model) in &mut models {
            clip.transcribe(manifest, &mut **model, lang)?.print(&manifest.id, width, &clip)?;
        }
    }
    Ok(())
}
