//! The digits that numbers are written with.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The digits of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Digits {
    /// 0 to 9
    Latin,
    /// ੦ to ੯
    Gurmukhi,
}

impl Digits {
    /// The name in requests.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Latin => "latin",
            Self::Gurmukhi => "gurmukhi",
        }
    }
}
