//! An installed model in; the same model with int8 matrices, in a folder of its own, out.
//!
//! A model keeps its layout and everything of its files but the matrices: see `graph` for what is exchanged, `wire` for how
//! the rest is kept. Where weights are in a second file, all of them move into the graph's file.

#[cfg(test)]
mod golden_tests;
mod graph;
mod matrix;
mod product;
mod proto;
mod wire;

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use toml::{Table, Value};

use crate::manifest::{Layout, Manifest, ManifestError, ModelFile, sha256_of};

/// The largest message that readers of ONNX take.
const MAX_BYTES: usize = i32::MAX as usize;

/// The reason why there is no int8 model.
#[derive(Debug, thiserror::Error)]
pub enum Int8Error {
    /// The model's own files cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Models with this layout are not quantised here.
    #[error(
        "{id} has the layout {layout}, whose inputs run as one batch: with int8 matrices, one caller's result would depend \
         on the inputs of others. Expected nemo-ctc, whisper-ctc, whisper or moonshine"
    )]
    Layout {
        /// The model's id.
        id: String,
        /// The model's layout.
        layout: Layout,
    },
    /// No matrix of floats is left, for example because the model is quantised already.
    #[error("{0} has no products with matrices of floats: it may be quantised already")]
    Nothing(String),
    /// A file is damaged, or is no model in ONNX.
    #[error("{}: {what}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// The roles of a model's graphs, if its layout runs one input at a time: one scale rounds all numbers that a matrix
/// multiplies in a run.
const fn graphs(layout: Layout) -> Option<&'static [&'static str]> {
    match layout {
        Layout::NemoCtc | Layout::WhisperCtc => Some(&["model"]),
        Layout::IndicConformer => Some(&["encoder"]),
        Layout::Whisper | Layout::Moonshine => Some(&["encoder", "decoder"]),
        _ => None,
    }
}

/// Writes a model with int8 matrices and its manifest into a folder. Its id is `id`.
///
/// # Errors
///
/// When the model's layout runs its inputs as a batch, its files cannot be used, it has no matrices of floats, or a file
/// cannot be written.
pub fn quantise(model: &Manifest, id: &str, folder: &Path) -> Result<Manifest, Int8Error> {
    let roles = graphs(model.layout)
        .ok_or_else(|| Int8Error::Layout { id: model.id.clone(), layout: model.layout })?;
    model.verify()?;
    let is_graph = |file: &ModelFile| roles.contains(&file.role.as_str());
    let is_weights =
        |file: &ModelFile| file.role.strip_suffix("-weights").is_some_and(|role| roles.contains(&role));
    let mut n_rewritten = 0;
    let mut files = Vec::new();
    for file in model.files.iter().filter(|file| !is_weights(file)) {
        let path = folder.join(&file.path);
        let bytes = Bytes::from(model.read(&file.role)?);
        let rewritten = if is_graph(file) { rewritten(&bytes, &model.path_of(file))? } else { None };
        n_rewritten += usize::from(rewritten.is_some());
        write(&path, &rewritten.unwrap_or(bytes))?;
        let sha256 = sha256_of(&path).map_err(|source| Int8Error::Io { path, source })?;
        files.push(ModelFile { sha256, ..file.clone() });
    }
    if n_rewritten == 0 {
        return Err(Int8Error::Nothing(model.id.clone()));
    }
    let path = folder.join(format!("{id}.toml"));
    write(&path, manifest(model, id, &files)?.as_bytes())?;
    Ok(Manifest::load(&path)?)
}

/// The bytes of the file at `path` with int8 matrices, if it has any products to exchange.
fn rewritten(bytes: &Bytes, path: &Path) -> Result<Option<Bytes>, Int8Error> {
    let malformed = |what: String| Int8Error::Malformed { path: path.to_owned(), what };
    let folder = path.parent().unwrap_or(Path::new(""));
    let rewritten = graph::rewritten(bytes, folder).map_err(|error| malformed(error.to_string()))?;
    match rewritten.as_ref().map(Bytes::len) {
        Some(n) if n > MAX_BYTES => Err(malformed(format!(
            "it would have {n} bytes with int8 matrices, expected at most {MAX_BYTES}"
        ))),
        _ => Ok(rewritten),
    }
}

/// The manifest of a model whose matrices are int8 now. Measured figures are of the floats, so it has none.
fn manifest(model: &Manifest, id: &str, files: &[ModelFile]) -> Result<String, Int8Error> {
    let path = model.path();
    let malformed = |what: String| Int8Error::Malformed { path: path.clone(), what };
    let text = fs::read_to_string(&path).map_err(|error| malformed(error.to_string()))?;
    let mut table: Table = toml::from_str(&text).map_err(|error| malformed(error.to_string()))?;
    table.remove("metrics");
    let source = format!("`akhar models quantize {}`, from {}", model.id, model.source);
    table.extend([("id".to_owned(), id.into()), ("source".to_owned(), source.into())]);
    let file = |file: &ModelFile| {
        let path = file.path.to_string_lossy();
        let keys = [("role", &*file.role), ("path", &*path), ("sha256", &*file.sha256)];
        Value::Table(keys.map(|(key, value)| (key.to_owned(), value.into())).into_iter().collect())
    };
    table.insert("files".to_owned(), files.iter().map(file).collect::<Vec<_>>().into());
    toml::to_string(&table).map_err(|error| malformed(error.to_string()))
}

/// Writes a file so that it is on disk.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Int8Error> {
    let written = || {
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        let mut file = File::create(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    written().map_err(|source| Int8Error::Io { path: path.to_owned(), source })
}
