//! The models that the registry chooses, which are replaced while the worker runs when the choice changes.

use std::{mem, num::NonZeroUsize, path::Path, sync::Arc, thread, time::Duration};

use akhar_inference::{ExecutionProvider, Manifest, Registry, RegistryError, Runtime, RuntimeError};
use akhar_jobs::store::LoadedModel;
use akhar_platform::{
    blocking::blocking,
    config::{Config, Device},
    metrics,
    shutdown::Shutdown,
};
use akhar_requests::{Language, Operation};
use parking_lot::RwLock;
use tokio::time::MissedTickBehavior;

use crate::{
    decoding::DecodingTurns,
    error::WorkerError,
    operations::{LazyModels, Pipeline, punctuation},
};

/// How often the worker checks whether the choice of models has changed.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The models in use. A running job keeps the pipeline that it started with, also when there is another one.
pub(crate) struct Models {
    config: Arc<Config>,
    /// Of all pipelines.
    lazy: Arc<LazyModels>,
    /// Of all pipelines.
    turns: DecodingTurns,
    current: RwLock<Serving>,
}

/// A pipeline, and the models in it.
struct Serving {
    pipeline: Arc<Pipeline>,
    models: Vec<LoadedModel>,
}

/// Loads ONNX Runtime for the device that is configured.
pub fn runtime(config: &Config) -> Result<Runtime, RuntimeError> {
    let provider = match config.device {
        Device::Cpu => ExecutionProvider::Cpu,
        Device::Cuda => ExecutionProvider::Cuda,
    };
    Ok(Runtime::load(&config.ort_dylib)?.with_provider(provider))
}

impl Models {
    /// Loads ONNX Runtime, and checks the models that the registry in `config.models_dir` chooses. Also returns that
    /// registry, for [`Self::follow`].
    pub(crate) async fn open(config: &Config) -> Result<(Self, Registry), WorkerError> {
        let config = Arc::new(config.clone());
        blocking(move || {
            let lazy = Arc::new(LazyModels::new(runtime(&config)?, config.clone()));
            let registry = Registry::open(&config.models_dir)?;
            let turns = DecodingTurns::of_half_the_cores();
            let loaded = open_models(&lazy, &registry, &config, turns.clone())?;
            export_info(&loaded.models, true);
            Ok((Self { config, lazy, turns, current: RwLock::new(loaded) }, registry))
        })
        .await
    }

    /// The pipeline for a job that starts now.
    pub(crate) fn pipeline(&self) -> Arc<Pipeline> {
        self.current.read().pipeline.clone()
    }

    /// The turns of the threads that decode recordings.
    pub(crate) fn decoding_turns(&self) -> &DecodingTurns {
        &self.turns
    }

    /// The models that serve.
    pub(crate) fn serving(&self) -> Vec<LoadedModel> {
        self.current.read().models.clone()
    }

    /// Opens a new pipeline whenever the choice of models changes, until a soft shutdown. If a model that is chosen
    /// cannot be loaded, this is logged and the current pipeline stays in use.
    pub(crate) async fn follow(self: Arc<Self>, mut chosen: Registry, stop: Shutdown) {
        let mut poll = tokio::time::interval(POLL_INTERVAL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = poll.tick() => (),
                () = stop.soft.cancelled() => return,
            }
            if !chosen.changed() {
                continue;
            }
            match Registry::open(&self.config.models_dir) {
                Ok(changed) => chosen = changed,
                Err(error) => {
                    tracing::error!(%error, "cannot read the choice of models: the current ones stay in use");
                    continue;
                }
            }
            let lazy = self.lazy.clone();
            let config = self.config.clone();
            let registry = chosen.clone();
            let turns = self.turns.clone();
            match blocking(move || open_models(&lazy, &registry, &config, turns)).await {
                Ok(loaded) => {
                    let former = mem::replace(&mut *self.current.write(), loaded);
                    export_info(&former.models, false);
                    export_info(&self.serving(), true);
                    tracing::info!("models changed");
                }
                Err(error) => {
                    tracing::error!(%error, "cannot load the chosen models: the current ones stay in use");
                }
            }
        }
    }
}

