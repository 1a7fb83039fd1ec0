//! The languages of speech and text.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    /// Panjabi
    Pa,
    /// English
    En,
}

impl Language {
    /// The codes of all languages.
    pub(crate) const CODES: [&'static str; 2] = [Self::Pa.code(), Self::En.code()];

    /// The language of a translation from this one.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Pa => Self::En,
            Self::En => Self::Pa,
        }
    }

    /// The language's code, such as `pa`.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Pa => "pa",
            Self::En => "en",
        }
    }
}
