//! The parameters of speech recognition. The api has parsed and checked them, and no later code checks them again.

use serde::{Deserialize, Serialize};

use crate::{bounded::Bounded, digits::Digits, key_term::KeyTerm, language::Language, script::Script};

/// The most characters of a line of subtitles.
pub type MaxLineLength = Bounded<u8, 10, 200>;
/// The most lines of a cue of subtitles.
pub type MaxLines = Bounded<u8, 1, 4>;

/// The parameters of a speech recognition.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of requests")]
pub struct SpeechParameters {
    /// The language spoken in the recording. If it is to be detected, the one that is taken where that does not succeed.
    pub lang: Language,
    /// Whether to detect the language. Not written if false, because idempotency keys have hashes of the parameters from
    /// before this field existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detect_language: bool,
    /// Whether to translate the text into the other language.
    #[serde(default)]
    pub with_translation: bool,
    /// The only language that a translation may be in: the text of a recording in this language is its own translation. Not
    /// written if absent, like `detect_language`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translate_into: Option<Language>,
    /// Whether to return the segments with their times.
    #[serde(default)]
    pub with_timestamps: bool,
    /// Whether to return the words with their times. Not written if false, for the same reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_words: bool,
    /// Whether to return how likely each of these is right. Not written if false, like `with_words`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_confidence: bool,
    /// The digits of numbers, if they are written in figures rather than as they are spoken. Not written if absent, for the
    /// same reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Digits>,
    /// The script of Panjabi. Not written if it is Gurmukhi, for the same reason.
    #[serde(default, skip_serializing_if = "Script::is_gurmukhi")]
    pub script: Script,
    /// The size of subtitles. Not written if it is the usual one, for the same reason.
    #[serde(default, skip_serializing_if = "SubtitleSize::is_usual")]
    pub subtitles: SubtitleSize,
    /// What becomes of the channels of the recording. Not written if they are mixed, for the same reason.
    #[serde(default, skip_serializing_if = "Channels::is_mixed")]
    pub channels: Channels,
    /// Terms that the recording is likely to have. Not written if there are none, for the same reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keyterms: Vec<KeyTerm>,
}

/// What becomes of the channels of a recording. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Channels {
    /// They are mixed into one.
    #[default]
    Mixed,
    /// Each is transcribed by itself.
    Split,
}

impl Channels {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::Mixed, Self::Split];

    /// The name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Split => "split",
        }
    }

    /// Whether they are mixed.
    pub const fn is_mixed(&self) -> bool {
        matches!(self, Self::Mixed)
    }
}

/// The size of the subtitles that are made of segments. What is absent is as usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SubtitleSize {
    /// The most characters of a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_line_length: Option<MaxLineLength>,
    /// The most lines of a cue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<MaxLines>,
}

impl SubtitleSize {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) const fn is_usual(&self) -> bool {
        self.max_line_length.is_none() && self.max_lines.is_none()
    }
}