fn open_models(
    lazy: &LazyModels,
    registry: &Registry,
    config: &Config,
    turns: DecodingTurns,
) -> Result<Serving, WorkerError> {
    check_memory(registry, config)?;
    let models = uses().into_iter().map(|(operation, language)| {
        let manifest = registry.serving(operation, language)?;
        Ok(LoadedModel {
            operation: operation.to_owned(),
            language: language.map(str::to_owned),
            id: manifest.id.clone(),
            version: manifest.version().to_owned(),
        })
    });
    let models = models.collect::<Result<_, RegistryError>>()?;
    Ok(Serving { pipeline: Arc::new(Pipeline::open(lazy, registry, turns)?), models })
}

/// Exports that these models are in use, or that they are no longer.
fn export_info(models: &[LoadedModel], is_in_use: bool) {
    for LoadedModel { operation, language, id, version } in models {
        let labels = [operation, language.as_deref().unwrap_or_default(), id, version];
        metrics::MODEL_INFO.set(labels, f64::from(u8::from(is_in_use)));
    }
}

/// Each operation that needs a model, with each language of its models.
fn uses() -> Vec<(&'static str, Option<&'static str>)> {
    let languages = || Language::ALL.map(|language| Some(language.code()));
    let served = |operation: Operation| match operation {
        Operation::SpeechRecognition | Operation::Translation => {
            languages().map(|l| (operation.name(), l)).to_vec()
        }
        _ => vec![(operation.name(), None)],
    };
    let mut uses: Vec<_> =
        Operation::ALL.into_iter().filter(|operation| operation.has_form()).flat_map(served).collect();
    uses.push((punctuation::OPERATION, None));
    uses
}

/// The models that serve all operations and languages.
///
/// # Errors
///
/// When no installed model serves one of them, or several do and none is chosen.
pub fn serving(registry: &Registry) -> Result<Vec<&Manifest>, RegistryError> {
    let mut serving: Vec<&Manifest> = Vec::new();
    for (operation, language) in uses() {
        let manifest = registry.serving(operation, language)?;
        if serving.iter().all(|m| m.id != manifest.id) {
            serving.push(manifest);
        }
    }
    Ok(serving)
}

/// Refuses models whose files are larger than the available memory, before any of them is loaded.
fn check_memory(registry: &Registry, config: &Config) -> Result<(), WorkerError> {
    let copies = u64::try_from(config.speech_copies().get()).unwrap_or(u64::MAX);
    let size = |model: &&Manifest| model.size().saturating_mul(if is_for_speech(model) { copies } else { 1 });
    let needed: u64 = serving(registry)?.iter().map(size).fold(0, u64::saturating_add);
    match available_memory(Path::new("/proc/meminfo")) {
        Some(available) if needed > available => Err(WorkerError::Memory { needed, available }),
        _ => Ok(()),
    }
}

/// How many copies of the speech models this machine can run: one for each core, as far as they fit into half of the
/// available memory.
pub fn speech_copies(registry: &Registry) -> Result<NonZeroUsize, RegistryError> {
    let n_cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let size: u64 =
        serving(registry)?.into_iter().filter(|model| is_for_speech(model)).map(Manifest::size).sum();
    let available = available_memory(Path::new("/proc/meminfo")).unwrap_or(0);
    let n = usize::try_from(available / 2 / size.max(1)).unwrap_or(usize::MAX).min(n_cores.get());
    Ok(NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN))
}

fn is_for_speech(model: &Manifest) -> bool {
    model.operation == Operation::SpeechRecognition.name()
}

/// Memory that Linux can give without swapping, bytes; `None` if `meminfo` does not say.
fn available_memory(meminfo: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(meminfo).ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_from_meminfo() {
        let path = std::env::temp_dir().join(format!("akhar-meminfo-{}", std::process::id()));
        std::fs::write(&path, "MemTotal:       100 kB\nMemAvailable:    64 kB\n").unwrap();
        assert_eq!(available_memory(&path), Some(65_536));
        std::fs::write(&path, "MemTotal: 100 kB\n").unwrap();
        assert_eq!(available_memory(&path), None);
        std::fs::remove_file(path).unwrap();
    }
}
