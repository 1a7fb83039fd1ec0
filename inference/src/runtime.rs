//! Loads ONNX Runtime's shared library, and runs models on it. This is the only file that names the crate
//! `ort`.

use std::path::{Path, PathBuf};

use ort::{
    environment::Environment,
    ep::CUDA,
    session::{RunOptions, Session as OrtSession, SessionInputValue, builder::GraphOptimizationLevel},
    value::{DynValue, Tensor as OwnedTensor, TensorElementType, TensorRef, ValueType},
};

use crate::{cast::dimension, manifest::Graph};

/// The key of a run's option with which the memory of its intermediate tensors is freed after it. Otherwise a session keeps as
/// much as its largest input needed.
const SHRINKAGE: &str = "memory.enable_memory_arena_shrinkage";

/// The reason why ONNX Runtime cannot be loaded, or a model cannot be loaded or run.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The shared library cannot be loaded.
    #[error(
        "cannot load ONNX Runtime's library {}: {reason}; run `make run`, which downloads the library, \
         or set AKHAR_ORT_DYLIB to the path of another copy",
        .path.display()
    )]
    Library {
        /// The path of the library.
        path: PathBuf,
        /// The loader's error.
        reason: String,
    },
    /// ONNX Runtime cannot load the model.
    #[error("ONNX Runtime cannot load the model {model}: {source}")]
    Load {
        /// The model's id.
        model: String,
        /// ONNX Runtime's error.
        source: ort::Error,
    },
    /// A run of the model failed.
    #[error("ONNX Runtime failed while it ran the model {model}: {source}")]
    Run {
        /// The model's id.
        model: String,
        /// ONNX Runtime's error.
        source: ort::Error,
    },
    /// The model's inputs or outputs are not those of the layout in its manifest.
    #[error("the model {model} does not have the layout that its manifest names: {what}")]
    Layout {
        /// The model's id.
        model: String,
        /// What was expected and what came.
        what: String,
    },
}

/// ONNX Runtime, loaded once in a process.
#[derive(Clone)]
pub struct Runtime {
    environment: Environment,
    provider: ExecutionProvider,
}

/// The ONNX Runtime execution provider that models run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecutionProvider {
    /// The CPU.
    #[default]
    Cpu,
    /// An NVIDIA GPU. The shared library must be built with CUDA support.
    Cuda,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

impl Runtime {
    /// Loads the shared library at the path `dylib`.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it is not a library of ONNX Runtime.
    pub fn load(dylib: &Path) -> Result<Self, RuntimeError> {
        let failed = |reason: String| RuntimeError::Library { path: dylib.to_owned(), reason };
        // An absolute path keeps the loader from searching the system's folders for a library of that name.
        let path = dylib.canonicalize().map_err(|e| failed(e.to_string()))?;
        let builder = ort::init_from(path).map_err(|e| failed(e.to_string()))?;
        let environment = builder.with_telemetry(false).build().map_err(|e| failed(e.to_string()))?;
        Ok(Self { environment, provider: ExecutionProvider::Cpu })
    }

    /// The same runtime, which loads further models on another execution provider.
    #[must_use]
    pub const fn with_provider(mut self, provider: ExecutionProvider) -> Self {
        self.provider = provider;
        self
    }

    /// Loads a model on the execution provider. Fails if the shared library does not support the provider.
    pub(crate) fn open(&self, id: &str, graph: Graph, n_threads: usize) -> Result<Session, RuntimeError> {
        let open = || -> ort::Result<OrtSession> {
            let mut builder = OrtSession::builder(&self.environment)?;
            if self.provider == ExecutionProvider::Cuda {
                builder = builder.with_execution_providers([CUDA::default().build().error_on_failure()])?;
            }
            let mut builder = builder
                .with_optimization_level(GraphOptimizationLevel::All)?
                .with_intra_threads(n_threads)?
                .with_inter_threads(1)?
                // Inputs have many lengths, and a pattern of allocations would be kept for each.
                .with_memory_pattern(false)?;
            match graph {
                Graph::Whole(bytes) => builder.commit_from_memory(&bytes),
                Graph::WithoutWeights(path) => builder.commit_from_file(path),
            }
        };
        let failed = |source| RuntimeError::Load { model: id.to_owned(), source };
        let loaded = open().map_err(failed)?;
        let mut options = RunOptions::new().map_err(failed)?;
        if self.provider == ExecutionProvider::Cpu {
            options.set(SHRINKAGE, "cpu:0").map_err(failed)?;
        }
        Ok(Session { loaded, options, id: id.to_owned() })
    }
}

/// A loaded model.
pub(crate) struct Session {
    loaded: OrtSession,
    options: RunOptions,
    id: String,
}

/// An input tensor: a shape and values in row-major order, or an output of an earlier run.
pub(crate) enum Tensor<'a> {
    F32(&'a [i64], &'a [f32]),
    I32(&'a [i64], &'a [i32]),
    I64(&'a [i64], &'a [i64]),
    Bool(&'a [i64], &'a [bool]),
    Retained(&'a RetainedTensor),
}

/// An output tensor that stays in ONNX Runtime's memory, to be an input of a later run.
#[derive(Debug)]
pub(crate) struct RetainedTensor(DynValue);

