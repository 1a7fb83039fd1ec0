//! Tests of the registry, with manifests that name no files.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use super::*;

/// A temporary folder of models, which is deleted when the value is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("akhar-registry-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder.bundle("digits", "digit-recognition", "");
        folder.bundle("speech-pa", "speech-recognition", "language = 'pa'");
        folder.bundle("speech-en", "speech-recognition", "language = 'en'");
        folder.pull("digits-2", "digit-recognition", "");
        folder.pull("whisper", "speech-recognition", "languages = { pa = '<|pa|>', en = '<|en|>' }");
        folder.pull("parakeet", "speech-recognition", "language = 'en'");
        folder
    }

    fn bundle(&self, id: &str, operation: &str, more: &str) {
        let text = format!(
            "id = '{id}'\noperation = '{operation}'\nlayout = 'image-classifier'\nlicence = 'MIT'\n\
             source = 'here'\nfiles = []\n{more}\n"
        );
        fs::write(self.0.join(format!("{id}.toml")), text).unwrap();
    }

    fn pull(&self, id: &str, operation: &str, more: &str) {
        let place = self.0.join("pulled").join(id);
        fs::create_dir_all(&place).unwrap();
        self.bundle(id, operation, more);
        fs::rename(self.0.join(format!("{id}.toml")), place.join(format!("{id}.toml"))).unwrap();
    }

    fn open(&self) -> Registry {
        Registry::open(&self.0).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn serving(registry: &Registry, operation: &str, language: Option<&str>) -> String {
    registry.serving(operation, language).map_or_else(|e| e.to_string(), |m| m.id.clone())
}

fn speech(registry: &Registry) -> [String; 2] {
    ["pa", "en"].map(|language| serving(registry, "speech-recognition", Some(language)))
}

#[test]
fn pulled_models_serve_nothing_until_they_are_chosen() {
    let folder = Folder::new();
    fs::write(folder.0.join("catalogue.toml"), "not = 'a manifest'").unwrap();
    fs::create_dir_all(folder.0.join("pulled/.partial/half")).unwrap();
    let registry = folder.open();
    let ids: Vec<&str> = registry.all().iter().map(|m| m.id.as_str()).collect();
    assert_eq!(ids, ["digits", "speech-en", "speech-pa", "digits-2", "parakeet", "whisper"]);
    assert_eq!(serving(&registry, "digit-recognition", None), "digits");
    assert_eq!(speech(&registry), ["speech-pa", "speech-en"]);
    assert!(registry.is_bundled("digits") && !registry.is_bundled("digits-2"));
    assert!(serving(&registry, "speech-recognition", None).starts_with("no bundled model in"));
    assert!(serving(&registry, "speech-recognition", Some("ur")).contains("--lang ur"));
    folder.bundle("digits-3", "digit-recognition", "");
    assert!(serving(&folder.open(), "digit-recognition", None).contains("(digits, digits-3)"));
}

#[test]
fn a_chosen_model_serves_until_the_bundled_one_is_chosen_again() {
    let folder = Folder::new();
    let mut registry = folder.open();
    let other = folder.open();
    assert!(!other.changed());
    registry.choose("digit-recognition", None, "digits-2").unwrap();
    assert!(other.changed() && !registry.changed());
    assert_eq!(serving(&registry, "digit-recognition", None), "digits-2");
    assert_eq!(serving(&folder.open(), "digit-recognition", None), "digits-2");
    assert_eq!(registry.serves(registry.find("digits-2").unwrap()), [None]);
    assert!(registry.serves(registry.find("digits").unwrap()).is_empty());
    registry.choose("digit-recognition", None, BUNDLED).unwrap();
    assert_eq!(serving(&folder.open(), "digit-recognition", None), "digits");
}

#[test]
fn a_choice_can_be_for_one_language_or_for_all() {
    let folder = Folder::new();
    let mut registry = folder.open();
    let mut choose = |language, id| {
        registry.choose("speech-recognition", language, id).unwrap();
        speech(&registry)
    };
    assert_eq!(choose(Some("pa"), "whisper"), ["whisper", "speech-en"]);
    assert_eq!(choose(None, "parakeet"), ["whisper", "parakeet"]);
    assert_eq!(choose(None, "whisper"), ["whisper", "whisper"]);
    assert_eq!(choose(Some("en"), BUNDLED), ["whisper", "speech-en"]);
    assert_eq!(choose(Some("en"), "parakeet"), ["whisper", "parakeet"]);
    assert_eq!(choose(None, BUNDLED), ["speech-pa", "speech-en"]);
}

#[test]
fn a_model_that_cannot_serve_the_operation_is_refused() {
    let folder = Folder::new();
    let mut registry = folder.open();
    let mut refused = |operation, language, id| {
        let error = registry.choose(operation, language, id).unwrap_err().to_string();
        assert!(!folder.0.join("pulled/use.toml").exists());
        error
    };
    assert!(refused("digit-recognition", None, "digits-9").contains("digits-2"));
    assert!(refused("alphabet-recognition", None, "digits-2").contains("not for alphabet-recognition"));
    assert!(refused("speech-recognition", Some("pa"), "parakeet").contains("speech-recognition in en"));
    assert!(refused("digit-recognition", Some("pa"), "digits-2").contains("without a language"));
    assert!(refused("weather", None, BUNDLED).contains("weather"));
}

#[test]
fn a_chosen_model_that_is_not_installed_is_an_error() {
    let folder = Folder::new();
    folder.open().choose("speech-recognition", None, "whisper").unwrap();
    fs::remove_dir_all(folder.0.join("pulled/whisper")).unwrap();
    for error in speech(&folder.open()) {
        assert!(error.contains("use.toml chooses the model whisper"), "{error}");
        assert!(error.contains("not installed"), "{error}");
    }
    fs::write(folder.0.join("pulled/use.toml"), "[[use]]\noperation = 1").unwrap();
    let error = Registry::open(&folder.0).unwrap_err().to_string();
    assert!(error.contains("use.toml") && error.contains("operation"), "{error}");
}

#[test]
fn only_a_pulled_model_that_is_not_in_use_can_be_removed() {
    let folder = Folder::new();
    let mut registry = folder.open();
    registry.choose("digit-recognition", None, "digits-2").unwrap();
    let mut refused = |id| registry.remove(id).unwrap_err().to_string();
    assert!(refused("digits").contains("bundled"));
    assert!(refused("digits-2").contains("in use for digit-recognition"));
    assert!(refused("digits-9").contains("digits-2, parakeet, whisper"));
    registry.choose("digit-recognition", None, BUNDLED).unwrap();
    registry.remove("digits-2").unwrap();
    assert!(registry.find("digits-2").is_none() && !folder.0.join("pulled/digits-2").exists());
    assert!(folder.open().find("digits-2").is_none());
}

#[test]
fn models_that_are_removed_meanwhile_do_not_matter() {
    let folder = Folder::new();
    for nth in 0..300 {
        folder.pull(&format!("m-{nth:03}"), "digit-recognition", "");
    }
    let mut removing = folder.open();
    std::thread::scope(|scope| {
        let removed =
            scope.spawn(|| (0..300).for_each(|nth| removing.remove(&format!("m-{nth:03}")).unwrap()));
        while !removed.is_finished() {
            folder.open();
        }
    });
    assert_eq!(folder.open().all().len(), 6);
}

#[test]
fn a_pulled_model_with_the_id_of_a_bundled_one_is_refused() {
    let folder = Folder::new();
    folder.pull("digits", "digit-recognition", "");
    folder.bundle("digits", "digit-recognition", "");
    let error = Registry::open(&folder.0).unwrap_err().to_string();
    assert!(error.contains("pulled/digits/digits.toml") && error.contains("same id"), "{error}");
}
