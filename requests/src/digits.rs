//! The digits in which numbers are written.

use serde::{Deserialize, Serialize};

/// The digits of a script. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digits {
    /// 0 to 9.
    Latin,
    /// ੦ to ੯.
    Gurmukhi,
}

impl Digits {
    /// The digits of every script.
    pub const ALL: [Self; 2] = [Self::Latin, Self::Gurmukhi];

    /// The name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Latin => "latin",
            Self::Gurmukhi => "gurmukhi",
        }
    }
}
