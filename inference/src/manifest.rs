//! What a model is: `models/<id>.toml` comes in; its labels and its files' checked bytes come out.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::generation::{Alignment, Decoding, Generation};

/// One model, as its manifest describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Its name; the manifest's file name without the ending.
    pub id: String,
    /// The operation it serves, as the path names it.
    pub operation: String,
    /// How to run it.
    pub layout: Layout,
    /// SPDX expression for the weights.
    pub licence: String,
    /// What rebuilds it, or where it came from.
    pub source: String,
    /// The language it is for, where it is for one: `pa` or `en`.
    #[serde(default)]
    pub language: Option<String>,
    /// What its outputs stand for, in order; NFC.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The characters and signs it writes, in order; NFC.
    #[serde(default)]
    pub glyphs: Vec<String>,
    /// How its emissions are decoded; where missing, each frame's likeliest unit is taken.
    #[serde(default)]
    pub decoding: Option<Decoding>,
    /// How words get their times from a CTC model beside it.
    #[serde(default)]
    pub alignment: Option<Alignment>,
    /// The languages it knows by a token each: code to token.
    #[serde(default)]
    pub languages: BTreeMap<String, String>,
    /// How it generates text; where missing, as [`Generation::default`] says.
    #[serde(default)]
    pub generation: Option<Generation>,
    /// Its files.
    pub files: Vec<ModelFile>,
    /// Measured figures, by name; the card says how each was measured.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    /// The folder the manifest lies in.
    #[serde(skip)]
    folder: PathBuf,
}

/// How a model is run: the names and shapes of its inputs and outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// `ink` f32 [N, 1, SIDE, SIDE] -> `probabilities` f32 [N, labels].
    ImageClassifier,
    /// `glyph` i64 `[N]`, `style` f32 [1, W], `variation` f32 [N, V] -> `points` f32 [N, S, P, 2],
    /// `present` bool [N, S], `head` f32 [N, H, 2]. See [`crate::handwriting`].
    GlyphStrokes,
    /// A NeMo CTC export: `audio_signal` f32 [B, mels, T], `length` i64 `[B]` -> `logprobs` f32 [B, T', units];
    /// `vocab` and `config` beside it. See [`crate::speech`].
    NemoCtc,
    /// A NeMo transducer with durations: `encoder`, `decoder` (with the joint network), `vocab`, `config`.
    NemoTdt,
    /// The same without durations.
    NemoRnnt,
    /// Whisper, as Optimum exports it: `encoder`, `decoder` (merged), `tokenizer`, `generation`
    /// (`generation_config.json`), and `languages`.
    Whisper,
    /// Moonshine, as Optimum exports it: `encoder` of samples at 16 kHz, `decoder` (merged), `tokenizer`
    /// (`tokenizer.json` or `tokenizer.bin`); with `[alignment]`, the files of a [`Layout::NemoCtc`] model too, as
    /// `aligner-model`, `aligner-vocab` and `aligner-config`.
    Moonshine,
    /// Translation between several languages, as Optimum exports it: `encoder`, `decoder` (merged), `tokenizer`,
    /// and `languages`. See [`crate::seq2seq`].
    M2m100,
    /// Translation from one language to another, as Optimum exports it: `encoder`, `decoder` (merged),
    /// `tokenizer`.
    Marian,
}

impl std::fmt::Display for Layout {
    /// Its name, as a manifest writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Serialize::serialize(self, f)
    }
}

/// One file of a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    /// What it is to its layout, such as `model`.
    pub role: String,
    /// Where it lies, from the manifest's folder.
    pub path: PathBuf,
    /// SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
}

/// Why a manifest or a file it names cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// It cannot be read.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that `scripts/setup.sh` fetches, and which is not there.
    #[error("{}: no such file: run `scripts/setup.sh weights`, which fetches the weights of {model}", .path.display())]
    NotFetched {
        /// Which file.
        path: PathBuf,
        /// Whose.
        model: String,
    },
    /// It is not a manifest.
    #[error("{}: {source}", .path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// It contradicts itself.
    #[error("{}: {what}", .path.display())]
    Inconsistent {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file is not the one the manifest names.
    #[error("{}: its SHA-256 is {found}, the manifest of {model} says {expected}", .path.display())]
    Hash {
        /// Which file.
        path: PathBuf,
        /// Whose.
        model: String,
        /// What the manifest says.
        expected: String,
        /// What it is.
        found: String,
    },
}

/// What else lies in the folder of manifests: this crate's own, and what may be pulled.
const OTHERS: [&str; 2] = ["Cargo.toml", "catalogue.toml"];

