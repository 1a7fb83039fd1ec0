//! Reads a model's manifest, `models/<id>.toml`, and the files that it names, whose hashes are checked.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use digest_io::IoWrapper;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::{
    generation::{Alignment, Confidence, Decoding, Generation},
    layout::Layout,
};

/// One model, as its manifest describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The model's name. It is the manifest's file name without `.toml`.
    pub id: String,
    /// The operation that the model serves, as in the URL's path, or `translation`.
    pub operation: String,
    /// How the model is run.
    pub layout: Layout,
    /// The licence of the weights, as an SPDX expression.
    pub licence: String,
    /// The command that rebuilds the model, or the place that it came from.
    pub source: String,
    /// The model's language, if it has only one: `pa` or `en`.
    #[serde(default)]
    pub language: Option<String>,
    /// The label of each output of a classifier, in order, in NFC.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The letters and signs that a handwriting model can write, in order, in NFC.
    #[serde(default)]
    pub glyphs: Vec<String>,
    /// The settings of beam search over a CTC model's emissions. Without them, the likeliest unit of each
    /// frame is taken (greedy decoding).
    #[serde(default)]
    pub decoding: Option<Decoding>,
    /// How likely a transcript or a translation is right. Without it, none is said to be probably wrong.
    #[serde(default)]
    pub confidence: Option<Confidence>,
    /// How words get their times from a CTC model beside the one that writes the text.
    #[serde(default)]
    pub alignment: Option<Alignment>,
    /// The languages of a multilingual model: from the language's code to its token.
    #[serde(default)]
    pub languages: BTreeMap<String, String>,
    /// What `config.json` has, for a model that is published without this file.
    #[serde(default)]
    pub(crate) config: Option<toml::Table>,
    /// How the model generates text. The default is [`Generation::default`].
    #[serde(default)]
    pub generation: Option<Generation>,
    /// The model's files.
    pub files: Vec<ModelFile>,
    /// Measured figures by name. The model's card says how each was measured.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// The folder that holds the manifest.
    #[serde(skip)]
    folder: PathBuf,
    #[serde(skip)]
    version: String,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// The file's purpose in its layout, such as `model`.
    pub role: String,
    /// The file's path, relative to the manifest's folder.
    pub path: PathBuf,
    /// SHA-256 of the file's bytes, in lower-case hexadecimal.
    pub sha256: String,
}

/// A model in ONNX.
pub(crate) enum Graph {
    /// The bytes of a file with everything.
    Whole(Vec<u8>),
    /// The path of a file whose weights are in another one beside it.
    WithoutWeights(PathBuf),
}

/// The reason why a manifest, or a file that it names, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// A file or folder cannot be read or written.
    #[error("cannot read or write {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A file that `scripts/setup.sh` fetches is missing.
    #[error("{}: no such file: run `scripts/setup.sh weights`, which fetches the weights of {model}", .path.display())]
    NotFetched {
        /// The file.
        path: PathBuf,
        /// The model's id.
        model: String,
    },
    /// A manifest or `use.toml` is not valid TOML, or has a wrong or missing key.
    #[error("{} is not valid: {source}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The error and its position in the file.
        source: Box<toml::de::Error>,
    },
    /// A value in a manifest contradicts another one, or the model's files.
    #[error("{}: {what}", .path.display())]
    Inconsistent {
        /// The manifest's file.
        path: PathBuf,
        /// What is wrong, and what is expected.
        what: String,
    },
    /// A file's hash is not the one in the manifest.
    #[error(
        "{}: its SHA-256 is {found}, but the manifest of {model} expects {expected}: \
         the file is damaged or another version; restore it or pull the model again",
        .path.display()
    )]
    Hash {
        /// The file.
        path: PathBuf,
        /// The model's id.
        model: String,
        /// The hash in the manifest.
        expected: String,
        /// The file's hash.
        found: String,
    },
}

