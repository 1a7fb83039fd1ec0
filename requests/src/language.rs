//! The languages of speech and texts.

use serde::{Deserialize, Serialize};

/// A language of speech and texts. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Language {
    /// Panjabi.
    #[default]
    #[serde(rename = "pa")]
    Panjabi,
    /// English.
    #[serde(rename = "en")]
    English,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::Panjabi, Self::English];

    /// The other language, which a translation is in.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Panjabi => Self::English,
            Self::English => Self::Panjabi,
        }
    }

    /// The name in English.
    pub const fn english(self) -> &'static str {
        match self {
            Self::Panjabi => "Panjabi",
            Self::English => "English",
        }
    }

    /// The ISO 639-1 code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Panjabi => "pa",
            Self::English => "en",
        }
    }
}
