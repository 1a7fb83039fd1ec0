//! The catalogue lists the models that can be pulled from a model hub. It is read from the built-in
//! `catalogue.toml` and from an operator's own file. Each entry also makes the manifest of its model.

use std::{
    fs,
    io::ErrorKind,
    path::{Component, Path},
};

use serde::Deserialize;
use toml::{Table, Value};

use crate::manifest::Manifest;

const BUILT_IN: &str = include_str!("../../models/catalogue.toml");

/// The models that can be pulled.
#[derive(Debug, Clone)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

/// One model that can be pulled.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// The model's name in the catalogue, and its id once it is installed.
    pub id: String,
    /// The name of a set of entries that are pulled together, such as one model for each direction of translation.
    #[serde(default)]
    pub set: Option<String>,
    /// The repository on the hub, as `owner/name`.
    pub repo: String,
    /// The commit or branch of the repository.
    pub revision: String,
    /// The approximate download size, in millions of bytes.
    pub size_mb: u64,
    /// A short text that says what the model is good for.
    pub best_for: String,
    /// What of the entry was seen in no public copy of the repository and in no program that downloads it.
    #[serde(default)]
    pub unconfirmed: Option<String>,
    /// The operation that the model serves, such as `speech-recognition`.
    pub operation: String,
    /// The model's layout, as a manifest spells it (see [`crate::Layout`]).
    pub layout: String,
    /// The model's language, if it has only one: `pa` or `en`.
    #[serde(default)]
    pub language: Option<String>,
    /// The licence of the weights, as an SPDX expression.
    pub licence: String,
    /// The files to download.
    pub files: Vec<Part>,
    /// All other keys of the entry. They are copied into the manifest unchanged.
    #[serde(flatten)]
    pub more: Table,
}