/// TOML files in the folder of manifests that are not manifests.
const OTHERS: [&str; 2] = ["Cargo.toml", "catalogue.toml"];

/// The keys of a manifest on which no answer depends.
const ABOUT: [&str; 3] = ["licence", "source", "metrics"];

/// Reads all manifests in a folder and sorts them by id.
///
/// # Errors
///
/// When the folder or a manifest cannot be read, or a manifest is not valid.
pub fn load_all(folder: &Path) -> Result<Vec<Manifest>, ManifestError> {
    let io = |source| ManifestError::Io { path: folder.to_owned(), source };
    let mut manifests = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let other = path.file_name().is_some_and(|name| OTHERS.iter().any(|other| name == *other));
        if path.extension().is_some_and(|e| e == "toml") && !other {
            manifests.push(Manifest::load(&path)?);
        }
    }
    manifests.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(manifests)
}

impl Manifest {
    /// Reads one manifest. The files that it names are not read yet.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is not a valid manifest, or has a name other than its id.
    pub fn load(path: &Path) -> Result<Self, ManifestError> {
        let text =
            fs::read_to_string(path).map_err(|source| ManifestError::Io { path: path.to_owned(), source })?;
        let malformed = |source| ManifestError::Malformed { path: path.to_owned(), source: Box::new(source) };
        let mut manifest: Self = toml::from_str(&text).map_err(malformed)?;
        manifest.folder = path.parent().map(Path::to_owned).unwrap_or_default();
        manifest.version = version(toml::from_str(&text).map_err(malformed)?);
        let stem = path.file_stem().unwrap_or_default();
        if stem != manifest.id.as_str() {
            let what = format!(
                "the model's id is {}, but its file is named {}: expected the same name",
                manifest.id,
                stem.display()
            );
            return Err(ManifestError::Inconsistent { path: path.to_owned(), what });
        }
        Ok(manifest)
    }

    /// Reads the file with this role and checks its hash.
    ///
    /// # Errors
    ///
    /// When the manifest names no such file, or the file cannot be read or has another hash.
    pub fn read(&self, role: &str) -> Result<Vec<u8>, ManifestError> {
        self.read_file(self.file(role)?)
    }

    fn file(&self, role: &str) -> Result<&ModelFile, ManifestError> {
        let missing =
            || self.inconsistent(format!("it names no file with the role {role:?}, which is needed"));
        self.files.iter().find(|file| file.role == role).ok_or_else(missing)
    }

    /// Finds the graph with this role, and checks its hash. Its weights may be in a second file, with the role
    /// `ROLE-weights`. `decoder-weights` are also those of `decoder-with-past`.
    pub(crate) fn graph(&self, role: &str) -> Result<Graph, ManifestError> {
        let shared = role.strip_suffix("-with-past").unwrap_or(role);
        let weights = [role, shared].map(|graph| format!("{graph}-weights"));
        let Some(weights) = self.files.iter().find(|file| weights.contains(&file.role)) else {
            return self.read(role).map(Graph::Whole);
        };
        let graph = self.file(role)?;
        self.verify_file(graph)?;
        self.verify_file(weights)?;
        // ONNX Runtime follows no symbolic link to weights.
        let path = self.path_of(graph).canonicalize().map_err(|source| self.unreadable(graph, source))?;
        Ok(Graph::WithoutWeights(path))
    }

    /// The total size of the model's files, bytes. Missing files count as 0.
    pub fn size(&self) -> u64 {
        let size = |file: &ModelFile| fs::metadata(self.folder.join(&file.path)).map_or(0, |m| m.len());
        self.files.iter().map(size).sum()
    }

    /// The first 12 digits of a SHA-256 in hexadecimal: another one for another program, other weights, or another value in the manifest
    /// that an answer can depend on.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The manifest of another model that this one has beside it. Its files are those whose role begins with
    /// `prefix`.
    pub(crate) fn part(&self, prefix: &str, layout: Layout) -> Self {
        let file = |file: &ModelFile| {
            let role = file.role.strip_prefix(prefix)?.to_owned();
            Some(ModelFile { role, ..file.clone() })
        };
        Self {
            layout,
            decoding: None,
            confidence: None,
            files: self.files.iter().filter_map(file).collect(),
            ..self.clone()
        }
    }