/// An output tensor with its values in row-major order. Booleans become 0 and 1, and integers become floats.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Session {
    /// The error of a model with unexpected inputs or outputs. `what` says what was expected and what came.
    pub(crate) fn layout_error(&self, what: impl Into<String>) -> RuntimeError {
        RuntimeError::Layout { model: self.id.clone(), what: what.into() }
    }

    /// The last dimension of one of the model's inputs.
    pub(crate) fn width_of(&self, input: &str) -> Result<usize, RuntimeError> {
        let outlet = self.loaded.inputs().iter().find(|i| i.name() == input);
        let width = outlet.and_then(|i| match i.dtype() {
            ValueType::Tensor { shape, .. } => shape.last().and_then(|n| usize::try_from(*n).ok()),
            _ => None,
        });
        width.ok_or_else(|| {
            self.layout_error(format!("expected an input {input:?} whose last dimension is fixed"))
        })
    }

    /// The shape of one of the model's inputs, with -1 for dimensions that are not fixed. `None` if the model
    /// has no such input.
    pub(crate) fn input(&self, name: &str) -> Option<Vec<i64>> {
        let outlet = self.loaded.inputs().iter().find(|i| i.name() == name)?;
        match outlet.dtype() {
            ValueType::Tensor { shape, .. } => Some(shape.to_vec()),
            _ => None,
        }
    }

    /// Runs the model on named inputs. Returns the named outputs in the order of `outputs`.
    pub(crate) fn run<const N: usize>(
        &mut self,
        inputs: Vec<(&str, Tensor<'_>)>,
        outputs: [&str; N],
    ) -> Result<[Array; N], RuntimeError> {
        let retained = self.run_retained(inputs, &outputs)?;
        let arrays = retained.iter().map(|tensor| self.read(tensor)).collect::<Result<Vec<_>, _>>()?;
        arrays
            .try_into()
            .map_err(|_| self.layout_error(format!("expected {N} outputs, found another number")))
    }

    /// Runs the model on named inputs. The named outputs stay in ONNX Runtime's memory.
    pub(crate) fn run_retained(
        &mut self,
        inputs: Vec<(&str, Tensor<'_>)>,
        outputs: &[impl AsRef<str>],
    ) -> Result<Vec<RetainedTensor>, RuntimeError> {
        let id = &self.id;
        let failed = |source| RuntimeError::Run { model: id.clone(), source };
        let values = inputs.into_iter().map(|(name, tensor)| Ok((name, tensor.value()?)));
        let values = values.collect::<ort::Result<Vec<_>>>().map_err(failed)?;
        let mut answers = self.loaded.run_with_options(values, &self.options).map_err(failed)?;
        let retained = outputs.iter().map(AsRef::as_ref).map(|name| {
            let missing = || RuntimeError::Layout {
                model: id.clone(),
                what: format!("expected an output {name:?}, found none"),
            };
            answers.remove(name).map(RetainedTensor).ok_or_else(missing)
        });
        retained.collect()
    }

    /// Reads the values of a retained tensor.
    pub(crate) fn read(&self, retained: &RetainedTensor) -> Result<Array, RuntimeError> {
        Array::of(&retained.0).map_err(|source| RuntimeError::Run { model: self.id.clone(), source })
    }

    /// Makes a new tensor from the given rows of a retained one, in this order.
    pub(crate) fn rows(
        &self,
        retained: &RetainedTensor,
        rows: &[usize],
    ) -> Result<RetainedTensor, RuntimeError> {
        retained.rows(rows).map_err(|source| RuntimeError::Run { model: self.id.clone(), source })
    }
}

impl RetainedTensor {
    fn rows(&self, rows: &[usize]) -> ort::Result<Self> {
        let (shape, values) = self.0.try_extract_tensor::<f32>()?;
        let n_rows = shape.first().and_then(|n| usize::try_from(*n).ok()).unwrap_or(0);
        let width = values.len() / n_rows.max(1);
        let mut gathered = Vec::with_capacity(rows.len() * width);
        for row in rows {
            gathered.extend_from_slice(values.get(row * width..(row + 1) * width).unwrap_or_default());
        }
        let mut shape = shape.to_vec();
        if let Some(first) = shape.first_mut() {
            *first = dimension(rows.len());
        }
        Ok(Self(OwnedTensor::from_array((shape, gathered))?.into_dyn()))
    }
}

impl<'a> Tensor<'a> {
    fn value(self) -> ort::Result<SessionInputValue<'a>> {
        Ok(match self {
            Self::F32(shape, values) => TensorRef::from_array_view((shape, values))?.into(),
            Self::I32(shape, values) => TensorRef::from_array_view((shape, values))?.into(),
            Self::Bool(shape, values) => TensorRef::from_array_view((shape, values))?.into(),
            Self::Retained(retained) => (&retained.0).into(),
            Self::I64(shape, values) => TensorRef::from_array_view((shape, values))?.into(),
        })
    }
}

impl Array {
    fn of(value: &DynValue) -> ort::Result<Self> {
        let ty = match value.dtype() {
            ValueType::Tensor { ty, .. } => *ty,
            _ => TensorElementType::Undefined,
        };
        let (shape, values) = match ty {
            TensorElementType::Bool => {
                let (shape, values) = value.try_extract_tensor::<bool>()?;
                (shape, values.iter().map(|&b| f32::from(u8::from(b))).collect())
            }
            TensorElementType::Int64 => {
                let (shape, values) = value.try_extract_tensor::<i64>()?;
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "the integer outputs are lengths, which are small"
                )]
                (shape, values.iter().map(|&n| n as f32).collect())
            }
            _ => {
                let (shape, values) = value.try_extract_tensor::<f32>()?;
                (shape, values.to_vec())
            }
        };
        Ok(Self { shape: shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect(), values })
    }
}
