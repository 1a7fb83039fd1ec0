//! Reads and writes `use.toml`, the operator's choices of models. A change replaces the file in one rename.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::manifest::ManifestError;

/// An id that stands for the bundled model, the one that comes with Akhar.
pub const BUNDLED: &str = "bundled";

const FILE: &str = "use.toml";
const HEAD: &str =
    "# Written by `akhar models use`: the models that serve an operation instead of the bundled ones.\n\n";

/// One choice: the model that serves an operation in one language or in all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub(super) operation: String,
    /// `None` stands for every language that the model knows, or for an operation without languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<String>,
    pub(super) id: String,
}

impl Choice {
    pub(super) fn new(operation: &str, language: Option<&str>, id: &str) -> Self {
        Self { operation: operation.to_owned(), language: language.map(str::to_owned), id: id.to_owned() }
    }
}

/// All choices, and the state of the file when they were read.
#[derive(Debug, Clone)]
pub(super) struct Choices {
    folder: PathBuf,
    all: Vec<Choice>,
    seen: Option<Seen>,
}

/// A file's modification time and contents. When a model is pulled again under the same id, only the time
/// changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    modified: SystemTime,
    text: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UseFile {
    #[serde(default, rename = "use")]
    choices: Vec<Choice>,
}

impl Choices {
    /// Reads the file in the folder of pulled models. A missing file means that there are no choices.
    pub(super) fn read(folder: &Path) -> Result<Self, ManifestError> {
        let path = folder.join(FILE);
        let seen = look(&path).map_err(|source| ManifestError::Io { path: path.clone(), source })?;
        let text = seen.as_ref().map_or("", |seen| &seen.text);
        let file: UseFile = toml::from_str(text)
            .map_err(|source| ManifestError::Malformed { path, source: Box::new(source) })?;
        Ok(Self { folder: folder.to_owned(), all: file.choices, seen })
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    /// The choice for exactly this operation and language.
    pub(super) fn find(&self, operation: &str, language: Option<&str>) -> Option<&Choice> {
        self.all.iter().find(|c| c.operation == operation && c.language.as_deref() == language)
    }

    /// The first choice of this model.
    pub(super) fn of(&self, id: &str) -> Option<&Choice> {
        self.all.iter().find(|c| c.id == id)
    }

    /// Whether the file has changed since it was read. A file that cannot be read counts as changed, so that
    /// the caller reads it again and gets the error.
    pub(super) fn changed(&self) -> bool {
        look(&self.path()).map_or(true, |seen| seen != self.seen)
    }

    /// Reads the file again, applies `change`, and writes the file. A lock makes sure that no change is lost
    /// when two processes do this at the same time.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Vec<Choice>)) -> Result<(), ManifestError> {
        let io = |source| ManifestError::Io { path: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(io)?;
        let lock = File::open(&self.folder).map_err(io)?;
        lock.lock().map_err(io)?;
        let mut choices = Self::read(&self.folder)?;
        change(&mut choices.all);
        choices.all.sort();
        choices.write().map_err(|source| ManifestError::Io { path: self.path(), source })?;
        *self = Self::read(&self.folder)?;
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        let file = UseFile { choices: self.all.clone() };
        let text = toml::to_string(&file).map_err(io::Error::other)?;
        let new = self.folder.join(".use.toml.new");
        let mut file = File::create(&new)?;
        file.write_all(HEAD.as_bytes())?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.path())
    }
}

/// Removes the choices for an operation, so that the bundled model serves it again. With a language, only the
/// choice for this language is removed, and a choice for all languages stays in force for the others.
pub(super) fn back(all: &mut Vec<Choice>, operation: &str, language: Option<&str>) {
    let its = |c: &Choice| c.operation == operation;
    all.retain(|c| !its(c) || (language.is_some() && c.language.as_deref() != language));
    if language.is_some() && all.iter().any(|c| its(c) && c.language.is_none()) {
        all.push(Choice::new(operation, language, BUNDLED));
    }
}

fn look(path: &Path) -> io::Result<Option<Seen>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let modified = file.metadata()?.modified()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(Seen { modified, text }))
}
