//! Starts the engines of loaded models, and finds the models of languages.

use std::{collections::HashMap, sync::Arc};

use akhar_inference::{Manifest, Registry};
use akhar_requests::Language;

use super::lazy_model::LazyModel;
use crate::{
    engine::{BatchLimits, BatchModel, Engine},
    error::WorkerError,
    low_priority,
};

/// Starts the engine of a loaded model, in batches within these limits.
pub(super) fn start<M: BatchModel>(
    manifest: &Manifest,
    model: M,
    limits: BatchLimits,
) -> Result<Engine<M>, WorkerError> {
    Engine::start(&manifest.id, vec![model], limits).map_err(WorkerError::Thread)
}

/// Loads a model for work that may wait, and starts its engine: its threads get a low priority. Blocks the thread.
pub(super) fn load_at_low_priority<T: Send>(
    load: impl FnOnce() -> Result<T, WorkerError> + Send,
) -> Result<T, WorkerError> {
    low_priority::run("loads", load).map_err(WorkerError::Thread)?
}

/// The model that serves an operation, for each language. Languages may have the same model.
pub(super) fn by_language<T>(
    registry: &Registry,
    operation: &str,
    model: impl Fn(&Manifest) -> Result<Arc<LazyModel<T>>, WorkerError>,
) -> Result<HashMap<Language, Arc<LazyModel<T>>>, WorkerError> {
    let of_language =
        |language: Language| Ok((language, model(registry.serving(operation, Some(language.code()))?)?));
    Language::ALL.into_iter().map(of_language).collect()
}