/// One file of a model on the hub.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The file's purpose in its layout, such as `encoder`.
    pub role: String,
    /// The file's path in the repository, and in the installed model's folder.
    pub path: String,
    /// SHA-256 of the file in lower-case hexadecimal, if it is known before the download.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// The reason why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The file cannot be read.
    #[error("cannot read the catalogue {path}: {source}")]
    Io {
        /// The catalogue's file.
        path: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The file is not valid TOML, or lacks a required key.
    #[error("the catalogue {path} is not valid: {source}")]
    Malformed {
        /// The catalogue's file.
        path: String,
        /// The error and its position in the file.
        source: Box<toml::de::Error>,
    },
    /// An entry has an invalid value.
    #[error("the catalogue {path} has an invalid entry: {what}")]
    Entry {
        /// The catalogue's file.
        path: String,
        /// The entry, what is wrong in it, and what is expected.
        what: String,
    },
    /// An entry does not give a valid manifest.
    #[error("the catalogue's entry {id} does not give a valid manifest: {source}")]
    Manifest {
        /// The entry's id.
        id: String,
        /// The error in the manifest.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogueFile {
    #[serde(default)]
    models: Vec<Entry>,
}

impl Catalogue {
    /// Reads the built-in catalogue, and an operator's own one, `catalogue.toml` in the folder of models, where there is one.
    /// Its entries come first, and replace built-in entries with the same id.
    ///
    /// # Errors
    ///
    /// When the operator's one cannot be read, is not valid TOML, or has an invalid entry.
    pub fn open(models_dir: &Path) -> Result<Self, CatalogueError> {
        let path = models_dir.join("catalogue.toml");
        let name = path.display().to_string();
        let mut entries = match fs::read_to_string(path) {
            Ok(own) => parse(&name, &own)?,
            Err(source) if source.kind() == ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(CatalogueError::Io { path: name, source }),
        };
        for entry in parse("models/catalogue.toml", BUILT_IN)? {
            if entries.iter().all(|own: &Entry| own.id != entry.id) {
                entries.push(entry);
            }
        }
        Ok(Self { entries })
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry with this id, or all entries of the set with this name.
    pub fn find(&self, name: &str) -> Vec<&Entry> {
        self.entries.iter().filter(|e| e.id == name || e.set.as_deref() == Some(name)).collect()
    }
}

impl Entry {
    /// The approximate download size, bytes.
    pub const fn n_bytes(&self) -> u64 {
        self.size_mb.saturating_mul(1_000_000)
    }

    /// The manifest of the pulled model, as TOML. `source` says where the model came from, and `sha256` holds
    /// the SHA-256 of each of [`Self::files`], in the same order.
    ///
    /// # Errors
    ///
    /// When the entry's keys and values do not make a valid manifest.
    pub fn manifest(&self, source: &str, sha256: &[String]) -> Result<String, CatalogueError> {
        let mut table = self.more.clone();
        let known = [
            ("id", Some(&*self.id)),
            ("operation", Some(&*self.operation)),
            ("layout", Some(&*self.layout)),
            ("language", self.language.as_deref()),
            ("licence", Some(&*self.licence)),
            ("source", Some(source)),
        ];
        table.extend(known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))));
        let files = self.files.iter().zip(sha256).map(|(part, sha256)| {
            let pairs = [("role", &part.role), ("path", &part.path), ("sha256", sha256)];
            Value::Table(
                pairs.map(|(key, value)| (key.to_owned(), value.as_str().into())).into_iter().collect(),
            )
        });
        table.insert("files".to_owned(), Value::Array(files.collect()));
        let failed = |source| CatalogueError::Manifest { id: self.id.clone(), source };
        let text = toml::to_string(&table).map_err(|e| failed(e.into()))?;
        toml::from_str::<Manifest>(&text).map_err(|e| failed(e.into()))?;
        Ok(text)
    }

    /// What is wrong with the entry, if anything: for example an id that is not a plain file name, or a path
    /// that leads out of the model's folder.
    fn fault(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        if self.id.is_empty() || self.id.starts_with('.') || !self.id.chars().all(plain) {
            return Some(format!(
                "id {:?}: expected only lower-case letters, digits, '-', '_' and '.', \
                 and no '.' at the start",
                self.id
            ));
        }
        if self.id == crate::registry::BUNDLED {
            return Some(format!(
                "id {:?} is reserved for the models that come with Akhar: choose another id",
                self.id
            ));
        }
        let inside = |path: &str| {
            !path.is_empty() && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
        };
        let about = |what: String| Some(format!("{}: {what}", self.id));
        if self.files.is_empty() {
            return about("it lists no files: expected at least one [[models.files]]".to_owned());
        }
        let manifest = format!("{}.toml", self.id);
        for (at, part) in self.files.iter().enumerate() {
            if !inside(&part.path) {
                return about(format!(
                    "path {:?}: expected a relative path inside the repository",
                    part.path
                ));
            }
            if part.path == manifest {
                return about(format!("path {:?} is reserved for the manifest", part.path));
            }
            if self.files[..at].iter().any(|other| other.path == part.path) {
                return about(format!("path {:?} is listed twice", part.path));
            }
            let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            if part.sha256.as_ref().is_some_and(|s| s.len() != 64 || !s.chars().all(hex)) {
                return about(format!("sha256 of {:?}: expected 64 digits from 0-9 and a-f", part.path));
            }
        }
        for (key, text) in [("repo", &self.repo), ("revision", &self.revision)] {
            if !inside(text) || text.chars().any(|c| c.is_whitespace() || "?#%".contains(c)) {
                return about(format!(
                    "{key} {text:?}: expected a name that can be part of a URL, \
                     without spaces, '?', '#' and '%'"
                ));
            }
        }
        None
    }
}

