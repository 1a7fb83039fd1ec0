//! The registry: a folder of models and the operator's choices come in; the model that serves an operation
//! comes out.
//!
//! Bundled manifests lie in the folder itself. A pulled model has a folder of its own,
//! `pulled/<id>/<id>.toml` beside its files, and serves nothing until it is chosen: `pulled/use.toml` says
//! which models serve where the bundled ones do not. What is still being pulled lies in `pulled/.partial`,
//! on the same disk, so that installing and removing are one rename each.

mod choices;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use choices::BUNDLED;
use choices::{Choice, Choices};

use crate::{Manifest, ManifestError, load_all};

/// The installed models, and which of them serve.
#[derive(Debug, Clone)]
pub struct Registry {
    folder: PathBuf,
    /// Bundled ones first, each part by id.
    manifests: Vec<Manifest>,
    n_bundled: usize,
    choices: Choices,
}

/// Why no model serves, or a choice or a model cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// Nothing serves it.
    #[error("no model in {} serves {what}", .folder.display())]
    Nothing {
        /// The operation, and the language.
        what: String,
        /// Where models lie.
        folder: PathBuf,
    },
    /// Several could, and none is chosen.
    #[error("{ids} could each serve {what}: choose with `akhar models use {what}`")]
    Several {
        /// The operation, and the language.
        what: String,
        /// Which.
        ids: String,
    },
    /// The chosen one is not there, or cannot do it.
    #[error("{} chooses {id} for {what}, {problem}; `akhar models use {what} bundled` goes back", .path.display())]
    Chosen {
        /// The file of choices.
        path: PathBuf,
        /// Which was chosen.
        id: String,
        /// The operation, and the language.
        what: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No such model is installed.
    #[error("no model {id:?} is installed; expected one of {known}")]
    Unknown {
        /// What was asked for.
        id: String,
        /// What is installed.
        known: String,
    },
    /// The model is for something else.
    #[error("{id} is for {serves}, not for {what}")]
    Unfit {
        /// Which model.
        id: String,
        /// What it is for.
        serves: String,
        /// What was asked for.
        what: String,
    },
    /// The model came with Akhar.
    #[error("{0} is bundled; only pulled models are removed")]
    Bundled(String),
    /// The model serves.
    #[error("{id} is in use for {what}: `akhar models use {what} bundled` first")]
    InUse {
        /// Which model.
        id: String,
        /// The operation, and the language.
        what: String,
    },
    /// A file or folder cannot be read or written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl Registry {
    /// Reads every manifest, bundled and pulled, and the choices; no model's files are read yet.
    pub fn open(folder: &Path) -> Result<Self, ManifestError> {
        let mut manifests = load_all(folder)?;
        let n_bundled = manifests.len();
        for id in pulled_ids(&folder.join("pulled"))? {
            let path = folder.join("pulled").join(&id).join(format!("{id}.toml"));
            let manifest = Manifest::load(&path)?;
            if manifests[..n_bundled].iter().any(|bundled| bundled.id == manifest.id) {
                let what = "a bundled model has the same id".to_owned();
                return Err(ManifestError::Inconsistent { path, what });
            }
            manifests.push(manifest);
        }
        let choices = Choices::read(&folder.join("pulled"))?;
        Ok(Self { folder: folder.to_owned(), manifests, n_bundled, choices })
    }

    /// Every installed model: the bundled ones, then the pulled ones, each by id.
    pub fn all(&self) -> &[Manifest] {
        &self.manifests
    }

    /// The model of this id.
    pub fn find(&self, id: &str) -> Option<&Manifest> {
        self.manifests.iter().find(|m| m.id == id)
    }

    /// The model of this id, or an error that says which there are.
    pub fn get(&self, id: &str) -> Result<&Manifest, RegistryError> {
        let known = || join(self.manifests.iter().map(|m| m.id.as_str()));
        self.find(id).ok_or_else(|| RegistryError::Unknown { id: id.to_owned(), known: known() })
    }

    /// Whether a model of this id came with Akhar.
    pub fn is_bundled(&self, id: &str) -> bool {
        self.bundled().iter().any(|m| m.id == id)
    }

    /// The model that serves an operation, in a language where it is asked for one: the chosen one, or the
    /// only bundled one.
    pub fn serving(&self, operation: &str, language: Option<&str>) -> Result<&Manifest, RegistryError> {
        let wide = || self.choices.find(operation, None).filter(|c| self.suits(c, language));
        match self.choices.find(operation, language).or_else(wide) {
            Some(choice) if choice.id != BUNDLED => self.chosen(choice, language),
            _ => self.only_bundled(operation, language),
        }
    }

    /// For which languages a model serves now; `None` stands for an operation without languages.
    pub fn serves(&self, manifest: &Manifest) -> Vec<Option<String>> {
        let is_it = |language: &Option<String>| {
            let serving = self.serving(&manifest.operation, language.as_deref());
            serving.is_ok_and(|serving| serving.id == manifest.id)
        };
        languages(manifest).into_iter().filter(is_it).collect()
    }

    /// Writes down that from now on this model serves an operation, in one language or, where none is
    /// named, in all it knows; [`BUNDLED`] goes back to what came with Akhar. The model's files are not
    /// looked at.
    pub fn choose(&mut self, operation: &str, language: Option<&str>, id: &str) -> Result<(), RegistryError> {
        let what = what(operation, language);
        if id == BUNDLED {
            let known = |m: &Manifest| m.operation == operation && language.is_none_or(|l| knows(m, Some(l)));
            if !self.bundled().iter().any(known) {
                return Err(RegistryError::Nothing { what, folder: self.folder.clone() });
            }
            return Ok(self.choices.change(|all| choices::back(all, operation, language))?);
        }
        let manifest = self.get(id)?;
        if manifest.operation != operation || language.is_some_and(|l| !knows(manifest, Some(l))) {
            return Err(RegistryError::Unfit { id: id.to_owned(), serves: what_for(manifest), what });
        }
        let manifest = manifest.clone();
        let language = language.or(manifest.language.as_deref());
        let choice = Choice::new(operation, language, id);
        Ok(self.choices.change(|all| {
            let replaced = |c: &Choice| language.is_none() && knows(&manifest, c.language.as_deref());
            all.retain(|c| {
                c.operation != choice.operation || !(c.language == choice.language || replaced(c))
            });
            all.push(choice.clone());
        })?)
    }

    /// Whether the choices are others than when this registry was opened or last chose: cheap enough to ask
    /// every second.
    pub fn changed(&self) -> bool {
        self.choices.changed()
    }

    /// Where a model of this id is pulled to.
    pub fn partial(&self, id: &str) -> PathBuf {
        self.folder.join("pulled/.partial").join(id)
    }

    /// Where a pulled model of this id lies.
    pub fn place(&self, id: &str) -> PathBuf {
        self.folder.join("pulled").join(id)
    }

    /// Takes a pulled model that does not serve, or what an interrupted pull left of one, off the disk.
    pub fn remove(&mut self, id: &str) -> Result<(), RegistryError> {
        let plain = !id.is_empty() && !id.starts_with('.') && !id.contains('/');
        let gone = self.partial(&format!("{id}.removed"));
        let Some(at) = self.manifests.iter().position(|m| m.id == id) else {
            if plain && self.partial(id).is_dir() {
                return Ok(discard(&self.partial(id), &gone)?);
            }
            let known = join(self.manifests[self.n_bundled..].iter().map(|m| m.id.as_str()));
            return Err(RegistryError::Unknown { id: id.to_owned(), known });
        };
        if at < self.n_bundled {
            return Err(RegistryError::Bundled(id.to_owned()));
        }
        if let Some(choice) = self.choices.of(id) {
            let what = what(&choice.operation, choice.language.as_deref());
            return Err(RegistryError::InUse { id: id.to_owned(), what });
        }
        discard(&self.place(id), &gone)?;
        self.manifests.remove(at);
        Ok(())
    }

    fn bundled(&self) -> &[Manifest] {
        &self.manifests[..self.n_bundled]
    }

    /// Whether a choice for every language of its model is one for this language. One that cannot be looked
    /// at is: it is an error then, and not passed over.
    fn suits(&self, choice: &Choice, language: Option<&str>) -> bool {
        self.find(&choice.id).is_none_or(|m| knows(m, language))
    }

    fn chosen(&self, choice: &Choice, language: Option<&str>) -> Result<&Manifest, RegistryError> {
        let problem = match self.find(&choice.id) {
            Some(m) if m.operation == choice.operation && knows(m, language) => return Ok(m),
            Some(_) => "which does not serve that",
            None => "which is not installed",
        };
        let what = what(&choice.operation, language);
        Err(RegistryError::Chosen { path: self.choices.path(), id: choice.id.clone(), what, problem })
    }

    fn only_bundled(&self, operation: &str, language: Option<&str>) -> Result<&Manifest, RegistryError> {
        let fits = |m: &&Manifest| m.operation == operation && knows(m, language);
        let fitting: Vec<&Manifest> = self.bundled().iter().filter(fits).collect();
        let what = what(operation, language);
        match fitting[..] {
            [manifest] => Ok(manifest),
            [] => Err(RegistryError::Nothing { what, folder: self.folder.clone() }),
            _ => Err(RegistryError::Several { what, ids: join(fitting.iter().map(|m| m.id.as_str())) }),
        }
    }
}

