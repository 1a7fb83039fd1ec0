//! ONNX Runtime: a shared library and a model's bytes come in; a session that maps tensors to tensors
//! comes out. The only file that names `ort`.

use std::path::{Path, PathBuf};

use ort::{
    environment::Environment,
    ep::CUDA,
    session::{Session as OrtSession, SessionInputValue, builder::GraphOptimizationLevel},
    value::{DynValue, Tensor as OwnedTensor, TensorElementType, TensorRef, ValueType},
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
    /// A model whose inputs or outputs are not those of its manifest's layout.
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
    provider: ExecutionProvider,
}

/// The ONNX Runtime execution provider that models run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExecutionProvider {
    /// The processor.
    #[default]
    Cpu,
    /// An NVIDIA GPU; the shared library must be one built for it.
    Cuda,
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
        Ok(Self { environment, provider: ExecutionProvider::Cpu })
    }

    /// The same runtime, opening models on another provider.
    #[must_use]
    pub const fn with_provider(mut self, provider: ExecutionProvider) -> Self {
        self.provider = provider;
        self
    }

    /// Opens a model on the provider; an error where the shared library does not have it.
    pub(crate) fn open(&self, id: &str, onnx: &[u8], n_threads: usize) -> Result<Session, RuntimeError> {
        let open = || -> ort::Result<OrtSession> {
            let mut builder = OrtSession::builder(&self.environment)?;
            if self.provider == ExecutionProvider::Cuda {
                builder = builder.with_execution_providers([CUDA::default().build().error_on_failure()])?;
            }
            builder
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

/// An input tensor: its shape and its values, row-major, or an output of an earlier run.
pub(crate) enum Tensor<'a> {
    F32(&'a [i64], &'a [f32]),
    I32(&'a [i64], &'a [i32]),
    I64(&'a [i64], &'a [i64]),
    Bool(&'a [i64], &'a [bool]),
    Retained(&'a RetainedTensor),
}

/// A tensor that stays in the runtime from one run to the next.
#[derive(Debug)]
pub(crate) struct RetainedTensor(DynValue);

/// An output tensor: its values, row-major; booleans as 0 and 1, lengths as what they are.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl Session {
    /// An error of the model's shape: what was expected and what came.
    pub(crate) fn layout_error(&self, what: impl Into<String>) -> RuntimeError {
        RuntimeError::Layout { model: self.id.clone(), what: what.into() }
    }

    /// The last dimension of a tensor the model takes.
    pub(crate) fn width_of(&self, input: &str) -> Result<usize, RuntimeError> {
        let outlet = self.session.inputs().iter().find(|i| i.name() == input);
        let width = outlet.and_then(|i| match i.dtype() {
            ValueType::Tensor { shape, .. } => shape.last().and_then(|n| usize::try_from(*n).ok()),
            _ => None,
        });
        width.ok_or_else(|| self.layout_error(format!("has no input {input:?} of a fixed last dimension")))
    }

    /// The shape of a tensor the model takes, -1 where it is free; none where it takes no such tensor.
    pub(crate) fn input(&self, name: &str) -> Option<Vec<i64>> {
        let outlet = self.session.inputs().iter().find(|i| i.name() == name)?;
        match outlet.dtype() {
            ValueType::Tensor { shape, .. } => Some(shape.to_vec()),
            _ => None,
        }
    }

    /// Runs named tensors through the model; the named outputs, in the order asked for.
    pub(crate) fn run<const N: usize>(
        &mut self,
        inputs: Vec<(&str, Tensor<'_>)>,
        outputs: [&str; N],
    ) -> Result<[Array; N], RuntimeError> {
        let retained = self.run_retained(inputs, &outputs)?;
        let arrays = retained.iter().map(|tensor| self.read(tensor)).collect::<Result<Vec<_>, _>>()?;
        arrays.try_into().map_err(|_| self.layout_error("gave another number of outputs"))
    }

    /// Runs named tensors through the model; the outputs stay in the runtime.
    pub(crate) fn run_retained(
        &mut self,
        inputs: Vec<(&str, Tensor<'_>)>,
        outputs: &[impl AsRef<str>],
    ) -> Result<Vec<RetainedTensor>, RuntimeError> {
        let id = &self.id;
        let failed = |source| RuntimeError::Run { model: id.clone(), source };
        let values = inputs.into_iter().map(|(name, tensor)| Ok((name, tensor.value()?)));
        let values = values.collect::<ort::Result<Vec<_>>>().map_err(failed)?;
        let mut answers = self.session.run(values).map_err(failed)?;
        let retained = outputs.iter().map(AsRef::as_ref).map(|name| {
            let missing =
                || RuntimeError::Layout { model: id.clone(), what: format!("has no output {name:?}") };
            answers.remove(name).map(RetainedTensor).ok_or_else(missing)
        });
        retained.collect()
    }

    /// The values of a retained tensor.
    pub(crate) fn read(&self, retained: &RetainedTensor) -> Result<Array, RuntimeError> {
        Array::of(&retained.0).map_err(|source| RuntimeError::Run { model: self.id.clone(), source })
    }

    /// A new tensor of these rows of a retained one, in this order.
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
            *first = i64::try_from(rows.len()).unwrap_or(i64::MAX);
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
                #[expect(clippy::cast_precision_loss, reason = "lengths")]
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
