//! The scripts that Panjabi is written in.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Script {
    /// ਪੰਜਾਬੀ
    #[default]
    Gurmukhi,
    /// paṃjābī, by ISO 15919
    Latin,
    /// پنجابی, approximately: it is made from Gurmukhi by rules
    Shahmukhi,
}

impl Script {
    /// The name in requests.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gurmukhi => "gurmukhi",
            Self::Latin => "latin",
            Self::Shahmukhi => "shahmukhi",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) const fn is_gurmukhi(&self) -> bool {
        matches!(self, Self::Gurmukhi)
    }
}
