//! A model that is loaded when a job first needs it. Pipelines that use the same model share it.

use std::{
    any::Any,
    sync::{Arc, OnceLock, Weak},
    time::Instant,
};

use akhar_inference::{Manifest, Registry, Runtime};
use akhar_platform::{blocking::blocking, config::Config};
use parking_lot::Mutex;

use crate::{engine::RunningModel, error::WorkerError};

/// Loads a model and warms it up. Blocks the thread.
type Load<T> = fn(&Runtime, &Manifest, &Config) -> Result<T, WorkerError>;

/// The models of a worker.
pub(crate) struct LazyModels {
    runtime: Runtime,
    config: Arc<Config>,
    /// Those of all pipelines that are still used.
    all: Mutex<Vec<(Manifest, Weak<dyn Any + Send + Sync>)>>,
}

/// One model, or copies of it, as `T` runs it.
pub(crate) struct LazyModel<T> {
    manifest: Manifest,
    runtime: Runtime,
    config: Arc<Config>,
    load: Load<T>,
    /// Held while the model is being loaded.
    loading: Mutex<()>,
    loaded: OnceLock<T>,
}

impl LazyModels {
    pub(crate) fn new(runtime: Runtime, config: Arc<Config>) -> Self {
        Self { runtime, config, all: Mutex::default() }
    }

    /// The model of this manifest, which a pipeline may have already.
    ///
    /// # Errors
    ///
    /// Of a bundled model, when a file is missing or has another hash: it is loaded later. A model that an operator has
    /// chosen is loaded at once, because nobody may have run it on this machine before.
    pub(super) fn of<T: Send + Sync + 'static>(
        &self,
        registry: &Registry,
        manifest: &Manifest,
        load: Load<T>,
    ) -> Result<Arc<LazyModel<T>>, WorkerError> {
        let mut all = self.all.lock();
        all.retain(|(_, model)| model.strong_count() > 0);
        let same = all.iter().filter(|(known, _)| known == manifest).find_map(|(_, model)| model.upgrade());
        if let Some(model) = same.and_then(|model| model.downcast().ok()) {
            return Ok(model);
        }
        let model = Arc::new(LazyModel {
            manifest: manifest.clone(),
            runtime: self.runtime.clone(),
            config: self.config.clone(),
            load,
            loading: Mutex::default(),
            loaded: OnceLock::new(),
        });
        if registry.is_bundled(&manifest.id) {
            manifest.verify()?;
        } else {
            model.loaded()?;
        }
        let known: Arc<dyn Any + Send + Sync> = model.clone();
        all.push((manifest.clone(), Arc::downgrade(&known)));
        Ok(model)
    }
}

impl<T: Send + Sync + 'static> LazyModel<T> {
    /// The model, which is loaded first if this is its first job.
    ///
    /// # Errors
    ///
    /// When it cannot be loaded. The next call tries again.
    pub(super) async fn get(self: &Arc<Self>) -> Result<&T, WorkerError> {
        if self.loaded.get().is_none() {
            let model = self.clone();
            blocking(move || model.loaded().map(drop)).await?;
        }
        self.loaded()
    }

    /// The model, if it is loaded.
    pub(super) fn ready(&self) -> Option<&T> {
        self.loaded.get()
    }

    /// The same. Blocks the thread while the model is being loaded.
    pub(super) fn loaded(&self) -> Result<&T, WorkerError> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let _one_at_a_time = self.loading.lock();
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let started = Instant::now();
        let loaded = (self.load)(&self.runtime, &self.manifest, &self.config)?;
        let Manifest { id, operation, .. } = &self.manifest;
        tracing::info!(model = %id, %operation, took_ms = started.elapsed().as_millis(), "model loaded");
        Ok(self.loaded.get_or_init(|| loaded))
    }
}

impl<T: RunningModel> RunningModel for LazyModel<T> {
    fn name(&self) -> &str {
        &self.manifest.id
    }

    fn is_stuck_since(&self, time: Instant) -> bool {
        self.loaded.get().is_some_and(|model| model.is_stuck_since(time))
    }
}
