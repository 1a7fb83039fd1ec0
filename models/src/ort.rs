//! ONNX Runtime: a shared library and a model's bytes come in; a session that maps tensors to tensors
//! comes out. The only file that names `ort`.

use std::path::{Path, PathBuf};

use ort::{
    environment::Environment,
    session::{Session as OrtSession, builder::GraphOptimizationLevel},
    value::TensorRef,
};

/// Why ONNX Runtime could not be loaded, or a model not be run on it.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The shared library.
    #[error("ONNX Runtime's library {}: {reason} (`make run` fetches it; AKHAR_ORT_DYLIB names another)", .path.display())]
    Library {
        /// Where it was looked for.
        path: PathBuf,
        /// What the loader said.
        reason: String,
    },
    /// A model that does not load.
    #[error("model {model}: {source}")]
    Load {
        /// Its id.
        model: String,
        /// What ONNX Runtime said.
        source: ort::Error,
    },
    /// A run that failed.
    #[error("model {model}: {source}")]
    Run {
        /// Its id.
        model: String,
        /// What ONNX Runtime said.
        source: ort::Error,
    },
    /// A model that is not of its manifest's layout.
    #[error("model {model}: {what}")]
    Layout {
        /// Its id.
        model: String,
        /// What was expected and what came.
        what: String,
    },
}

/// ONNX Runtime, loaded once per process.
#[derive(Clone)]
pub struct Runtime {
    environment: Environment,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

impl Runtime {
    /// Loads the shared library.
    pub fn load(dylib: &Path) -> Result<Self, RuntimeError> {
        let failed = |reason: String| RuntimeError::Library { path: dylib.to_owned(), reason };
        // The loader would search the system for a bare name: only this very file will do.
        let path = dylib.canonicalize().map_err(|e| failed(e.to_string()))?;
        let builder = ort::init_from(path).map_err(|e| failed(e.to_string()))?;
        let environment = builder.with_telemetry(false).build().map_err(|e| failed(e.to_string()))?;
        Ok(Self { environment })
    }

    /// Opens a model on the CPU.
    pub(crate) fn open(&self, id: &str, onnx: &[u8], n_threads: usize) -> Result<Session, RuntimeError> {
        let open = || -> ort::Result<OrtSession> {
            OrtSession::builder(&self.environment)?
                .with_optimization_level(GraphOptimizationLevel::All)?
                .with_intra_threads(n_threads)?
                .with_inter_threads(1)?
                .commit_from_memory(onnx)
        };
        let session = open().map_err(|source| RuntimeError::Load { model: id.to_owned(), source })?;
        Ok(Session { session, id: id.to_owned() })
    }
}

/// A loaded model.
pub(crate) struct Session {
    session: OrtSession,
    id: String,
}

impl Session {
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Runs one f32 tensor through the model; the named output, flattened row-major.
    pub(crate) fn run(
        &mut self,
        (input, shape, values): (&str, &[i64], &[f32]),
        output: &str,
    ) -> Result<Vec<f32>, RuntimeError> {
        let id = &self.id;
        let failed = |source| RuntimeError::Run { model: id.clone(), source };
        let tensor = TensorRef::from_array_view((shape, values)).map_err(failed)?;
        let outputs = self.session.run(ort::inputs![input => tensor]).map_err(failed)?;
        let Some(value) = outputs.get(output) else {
            return Err(RuntimeError::Layout {
                model: id.clone(),
                what: format!("has no output {output:?}"),
            });
        };
        let (_, values) = value.try_extract_tensor::<f32>().map_err(failed)?;
        Ok(values.to_vec())
    }
}