    /// Checks that the model has this layout.
    pub(crate) fn expect(&self, layout: Layout) -> Result<(), ManifestError> {
        if self.layout == layout {
            return Ok(());
        }
        Err(self.unfit())
    }

    /// The error of a manifest whose layout cannot serve its operation.
    pub(crate) fn unfit(&self) -> ManifestError {
        self.inconsistent(format!("the layout {} cannot serve the operation {}", self.layout, self.operation))
    }

    /// An error about the contents of this manifest. `what` says what is wrong and what is expected.
    pub(crate) fn inconsistent(&self, what: String) -> ManifestError {
        ManifestError::Inconsistent { path: self.path(), what }
    }

    /// The manifest's file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.toml", self.id))
    }

    /// Checks that the layout's files are named, and the hashes of all files. The files are not loaded into memory, so their
    /// size does not matter.
    ///
    /// # Errors
    ///
    /// The first file that is not named, cannot be read or has another hash.
    pub fn verify(&self) -> Result<(), ManifestError> {
        self.roles().try_for_each(|role| self.file(role).map(|_| ()))?;
        self.files.iter().try_for_each(|file| self.verify_file(file))
    }

    /// The roles of the files that the model must have. What `config.json` has can be in the manifest instead.
    pub(crate) fn roles(&self) -> impl Iterator<Item = &'static str> {
        let is_file = |role: &&str| *role != "config" || self.config.is_none();
        self.layout.roles().iter().copied().filter(is_file)
    }

    fn verify_file(&self, file: &ModelFile) -> Result<(), ManifestError> {
        let path = self.path_of(file);
        let found = sha256_of(&path).map_err(|source| self.unreadable(file, source))?;
        self.compare(file, path, found)
    }

    /// The path of one of the model's files.
    pub fn path_of(&self, file: &ModelFile) -> PathBuf {
        self.folder.join(&file.path)
    }

    fn read_file(&self, file: &ModelFile) -> Result<Vec<u8>, ManifestError> {
        let path = self.path_of(file);
        let bytes = fs::read(&path).map_err(|source| self.unreadable(file, source))?;
        self.compare(file, path, hex::encode(Sha256::digest(&bytes)))?;
        Ok(bytes)
    }

    /// The error of a file that cannot be read. Weights that others publish are not in git: `scripts/setup.sh` puts
    /// them into the folder `fetched` beside the manifest.
    fn unreadable(&self, file: &ModelFile, source: io::Error) -> ManifestError {
        let path = self.path_of(file);
        if source.kind() == io::ErrorKind::NotFound && file.path.starts_with("fetched") {
            return ManifestError::NotFetched { path, model: self.id.clone() };
        }
        ManifestError::Io { path, source }
    }

    fn compare(&self, file: &ModelFile, path: PathBuf, found: String) -> Result<(), ManifestError> {
        if found == file.sha256 {
            return Ok(());
        }
        Err(ManifestError::Hash { path, model: self.id.clone(), expected: file.sha256.clone(), found })
    }
}

/// The [`Manifest::version`] of these values.
fn version(mut manifest: toml::Table) -> String {
    manifest.retain(|key, _| !ABOUT.contains(&key));
    let hash = Sha256::new().chain_update(env!("CARGO_PKG_VERSION")).chain_update(manifest.to_string());
    let mut version = hex::encode(hash.finalize());
    version.truncate(12);
    version
}

