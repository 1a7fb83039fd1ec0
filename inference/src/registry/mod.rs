//! The registry knows the installed models and the operator's choices, and says which model serves an
//! operation.
//!
//! The manifests of bundled models are in the models folder itself. A pulled model has a folder of its own
//! with its files and its manifest, `pulled/<id>/<id>.toml`. It serves nothing until an operator chooses it;
//! the choices are in `pulled/use.toml`. Unfinished downloads are in `pulled/.partial`, on the same disk, so
//! that one rename installs or removes a model.

mod choices;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use choices::BUNDLED;
use choices::{Choice, Choices};

use crate::manifest::{Manifest, ManifestError, load_all};

/// The installed models, and the choice of the models that serve.
#[derive(Debug, Clone)]
pub struct Registry {
    folder: PathBuf,
    /// The bundled models and then the pulled ones, each group sorted by id.
    manifests: Vec<Manifest>,
    n_bundled: usize,
    choices: Choices,
}

/// The reason why no model serves an operation, or a choice or a model cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// No model serves the operation.
    #[error(
        "no bundled model in {} serves {what}: check the operation's name and its language, \
         or choose an installed model with `akhar models use {what} ID`",
        .folder.display()
    )]
    Nothing {
        /// The operation and the language.
        what: String,
        /// The folder of models.
        folder: PathBuf,
    },
    /// Several models could serve the operation, and none is chosen.
    #[error(
        "several models could serve {what} ({ids}): choose one of them with `akhar models use {what} ID`"
    )]
    Several {
        /// The operation and the language.
        what: String,
        /// The ids of these models.
        ids: String,
    },
    /// The chosen model is not installed, or cannot serve the operation.
    #[error(
        "{} chooses the model {id} for {what}, {problem}: \
         choose another one, or go back to the bundled one with `akhar models use {what} bundled`",
        .path.display()
    )]
    Chosen {
        /// The file of choices.
        path: PathBuf,
        /// The chosen model's id.
        id: String,
        /// The operation and the language.
        what: String,
        /// What is wrong with the model.
        problem: &'static str,
    },
    /// No model with this id is installed.
    #[error("no model {id:?} is installed: expected one of {known}")]
    Unknown {
        /// The requested id.
        id: String,
        /// The ids of the installed models.
        known: String,
    },
    /// The model serves another operation or other languages.
    #[error("the model {id} is for {serves}, not for {what}")]
    Unfit {
        /// The model's id.
        id: String,
        /// The operation and the languages of the model.
        serves: String,
        /// The requested operation and language.
        what: String,
    },
    /// A bundled model cannot be removed.
    #[error("the model {0} is bundled with Akhar: only pulled models can be removed")]
    Bundled(String),
    /// A model that is in use cannot be removed.
    #[error("the model {id} is in use for {what}: run `akhar models use {what} bundled` first")]
    InUse {
        /// The model's id.
        id: String,
        /// The operation and the language.
        what: String,
    },
    /// A file or folder cannot be read or written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl Registry {
    /// Reads all manifests, bundled and pulled, and the choices. The models' files are not read yet.
    ///
    /// # Errors
    ///
    /// When a manifest or `use.toml` cannot be read or is not valid, or a pulled model has the id of a
    /// bundled one.
    pub fn open(folder: &Path) -> Result<Self, ManifestError> {
        let mut manifests = load_all(folder)?;
        let n_bundled = manifests.len();
        for id in pulled_ids(&folder.join("pulled"))? {
            let place = folder.join("pulled").join(&id);
            let path = place.join(format!("{id}.toml"));
            let manifest = match Manifest::load(&path) {
                // The model was removed after the folder was listed.
                Err(ManifestError::Io { .. }) if !place.exists() => continue,
                manifest => manifest?,
            };
            if manifests[..n_bundled].iter().any(|bundled| bundled.id == manifest.id) {
                let what = "a bundled model has the same id: remove the pulled model's folder".to_owned();
                return Err(ManifestError::Inconsistent { path, what });
            }
            manifests.push(manifest);
        }
        let choices = Choices::read(&folder.join("pulled"))?;
        Ok(Self { folder: folder.to_owned(), manifests, n_bundled, choices })
    }

    /// All installed models: the bundled ones and then the pulled ones, each group sorted by id.
    pub fn all(&self) -> &[Manifest] {
        &self.manifests
    }

    /// The model with this id.
    pub fn find(&self, id: &str) -> Option<&Manifest> {
        self.manifests.iter().find(|m| m.id == id)
    }

    /// The model with this id.
    ///
    /// # Errors
    ///
    /// When there is none. The error lists the ids of the installed models.
    pub fn get(&self, id: &str) -> Result<&Manifest, RegistryError> {
        let known = || join(self.manifests.iter().map(|m| m.id.as_str()));
        self.find(id).ok_or_else(|| RegistryError::Unknown { id: id.to_owned(), known: known() })
    }

    /// Whether a bundled model has this id.
    pub fn is_bundled(&self, id: &str) -> bool {
        self.bundled().iter().any(|m| m.id == id)
    }

    /// The model that serves an operation: the chosen model, or the only bundled one. `language` is `None`
    /// for an operation without languages.
    ///
    /// # Errors
    ///
    /// When no bundled model serves the operation or several do and none is chosen, or when the chosen model
    /// is not installed or cannot serve it.
    pub fn serving(&self, operation: &str, language: Option<&str>) -> Result<&Manifest, RegistryError> {
        let wide = || self.choices.find(operation, None).filter(|c| self.suits(c, language));
        match self.choices.find(operation, language).or_else(wide) {
            Some(choice) if choice.id != BUNDLED => self.chosen(choice, language),
            _ => self.only_bundled(operation, language),
        }
    }

    /// The languages in which a model serves its operation now. `None` in the list stands for an operation
    /// without languages.
    pub fn serves(&self, manifest: &Manifest) -> Vec<Option<String>> {
        let is_it = |language: &Option<String>| {
            let serving = self.serving(&manifest.operation, language.as_deref());
            serving.is_ok_and(|serving| serving.id == manifest.id)
        };
        languages(manifest).into_iter().filter(is_it).collect()
    }

    /// Chooses the model that serves an operation from now on. Without a language, the choice is for all
    /// languages that the model knows. The id [`BUNDLED`] goes back to the bundled model. The model's files
    /// are not checked.
    ///
    /// # Errors
    ///
    /// When the model is not installed or does not serve the operation in the language, or `use.toml` cannot
    /// be written.
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

    /// Whether the choices have changed since this registry was opened or last changed them. The check is
    /// cheap enough to be made every second.
    pub fn changed(&self) -> bool {
        self.choices.changed()
    }

    /// The folder into which a model with this id is downloaded.
    pub fn partial(&self, id: &str) -> PathBuf {
        self.folder.join("pulled/.partial").join(id)
    }

    /// The folder of an installed pulled model with this id.
    pub fn place(&self, id: &str) -> PathBuf {
        self.folder.join("pulled").join(id)
    }

    /// Deletes a pulled model that is not in use, or the files that an interrupted download left.
    ///
    /// # Errors
    ///
    /// When the model is not installed, is bundled or is in use, or its folder cannot be deleted.
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

    /// Whether a choice for all languages of its model includes this language. A choice of a model that is
    /// not installed does, so that it leads to an error and is not ignored.
    fn suits(&self, choice: &Choice, language: Option<&str>) -> bool {
        self.find(&choice.id).is_none_or(|m| knows(m, language))
    }

    fn chosen(&self, choice: &Choice, language: Option<&str>) -> Result<&Manifest, RegistryError> {
        let problem = match self.find(&choice.id) {
            Some(m) if m.operation == choice.operation && knows(m, language) => return Ok(m),
            Some(_) => "which cannot serve it",
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

/// Whether a model knows this language. For `None`: whether it can be used without a language.
fn knows(manifest: &Manifest, language: Option<&str>) -> bool {
    match (language, &manifest.language) {
        (Some(asked), Some(its)) => asked == its,
        (Some(asked), None) => manifest.languages.contains_key(asked),
        (None, its) => its.is_none(),
    }
}

/// The languages that a model can be used with. `None` in the list means that it can be used without one.
fn languages(manifest: &Manifest) -> Vec<Option<String>> {
    match &manifest.language {
        Some(language) => vec![Some(language.clone())],
        None => std::iter::once(None).chain(manifest.languages.keys().cloned().map(Some)).collect(),
    }
}

/// An operation and a language, written as arguments of `akhar models use`.
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

/// Deletes a folder. It is renamed first, so that it disappears in one step.
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