/// Whether a model can be asked for this language, or without one.
fn knows(manifest: &Manifest, language: Option<&str>) -> bool {
    match (language, &manifest.language) {
        (Some(asked), Some(its)) => asked == its,
        (Some(asked), None) => manifest.languages.contains_key(asked),
        (None, its) => its.is_none(),
    }
}

/// What a model can be asked for.
fn languages(manifest: &Manifest) -> Vec<Option<String>> {
    match &manifest.language {
        Some(language) => vec![Some(language.clone())],
        None => std::iter::once(None).chain(manifest.languages.keys().cloned().map(Some)).collect(),
    }
}

/// The arguments of `akhar models use`.
fn what(operation: &str, language: Option<&str>) -> String {
    language.map_or_else(|| operation.to_owned(), |language| format!("{operation} --lang {language}"))
}

fn what_for(manifest: &Manifest) -> String {
    let languages: Vec<String> = languages(manifest).into_iter().flatten().collect();
    match &languages[..] {
        [] => format!("{} without a language", manifest.operation),
        _ => format!("{} in {}", manifest.operation, languages.join(", ")),
    }
}

fn join<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    ids.collect::<Vec<_>>().join(", ")
}

/// Takes a folder away at once, then deletes it at leisure.
fn discard(folder: &Path, gone: &Path) -> Result<(), ManifestError> {
    let io = |source| ManifestError::Io { path: folder.to_owned(), source };
    if gone.exists() {
        fs::remove_dir_all(gone).map_err(io)?;
    }
    if let Some(parent) = gone.parent() {
        fs::create_dir_all(parent).map_err(io)?;
    }
    fs::rename(folder, gone).map_err(io)?;
    fs::remove_dir_all(gone).map_err(io)
}

fn pulled_ids(pulled: &Path) -> Result<Vec<String>, ManifestError> {
    let io = |source| ManifestError::Io { path: pulled.to_owned(), source };
    let entries = match fs::read_dir(pulled) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(error)),
    };
    let mut ids = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().map_err(io)?.is_dir() && !name.starts_with('.') {
            ids.push(name);
        }
    }
    ids.sort();
    Ok(ids)
}

#[cfg(test)]
mod tests;