/// SHA-256 of a file of any size, in lower-case hexadecimal.
///
/// # Errors
///
/// When the file cannot be read.
pub fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut hash = IoWrapper(Sha256::new());
    std::io::copy(&mut fs::File::open(path)?, &mut hash)?;
    Ok(hex::encode(hash.0.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "id = 'm'\noperation = 'digit-recognition'\nlayout = 'image-classifier'\n\
        licence = 'MIT'\nsource = 'here'\n[[files]]\nrole = 'model'\npath = 'm.onnx'\n";
    /// SHA-256 of "abc", from the examples of FIPS 180-4.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn folder(name: &str, manifest: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("akhar-manifest-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("m.toml"), manifest).unwrap();
        fs::write(folder.join("m.onnx"), "abc").unwrap();
        folder
    }

    #[test]
    fn a_file_is_only_read_if_its_hash_is_the_one_in_the_manifest() {
        let folder = folder("whole", &format!("{MANIFEST}sha256 = '{ABC}'\n"));
        let models = load_all(&folder).unwrap();
        models[0].verify().unwrap();
        assert_eq!(models[0].read("model").unwrap(), b"abc");
        let error = models[0].read("tokenizer").unwrap_err().to_string();
        assert!(error.contains("tokenizer"), "{error}");
        let renamed = Manifest {
            files: vec![ModelFile { role: "net".to_owned(), ..models[0].files[0].clone() }],
            ..models[0].clone()
        };
        let error = renamed.verify().unwrap_err().to_string();
        assert!(error.contains("m.toml: it names no file with the role \"model\""), "{error}");
        fs::write(folder.join("m.onnx"), "abd").unwrap();
        let error = models[0].read("model").unwrap_err();
        assert!(matches!(error, ManifestError::Hash { .. }), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_version_is_another_one_if_an_answer_can_be() {
        let manifest = format!("labels = ['੪', '੫']\n{MANIFEST}sha256 = '{ABC}'\n");
        let version = |manifest: &str| version(toml::from_str(manifest).unwrap());
        let versions = [
            ("labels in another order", manifest.replace("'੪', '੫'", "'੫', '੪'")),
            ("another calibration", format!("{manifest}[confidence]\nbias = 1.0\n")),
            ("other weights", manifest.replace(ABC, &ABC.replace('b', "c"))),
        ];
        for (what, other) in versions {
            assert_ne!(version(&other), version(&manifest), "{what}");
        }
        let same = [
            manifest.replace("licence = 'MIT'", "licence = 'Apache-2.0'"),
            format!("# a comment\n{manifest}[metrics]\ntop1 = 1.0\n"),
        ];
        assert!(same.iter().all(|same| version(same) == version(&manifest)));
    }

    #[test]
    fn a_file_that_was_not_fetched_is_said_to_be() {
        let manifest = MANIFEST.replace("m.onnx", "fetched/m.onnx");
        let folder = folder("fetched", &format!("{manifest}sha256 = '{ABC}'\n"));
        let model = &load_all(&folder).unwrap()[0];
        for error in [model.read("model").unwrap_err(), model.verify().unwrap_err()] {
            assert!(error.to_string().contains("run `scripts/setup.sh weights`"), "{error}");
        }
        fs::create_dir(folder.join("fetched")).unwrap();
        fs::write(folder.join("fetched/m.onnx"), "abc").unwrap();
        model.verify().unwrap();
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn unknown_keys_and_wrong_names_are_refused() {
        let unknown = folder("unknown", &format!("colour = 'red'\n{MANIFEST}sha256 = '{ABC}'\n"));
        let error = load_all(&unknown).unwrap_err().to_string();
        assert!(error.contains("colour"), "{error}");
        let renamed = folder("renamed", &format!("{MANIFEST}sha256 = '{ABC}'\n"));
        fs::rename(renamed.join("m.toml"), renamed.join("n.toml")).unwrap();
        assert!(matches!(load_all(&renamed).unwrap_err(), ManifestError::Inconsistent { .. }));
        fs::remove_dir_all(unknown).unwrap();
        fs::remove_dir_all(renamed).unwrap();
    }
}
