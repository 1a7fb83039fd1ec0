//! Starts the engines of loaded models, and finds the models of languages.

use std::{collections::HashMap, sync::Arc};

use akhar_inference::{Manifest, Registry};
use akhar_jobs::Language;

use super::lazy_model::LazyModel;
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
    Engine::start(&manifest.id, vec![model], limits).map_err(WorkerError::Thread)
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
