//! Starts the engines of models that the registry chooses.

use std::collections::HashMap;

use akhar_inference::{Manifest, Registry};
use akhar_jobs::Language;

use crate::{
    engine::{BatchLimits, BatchModel, Engine},
    error::WorkerError,
};

/// Starts the engine of a loaded model, in batches within these limits.
pub(super) fn start<M: BatchModel>(
    manifest: &Manifest,
    model: M,
    limits: BatchLimits,
) -> Result<Engine<M>, WorkerError> {
    start_copies(manifest, vec![model], limits)
}

/// Starts the engine of a model that is loaded several times.
pub(super) fn start_copies<M: BatchModel>(
    manifest: &Manifest,
    copies: Vec<M>,
    limits: BatchLimits,
) -> Result<Engine<M>, WorkerError> {
    tracing::info!(model = %manifest.id, operation = %manifest.operation, copies = copies.len(), "model loaded");
    Engine::start(&manifest.id, copies, limits).map_err(WorkerError::Thread)
}

/// What `load` makes of the model that serves an operation, for each language. A model that serves several languages is
/// loaded once.
pub(super) fn by_language<E: Clone>(
    registry: &Registry,
    operation: &str,
    load: impl Fn(&Manifest) -> Result<E, WorkerError>,
) -> Result<HashMap<Language, E>, WorkerError> {
    let mut loaded: HashMap<&str, E> = HashMap::new();
    let mut by_language = HashMap::new();
    for language in Language::ALL {
        let manifest = registry.serving(operation, Some(language.code()))?;
        let engine = match loaded.get(manifest.id.as_str()) {
            Some(engine) => engine.clone(),
            None => load(manifest)?,
        };
        loaded.insert(&manifest.id, engine.clone());
        by_language.insert(language, engine);
    }
    Ok(by_language)
}
