//! Catalogue: `catalogue.toml` and an operator's own come in; what may be pulled, and the manifest each pulled
//! model gets, come out.

use std::{
    fs,
    path::{Component, Path},
};

use serde::Deserialize;
use toml::{Table, Value};

use crate::Manifest;

const BUILT_IN: &str = include_str!("../../models/catalogue.toml");

/// What may be pulled.
#[derive(Debug, Clone)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

/// One model that may be pulled.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// Its name, here and once it is installed.
    pub id: String,
    /// The repository at the hub, as `owner/name`.
    pub repo: String,
    /// The commit or branch there.
    pub revision: String,
    /// About how much it is to transfer, in millions of bytes.
    pub size_mb: u64,
    /// What one would want it for.
    pub best_for: String,
    /// The operation it serves.
    pub operation: String,
    /// How to run it, as a manifest writes it.
    pub layout: String,
    /// The language it is for, where it is for one.
    #[serde(default)]
    pub language: Option<String>,
    /// SPDX expression for the weights.
    pub licence: String,
    /// What it is made of.
    pub files: Vec<Part>,
    /// Whatever else its manifest says: these go there as they are.
    #[serde(flatten)]
    pub more: Table,
}

/// One file of a model at the hub.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// What it is to its layout.
    pub role: String,
    /// Where it lies in the repository, and in the installed model's folder.
    pub path: String,
    /// SHA-256 of its bytes in lower-case hexadecimal, where it is known beforehand.
    #[serde(default)]
    pub sha256: Option<String>,
}

/// Why a catalogue cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// It cannot be read.
    #[error("catalogue {path}: {source}")]
    Io {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It is not a catalogue.
    #[error("catalogue {path}: {source}")]
    Malformed {
        /// Which file.
        path: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// An entry that cannot be pulled as it stands.
    #[error("catalogue {path}: {what}")]
    Entry {
        /// Which file.
        path: String,
        /// Which entry, and what is wrong.
        what: String,
    },
    /// An entry of which no manifest can be made.
    #[error("the catalogue's {id} makes no manifest: {source}")]
    Manifest {
        /// Which entry.
        id: String,
        /// Where in the manifest, and why.
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
    /// The built-in catalogue, and an operator's own laid over it: its entries replace those of the same id
    /// and come first.
    pub fn open(own: Option<&Path>) -> Result<Self, CatalogueError> {
        let mut entries = Vec::new();
        if let Some(path) = own {
            let name = path.display().to_string();
            let io = |source| CatalogueError::Io { path: name.clone(), source };
            entries = parse(&name, &fs::read_to_string(path).map_err(io)?)?;
        }
        for entry in parse("models/catalogue.toml", BUILT_IN)? {
            if entries.iter().all(|own: &Entry| own.id != entry.id) {
                entries.push(entry);
            }
        }
        Ok(Self { entries })
    }

    /// Every entry.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this id.
    pub fn find(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.id == id)
    }
}

impl Entry {
    /// The manifest of this model once it is pulled: where from, and the SHA-256 of each file in their order.
    /// What comes back is proven to be a manifest.
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

    /// What is wrong with it, if anything: a name that is no plain file name, a path that leads elsewhere.
    fn fault(&self) -> Option<String> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        if self.id.is_empty() || self.id.starts_with('.') || !self.id.chars().all(plain) {
            return Some(format!("id {:?}: expected lower-case letters, digits, - _ .", self.id));
        }
        if self.id == crate::registry::BUNDLED {
            return Some(format!("id {:?} stands for the models that came with Akhar", self.id));
        }
        let inside = |path: &str| {
            !path.is_empty() && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)))
        };
        let about = |what: String| Some(format!("{}: {what}", self.id));
        if self.files.is_empty() {
            return about("names no files".to_owned());
        }
        let manifest = format!("{}.toml", self.id);
        for (at, part) in self.files.iter().enumerate() {
            if !inside(&part.path) {
                return about(format!("path {:?}: expected one inside the repository", part.path));
            }
            if part.path == manifest || self.files[..at].iter().any(|other| other.path == part.path) {
                return about(format!("path {:?} is there twice", part.path));
            }
            let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            if part.sha256.as_ref().is_some_and(|s| s.len() != 64 || !s.chars().all(hex)) {
                return about(format!("sha256 of {:?}: expected 64 digits 0-9 a-f", part.path));
            }
        }
        for (key, text) in [("repo", &self.repo), ("revision", &self.revision)] {
            if !inside(text) || text.chars().any(|c| c.is_whitespace() || "?#%".contains(c)) {
                return about(format!("{key} {text:?}: expected a name as in a URL's path"));
            }
        }
        None
    }
}