/// Parses a catalogue. `path` names it in errors.
pub(crate) fn parse(path: &str, text: &str) -> Result<Vec<Entry>, CatalogueError> {
    let malformed = |source| CatalogueError::Malformed { path: path.to_owned(), source: Box::new(source) };
    let file: CatalogueFile = toml::from_str(text).map_err(malformed)?;
    for (at, entry) in file.models.iter().enumerate() {
        let twice = file.models[..at].iter().any(|other| other.id == entry.id);
        let fault = entry.fault().or_else(|| twice.then(|| format!("the id {} is used twice", entry.id)));
        if let Some(what) = fault {
            return Err(CatalogueError::Entry { path: path.to_owned(), what });
        }
    }
    Ok(file.models)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = "[[models]]\nid = 'm'\nrepo = 'o/m'\nrevision = 'main'\nsize_mb = 1\nbest_for = 'tests'\n\
        operation = 'digit-recognition'\nlayout = 'image-classifier'\nlicence = 'MIT'\nlabels = ['a', 'b']\n\
        [[models.files]]\nrole = 'model'\npath = 'onnx/m.onnx'\n";

    fn error(text: &str) -> String {
        parse("own.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn every_built_in_entry_gives_a_manifest_with_the_files_of_its_layout() {
        let catalogue = Catalogue::open(Path::new("none")).unwrap();
        assert!(catalogue.entries().len() >= 5);
        for entry in catalogue.entries() {
            let hashes = vec!["0".repeat(64); entry.files.len()];
            let text = entry.manifest("https://hub", &hashes).unwrap();
            let manifest: Manifest = toml::from_str(&text).unwrap();
            let given = entry.files.iter().map(|f| f.role.as_str());
            let given: Vec<_> = given.filter(|role| !role.ends_with("-weights")).collect();
            assert_eq!(given, manifest.roles().collect::<Vec<_>>(), "{}", entry.id);
        }
    }

    #[test]
    fn the_keys_of_an_entry_are_copied_into_the_manifest() {
        let entries = parse("own.toml", ENTRY).unwrap();
        let text = entries[0].manifest("https://hub/o/m", &["1".repeat(64)]).unwrap();
        let manifest: Manifest = toml::from_str(&text).unwrap();
        assert_eq!((manifest.id.as_str(), manifest.source.as_str()), ("m", "https://hub/o/m"));
        assert_eq!(manifest.labels, ["a", "b"]);
        assert_eq!(manifest.files[0].path, Path::new("onnx/m.onnx"));
        let wrong = parse("own.toml", &ENTRY.replace("labels", "lables")).unwrap();
        let error = wrong[0].manifest("here", &["1".repeat(64)]).unwrap_err().to_string();
        assert!(error.contains("the catalogue's entry m") && error.contains("lables"), "{error}");
    }

    #[test]
    fn a_name_stands_for_an_entry_or_a_set() {
        let catalogue = Catalogue::open(Path::new("none")).unwrap();
        let ids = |name| catalogue.find(name).into_iter().map(|e| e.id.as_str()).collect::<Vec<_>>();
        assert_eq!(ids("indictrans2"), ["indictrans2-en-pa", "indictrans2-pa-en"]);
        assert_eq!(ids("indictrans2-en-pa"), ["indictrans2-en-pa"]);
        assert!(ids("indictrans").is_empty());
    }

    #[test]
    fn entries_with_invalid_names_paths_or_hashes_are_refused() {
        for path in ["../m.onnx", "/etc/passwd", "", "a/../../b"] {
            assert!(error(&ENTRY.replace("onnx/m.onnx", path)).contains("inside the repository"), "{path}");
        }
        for id in ["../m", "M", ".m", "", "bundled"] {
            assert!(
                error(&ENTRY.replace("id = 'm'", &format!("id = '{id}'"))).contains("invalid entry: id"),
                "{id}"
            );
        }
        assert!(error(&ENTRY.replace("'main'", "'a b'")).contains("revision"));
        assert!(error(&ENTRY.replace("onnx/m.onnx", "m.toml")).contains("reserved for the manifest"));
        assert!(error(&format!("{ENTRY}sha256 = 'abc'\n")).contains("64 digits"));
        assert!(error(&ENTRY.repeat(2)).contains("the id m is used twice"));
        assert!(error("[[models]]\nid = 'm'").contains("repo"));
    }

    #[test]
    fn the_operators_entries_come_first_and_replace_built_in_ones() {
        let folder = std::env::temp_dir().join(format!("akhar-catalogue-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("catalogue.toml");
        fs::write(&path, ENTRY.replace("'m'", "'whisper-small'")).unwrap();
        let own = Catalogue::open(&folder).unwrap();
        fs::write(&path, b"\xff").unwrap();
        let error = Catalogue::open(&folder).unwrap_err().to_string();
        fs::remove_dir_all(&folder).unwrap();
        let built_in = Catalogue::open(&folder).unwrap();
        assert_eq!(own.entries().len(), built_in.entries().len());
        assert_eq!(own.entries()[0].repo, "o/m");
        assert!(error.contains("cannot read the catalogue") && error.contains("akhar-catalogue"), "{error}");
    }
}
