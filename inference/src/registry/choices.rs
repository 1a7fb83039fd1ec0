//! Choices: `use.toml` comes in; which model was chosen for what comes out, and changes go back in one rename.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::ManifestError;

/// Stands for the model that came with Akhar, wherever an id is expected.
pub const BUNDLED: &str = "bundled";

const FILE: &str = "use.toml";
const HEAD: &str = "# Written by `akhar models use`: which model serves where the bundled one does not.\n\n";

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Choice {
    pub(super) operation: String,
    /// None: every language the model knows, or an operation without languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) language: Option<String>,
    pub(super) id: String,
}

impl Choice {
    pub(super) fn new(operation: &str, language: Option<&str>, id: &str) -> Self {
        Self { operation: operation.to_owned(), language: language.map(str::to_owned), id: id.to_owned() }
    }
}

/// All of them, and the file as it was when they were read.
#[derive(Debug, Clone)]
pub(super) struct Choices {
    folder: PathBuf,
    all: Vec<Choice>,
    seen: Option<Seen>,
}

/// A file's time and content: a model pulled anew under the same id changes the first alone.
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
    /// Reads the file in the folder of pulled models; there may be none.
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

    /// The choice for exactly this.
    pub(super) fn find(&self, operation: &str, language: Option<&str>) -> Option<&Choice> {
        self.all.iter().find(|c| c.operation == operation && c.language.as_deref() == language)
    }

    /// A choice of this model.
    pub(super) fn of(&self, id: &str) -> Option<&Choice> {
        self.all.iter().find(|c| c.id == id)
    }

    /// Whether the file is another than the one read. A file that cannot be read is: reading it says why.
    pub(super) fn changed(&self) -> bool {
        look(&self.path()).map_or(true, |seen| seen != self.seen)
    }

    /// Changes what the file says now, whoever wrote it, under a lock, so that of two changes made at a time
    /// none is lost.
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

/// Goes back to the bundled model: in every language, or in one, which leaves a choice for every language
/// as it is in the others.
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
    let (modified, mut text) = (file.metadata()?.modified()?, String::new());
    file.read_to_string(&mut text)?;
    Ok(Some(Seen { modified, text }))
}
