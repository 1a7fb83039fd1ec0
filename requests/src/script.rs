//! The scripts of Panjabi.

use serde::{Deserialize, Serialize};

/// A script of Panjabi. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Script {
    /// ਪੰਜਾਬੀ.
    #[default]
    Gurmukhi,
    /// paṃjābī.
    Latin,
    /// پنجابی.
    Shahmukhi,
}

impl Script {
    /// Every script.
    pub const ALL: [Self; 3] = [Self::Gurmukhi, Self::Latin, Self::Shahmukhi];

    /// The name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gurmukhi => "gurmukhi",
            Self::Latin => "latin",
            Self::Shahmukhi => "shahmukhi",
        }
    }

    /// Whether it is Gurmukhi, the usual one.
    pub const fn is_gurmukhi(&self) -> bool {
        matches!(self, Self::Gurmukhi)
    }
}
