//! The language of recordings, or that each has its own, which is detected.

use akhar_requests::Language;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The name in requests of a language that is to be detected.
pub(super) const AUTO: &str = "auto";

/// The language of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SpokenLanguage {
    /// Panjabi
    Pa,
    /// English
    En,
    /// The language of each recording is detected
    Auto,
}

impl SpokenLanguage {
    /// The name in requests.
    pub(super) const fn name(self) -> &'static str {
        match self.named() {
            Some(language) => language.code(),
            None => AUTO,
        }
    }

    /// The language, unless it is to be detected.
    pub(super) const fn named(self) -> Option<Language> {
        match self {
            Self::Pa => Some(Language::Panjabi),
            Self::En => Some(Language::English),
            Self::Auto => None,
        }
    }

    /// The codes of the languages that recordings may have.
    pub(super) fn codes(self) -> Vec<&'static str> {
        self.named()
            .map_or_else(|| Language::ALL.map(Language::code).to_vec(), |language| vec![language.code()])
    }
}
