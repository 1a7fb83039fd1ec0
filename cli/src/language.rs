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
    /// The language's code, such as `pa`.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::Pa => "pa",
            Self::En => "en",
        }
    }
}