fn parse(path: &str, text: &str) -> Result<Vec<Entry>, CatalogueError> {
    let malformed = |source| CatalogueError::Malformed { path: path.to_owned(), source: Box::new(source) };
    let file: CatalogueFile = toml::from_str(text).map_err(malformed)?;
    for (at, entry) in file.models.iter().enumerate() {
        let twice = file.models[..at].iter().any(|other| other.id == entry.id);
        let fault = entry.fault().or_else(|| twice.then(|| format!("{} is there twice", entry.id)));
        if let Some(what) = fault {
            return Err(CatalogueError::Entry { path: path.to_owned(), what });
        }
    }
    Ok(file.models)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    const ENTRY: &str = "[[models]]\nid = 'm'\nrepo = 'o/m'\nrevision = 'main'\nsize_mb = 1\nbest_for = 'tests'\n\
        operation = 'digit-recognition'\nlayout = 'image-classifier'\nlicence = 'MIT'\nlabels = ['a', 'b']\n\
        [[models.files]]\nrole = 'model'\npath = 'onnx/m.onnx'\n";

    fn error(text: &str) -> String {
        parse("own.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn every_built_in_entry_makes_a_manifest_its_layout_can_load() {
        let catalogue = Catalogue::open(None).unwrap();
        assert!(catalogue.entries().len() >= 5);
        for entry in catalogue.entries() {
            let hashes = vec!["0".repeat(64); entry.files.len()];
            let text = entry.manifest("https://hub", &hashes).unwrap();
            let manifest: Manifest = toml::from_str(&text).unwrap();
            // As the loaders read them, which is where they are said.
            let roles: &[&str] = match manifest.layout {
                Layout::Whisper => &["encoder", "decoder", "tokenizer", "generation"],
                Layout::NemoTdt => &["encoder", "decoder", "vocab", "config"],
                Layout::NemoCtc => &["model", "vocab", "config"],
                Layout::M2m100 => &["encoder", "decoder", "tokenizer"],
                other => panic!("{}: say here which files {other} reads", entry.id),
            };
            assert_eq!(
                entry.files.iter().map(|f| f.role.as_str()).collect::<Vec<_>>(),
                roles,
                "{}",
                entry.id
            );
        }
    }

    #[test]
    fn what_the_catalogue_says_goes_into_the_manifest() {
        let entries = parse("own.toml", ENTRY).unwrap();
        let text = entries[0].manifest("https://hub/o/m", &["1".repeat(64)]).unwrap();
        let manifest: Manifest = toml::from_str(&text).unwrap();
        assert_eq!((manifest.id.as_str(), manifest.source.as_str()), ("m", "https://hub/o/m"));
        assert_eq!(manifest.labels, ["a", "b"]);
        assert_eq!(manifest.files[0].path, Path::new("onnx/m.onnx"));
        let wrong = parse("own.toml", &ENTRY.replace("labels", "lables")).unwrap();
        let error = wrong[0].manifest("here", &["1".repeat(64)]).unwrap_err().to_string();
        assert!(error.contains("the catalogue's m") && error.contains("lables"), "{error}");
    }

    #[test]
    fn entries_that_lead_elsewhere_are_refused() {
        for path in ["../m.onnx", "/etc/passwd", "", "a/../../b"] {
            assert!(error(&ENTRY.replace("onnx/m.onnx", path)).contains("inside the repository"), "{path}");
        }
        for id in ["../m", "M", ".m", "", "bundled"] {
            assert!(
                error(&ENTRY.replace("id = 'm'", &format!("id = '{id}'"))).contains("own.toml: id"),
                "{id}"
            );
        }
        assert!(error(&ENTRY.replace("'main'", "'a b'")).contains("revision"));
        assert!(error(&format!("{ENTRY}sha256 = 'abc'\n")).contains("64 digits"));
        assert!(error(&ENTRY.repeat(2)).contains("m is there twice"));
        assert!(error("[[models]]\nid = 'm'").contains("repo"));
    }

    #[test]
    fn an_operators_entries_come_first_and_replace() {
        let path = std::env::temp_dir().join(format!("akhar-catalogue-{}.toml", std::process::id()));
        fs::write(&path, ENTRY.replace("'m'", "'whisper-small'")).unwrap();
        let (own, built_in) = (Catalogue::open(Some(&path)).unwrap(), Catalogue::open(None).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(own.entries().len(), built_in.entries().len());
        assert_eq!(own.entries()[0].repo, "o/m");
        let error = Catalogue::open(Some(&path)).unwrap_err().to_string();
        assert!(error.contains("akhar-catalogue"), "{error}");
    }
}