/// Reads every manifest of a folder, by id.
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
    /// Reads one manifest; the files it names are not read yet.
    pub fn load(path: &Path) -> Result<Self, ManifestError> {
        let text =
            fs::read_to_string(path).map_err(|source| ManifestError::Io { path: path.to_owned(), source })?;
        let mut manifest: Self = toml::from_str(&text)
            .map_err(|source| ManifestError::Malformed { path: path.to_owned(), source: Box::new(source) })?;
        manifest.folder = path.parent().map(Path::to_owned).unwrap_or_default();
        let stem = path.file_stem().unwrap_or_default();
        if stem != manifest.id.as_str() {
            let what = format!("its id is {}, expected its file's name, {}", manifest.id, stem.display());
            return Err(ManifestError::Inconsistent { path: path.to_owned(), what });
        }
        Ok(manifest)
    }

    /// The bytes of the file with this role, proven by their hash.
    pub fn read(&self, role: &str) -> Result<Vec<u8>, ManifestError> {
        let file = self.files.iter().find(|f| f.role == role);
        let file = file.ok_or_else(|| self.inconsistent(format!("names no file with role {role:?}")))?;
        self.read_file(file)
    }

    /// Bytes of its files that are there.
    pub fn size(&self) -> u64 {
        let size = |file: &ModelFile| fs::metadata(self.folder.join(&file.path)).map_or(0, |m| m.len());
        self.files.iter().map(size).sum()
    }

    /// The manifest of a model within this one: its files are those whose role begins so.
    pub(crate) fn part(&self, prefix: &str, layout: Layout) -> Self {
        let file = |file: &ModelFile| {
            let role = file.role.strip_prefix(prefix)?.to_owned();
            Some(ModelFile { role, ..file.clone() })
        };
        Self { layout, decoding: None, files: self.files.iter().filter_map(file).collect(), ..self.clone() }
    }

    /// Refuses a model of another layout than this one.
    pub(crate) fn expect(&self, layout: Layout) -> Result<(), ManifestError> {
        if self.layout == layout {
            return Ok(());
        }
        Err(self.unfit())
    }

    /// Refuses a layout that cannot serve its operation.
    pub(crate) fn unfit(&self) -> ManifestError {
        self.inconsistent(format!("its layout, {:?}, does not serve {}", self.layout, self.operation))
    }

    /// An error in what this manifest says.
    pub(crate) fn inconsistent(&self, what: String) -> ManifestError {
        ManifestError::Inconsistent { path: self.folder.join(format!("{}.toml", self.id)), what }
    }

    /// Checks every file, whatever its size; the first that is missing or differs is the error.
    pub fn verify(&self) -> Result<(), ManifestError> {
        self.files.iter().try_for_each(|file| {
            let path = self.path_of(file);
            let found = sha256_of(&path).map_err(|source| self.unreadable(file, source))?;
            self.compare(file, path, found)
        })
    }

    /// Where one of its files lies.
    pub fn path_of(&self, file: &ModelFile) -> PathBuf {
        self.folder.join(&file.path)
    }

    fn read_file(&self, file: &ModelFile) -> Result<Vec<u8>, ManifestError> {
        let path = self.path_of(file);
        let bytes = fs::read(&path).map_err(|source| self.unreadable(file, source))?;
        self.compare(file, path, format!("{:x}", Sha256::digest(&bytes)))?;
        Ok(bytes)
    }

    /// Why a file cannot be read. Weights that others publish are not in git: setting up puts them into the folder
    /// `fetched` beside the manifest.
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

/// SHA-256 of a file of any size, in lower-case hexadecimal.
pub fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    std::io::copy(&mut fs::File::open(path)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "id = 'm'\noperation = 'digit-recognition'\nlayout = 'image-classifier'\n\
        licence = 'MIT'\nsource = 'here'\n[[files]]\nrole = 'model'\npath = 'm.onnx'\n";
    /// SHA-256 of "abc", from FIPS 180-4's examples.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn folder(name: &str, manifest: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("akhar-manifest-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("m.toml"), manifest).unwrap();
        fs::write(folder.join("m.onnx"), "abc").unwrap();
        folder
    }

    #[test]
    fn a_file_is_read_when_its_hash_is_the_named_one() {
        let folder = folder("whole", &format!("{MANIFEST}sha256 = '{ABC}'\n"));
        let models = load_all(&folder).unwrap();
        models[0].verify().unwrap();
        assert_eq!(models[0].read("model").unwrap(), b"abc");
        let error = models[0].read("tokenizer").unwrap_err().to_string();
        assert!(error.contains("tokenizer"), "{error}");
        fs::write(folder.join("m.onnx"), "abd").unwrap();
        let error = models[0].read("model").unwrap_err();
        assert!(matches!(error, ManifestError::Hash { .. }), "{error}");
        fs::remove_dir_all(folder).unwrap();
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
