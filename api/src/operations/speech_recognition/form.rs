//! The form of a speech recognition request.

use akhar_client::MAX_RECORDING_BYTES;
use akhar_jobs::Queue;
use akhar_requests::{
    Channels, Digits, KeyTerm, Language, MaxLineLength, MaxLines, MediaType, SPEECH, Script,
    SpeechParameters, SubtitleSize,
};
use serde_json::json;

use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
        value::choices,
    },
    problems::{Code, Violation},
};

/// The description of the field with a recording's URL.
pub(crate) const RECORDING_URL: &str = "In place of `file`: an `https` URL from which the service fetches the recording, by \
    default at most 512 × 1024² bytes and four hours, and of any format that `/v1/audio/transcriptions` takes.";

/// Why `digits` is refused.
pub(crate) const DIGITS_NEED_WRITTEN: &str = "digits gurmukhi needs format written, but format is spoken";

/// Whether a text is as it is spoken, or as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextForm {
    Spoken,
    Written,
}

impl TextForm {
    const ALL: [Self; 2] = [Self::Spoken, Self::Written];

    const fn name(self) -> &'static str {
        match self {
            Self::Spoken => "spoken",
            Self::Written => "written",
        }
    }
}

/// The language of a recording or a text, or the wish to have it detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpokenLanguage {
    Named(Language),
    Auto,
}

impl SpokenLanguage {
    const ALL: [Self; 3] = [Self::Named(Language::Panjabi), Self::Named(Language::English), Self::Auto];

    const fn name(self) -> &'static str {
        match self {
            Self::Named(language) => language.code(),
            Self::Auto => "auto",
        }
    }
}

choices! {
    TextForm: Self::name, None;
    SpokenLanguage: Self::name, Some(("SpokenLanguage", "A language, or `auto` to have it detected."));
}

fields! {
    /// The fields of a speech recognition request.
    SpeechForm {
        /// The language that is spoken in the recording. With `auto`, it is detected by the first seconds of speech, and
        /// Panjabi is taken if both languages are about as likely.
        lang: SpokenLanguage = field("lang").or("pa").wrong("fr"),
        /// Whether to translate the text: Panjabi into English, English into Panjabi.
        with_translation: bool = field("with-translation").or("false"),
        /// Whether to return the segments with their times.
        with_timestamps: bool = field("with-timestamps").or("false"),
        /// Whether each segment has its words with their times. Only with `with-timestamps`.
        with_words: bool = field("with-words").or("false"),
        /// Whether to return how likely the text, its segments and its words are right, if the model tells it.
        with_confidence: bool = field("with-confidence").or("false"),
        /// Whether the text has the words as they are spoken, or is written with numbers in figures, such as ₹250, 15% and 5:30,
        /// and in Panjabi with danda, comma and question mark. The default is `spoken`, but `written` if `Accept` asks for subtitles.
        format: TextForm = field("format"),
        /// The digits of the text. `gurmukhi` only with `format=written`.
        digits: Digits = field("digits").neutral("latin"),
        /// The script of Panjabi texts: `latin` is ISO 15919, and `shahmukhi` is approximate, because it is made from Gurmukhi
        /// by rules. English texts do not change.
        script: Script = field("script").or("gurmukhi"),
        /// Whether the channels of the recording are mixed into one, or each is transcribed by itself.
        channels: Channels = field("channels").or("mixed"),
        /// The most characters of a line of subtitles. The default is 42.
        max_line_length: MaxLineLength = field("max-line-length").neutral("42"),
        /// The most lines of a cue of subtitles. The default is 2. With a translation, each text has at least one line.
        max_lines: MaxLines = field("max-lines").neutral("2"),
        /// Terms that the recording is likely to have, such as names: in Gurmukhi for Panjabi, in Latin letters for English.
        keyterms: Vec<KeyTerm> = field("keyterms").wrong("22"),
    }
}

impl Form for SpeechForm {
    const FILE: Option<File> = Some(File {
        text: "A recording, at most 2 × 1024² bytes.",
        max_bytes: Some(MAX_RECORDING_BYTES),
        types: MediaType::MP3_AND_WAV,
        if_other: Some("POST /v1/audio/transcriptions takes more formats, and the fields of this route too"),
        if_larger: Some(
            "POST /v1/audio/transcriptions takes larger recordings, and `akhar transcribe` cuts long ones",
        ),
        url: Some(RECORDING_URL),
    });
    const QUEUE: Queue = SPEECH;
    /// The parameters, and whether `format` is given.
    type Checked = (SpeechParameters, bool);

    fn check(self, violations: &mut Vec<Violation>) -> Option<(SpeechParameters, bool)> {
        let is_given = self.format.is_some();
        let format = self.format.unwrap_or(TextForm::Spoken);
        if self.digits == Some(Digits::Gurmukhi) && format == TextForm::Spoken {
            violations.push(Violation::new("digits", Code::Unsupported, DIGITS_NEED_WRITTEN));
        }
        if self.with_words == Some(true) && self.with_timestamps == Some(false) {
            let detail =
                "with-words is true, but words are in the segments: expected with-timestamps to be true too";
            violations.push(Violation::new("with-words", Code::Unsupported, detail));
        }
        let (lang, detect_language) = match self.lang? {
            SpokenLanguage::Named(language) => (language, false),
            SpokenLanguage::Auto => (Language::default(), true),
        };
        let parameters = SpeechParameters {
            lang,
            detect_language,
            with_translation: self.with_translation?,
            translate_into: None,
            with_timestamps: self.with_timestamps?,
            with_words: self.with_words?,
            with_confidence: self.with_confidence?,
            written: match format {
                TextForm::Spoken => None,
                TextForm::Written => Some(self.digits.unwrap_or(Digits::Latin)),
            },
            script: self.script?,
            subtitles: SubtitleSize { max_line_length: self.max_line_length, max_lines: self.max_lines },
            channels: self.channels?,
            keyterms: self.keyterms.unwrap_or_default(),
        };
        Some((parameters, is_given))
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"file": "(the bytes of an mp3 or wav file)", "lang": "pa"}))
    }
}
