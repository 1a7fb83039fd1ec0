//! What becomes of the channels of a recording.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What becomes of the channels of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Channels {
    /// They are mixed into one
    #[default]
    Mixed,
    /// Each is transcribed by itself. Recordings that ffmpeg decodes are mixed
    Split,
}

impl Channels {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) const fn is_mixed(&self) -> bool {
        matches!(self, Self::Mixed)
    }
}
