//! What is asked for each recording, and the idempotency key that a request gets from it.

use std::collections::BTreeSet;

use akhar_client::{SpeechRequest, subtitles::Layout};
use akhar_requests::{Channels, Digits, Script};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::spoken::SpokenLanguage;

/// A format of the results. The name is the extension of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// Everything that is known, as a JSON document
    Json,
    /// The text alone
    Txt,
    /// Subtitles, as most players read them
    Srt,
    /// Subtitles, as browsers read them
    Vtt,
}

impl Format {
    /// The extensions of all formats.
    pub(super) const EXTENSIONS: [&'static str; 4] =
        [Self::Json.extension(), Self::Txt.extension(), Self::Srt.extension(), Self::Vtt.extension()];

    pub(super) const fn extension(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Txt => "txt",
            Self::Srt => "srt",
            Self::Vtt => "vtt",
        }
    }

    const fn needs_timestamps(self) -> bool {
        matches!(self, Self::Srt | Self::Vtt)
    }
}

/// A file with a result of a recording.
#[derive(Debug)]
pub(super) struct ResultFile {
    pub(super) format: Format,
    /// The language's code if this is a file of the translation alone. It is a part of the name.
    pub(super) translation_lang: Option<&'static str>,
}

/// What is asked for beside the text.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    pub(super) translate: bool,
    pub(super) timestamps: bool,
    /// The words with their times, and how likely all of it is right.
    pub(super) words: bool,
}

/// What is asked for each recording of a run. The journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    lang: SpokenLanguage,
    translate: bool,
    timestamps: bool,
    /// Missing in the journals of earlier versions.
    #[serde(default)]
    words: bool,
    formats: BTreeSet<Format>,
    /// The digits of numbers, if they are written in figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Digits>,
    #[serde(default, skip_serializing_if = "Script::is_gurmukhi")]
    script: Script,
    /// The most characters of a line of subtitles, and the most lines, if they are not the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    layout: Option<(u8, u8)>,
    #[serde(default, skip_serializing_if = "Channels::is_mixed")]
    channels: Channels,
    /// Terms that the recordings are likely to have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keyterms: Vec<String>,
}

impl Settings {
    /// Subtitles and words need timestamps, and subtitles are read with a glance, so they imply timestamps and figures.
    pub(super) fn new(lang: SpokenLanguage, asked: Asked, formats: &[Format]) -> Self {
        let Asked { translate, timestamps, words } = asked;
        let formats: BTreeSet<Format> = formats.iter().copied().collect();
        let has_subtitles = formats.iter().any(|format| format.needs_timestamps());
        let timestamps = timestamps || words || has_subtitles;
        let written = has_subtitles.then_some(Digits::Latin);
        Self {
            lang,
            translate,
            timestamps,
            words,
            formats,
            written,
            script: Script::default(),
            layout: None,
            channels: Channels::default(),
            keyterms: Vec::new(),
        }
    }

    /// The same with numbers in figures of these digits, or as they are spoken.
    pub(super) fn with_numbers(self, written: Option<Digits>) -> Self {
        Self { written, ..self }
    }

    /// The same with subtitles of this size.
    pub(super) fn with_layout(self, max_line_length: u8, max_lines: u8) -> Self {
        let size = (max_line_length, max_lines);
        Self { layout: (layout(size) != Layout::default()).then_some(size), ..self }
    }

    /// The same with the channels treated so.
    pub(super) fn with_channels(self, channels: Channels) -> Self {
        Self { channels, ..self }
    }

    pub(super) fn splits_channels(&self) -> bool {
        !self.channels.is_mixed()
    }

    /// Whether JSON documents have the segments.
    pub(super) const fn shows_segments(&self) -> bool {
        self.timestamps
    }

    /// The size of subtitles.
    pub(super) fn layout(&self) -> Layout {
        self.layout.map_or_else(Layout::default, layout)
    }

    /// Whether JSON documents have the words.
    pub(super) const fn shows_words(&self) -> bool {
        self.words
    }

    fn has_subtitles(&self) -> bool {
        self.formats.iter().any(|format| format.needs_timestamps())
    }

    /// The same in this script.
    pub(super) fn with_script(self, script: Script) -> Self {
        Self { script, ..self }
    }

    /// The same with these terms.
    pub(super) fn with_keyterms(self, keyterms: Vec<String>) -> Self {
        Self { keyterms, ..self }
    }

    /// The files of a recording. A JSON document has both texts; in the other formats, the translation has a file of its
    /// own.
    pub(super) fn files(&self) -> impl Iterator<Item = ResultFile> {
        let translation = self.translation_lang();
        self.formats.iter().flat_map(move |&format| {
            let has_second = format != Format::Json && translation.is_some();
            let second = has_second.then_some(ResultFile { format, translation_lang: translation });
            [ResultFile { format, translation_lang: None }].into_iter().chain(second)
        })
    }

    /// The language of recordings.
    pub(super) const fn lang(&self) -> SpokenLanguage {
        self.lang
    }

    pub(super) const fn translates(&self) -> bool {
        self.translate
    }

    /// The code of the translation's language, if there is one and it is known.
    pub(super) fn translation_lang(&self) -> Option<&'static str> {
        self.lang.named().filter(|_| self.translate).map(|language| language.other().code())
    }

    /// The request for a recording with this SHA-256. Its key is a hash of everything that is sent, so that the same
    /// request always has the same job. `nth`: counts the jobs of this request that failed for a reason that may pass.
    /// `is_piece`: it is a piece, which has one channel. `lang`: the name of its language.
    pub(super) fn request(&self, sha256: &str, nth: u32, is_piece: bool, lang: &str) -> SpeechRequest {
        let translate = self.translate;
        // Paragraphs end at pauses, and channels are merged by the times of segments.
        let timestamps = self.timestamps || self.formats.contains(&Format::Txt) || self.splits_channels();
        let written = self.written.map(Digits::name);
        let form = written.map_or_else(String::new, |digits| format!(" written {digits}"));
        // Subtitles break between words.
        let words = match (self.words, self.has_subtitles()) {
            (true, _) => " words",
            (false, true) => " times of words",
            (false, false) => "",
        };
        let split_channels = self.splits_channels() && !is_piece;
        let channels = if split_channels { " split" } else { "" };
        let script = (!self.script.is_gurmukhi()).then(|| self.script.name());
        let in_script = script.map_or_else(String::new, |script| format!(" in {script}"));
        let terms = self.keyterms.iter().map(|term| format!(" {term:?}")).collect::<Vec<_>>().concat();
        let all = format!(
            "speech-recognition {lang} {translate} {timestamps} {sha256} {nth}{form}{words}{in_script}{channels}{terms}"
        );
        SpeechRequest {
            lang: Some(lang.to_owned()),
            with_translation: translate,
            with_timestamps: timestamps,
            with_words: self.words || self.has_subtitles(),
            with_confidence: self.words,
            written: written.map(str::to_owned),
            script: script.map(str::to_owned),
            split_channels,
            subtitles: None, // they are made here
            keyterms: self.keyterms.clone(),
            idempotency_key: Some(self::sha256(all.as_bytes())),
        }
    }
}

/// The SHA-256 of bytes, as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

fn layout((max_line_length, max_lines): (u8, u8)) -> Layout {
    Layout { max_line_length: max_line_length.into(), max_lines: max_lines.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtitles_imply_timestamps_and_figures() {
        let with = |formats: &[Format]| {
            let settings = Settings::new(SpokenLanguage::Pa, Asked::default(), formats);
            assert_eq!(settings.written.is_some(), settings.timestamps);
            settings.timestamps
        };
        let words = Asked { words: true, ..Asked::default() };
        assert!(Settings::new(SpokenLanguage::Pa, words, &[Format::Json]).timestamps);
        assert!(with(&[Format::Srt]) && with(&[Format::Txt, Format::Vtt]));
        assert!(!with(&[Format::Json, Format::Txt]));
    }

    #[test]
    fn a_key_depends_on_all_that_is_sent_and_on_nothing_else() {
        let key = |lang, asked, formats: &[Format], sha256, nth| {
            let settings = Settings::new(lang, asked, formats).with_numbers(None);
            settings.request(sha256, nth, false, settings.lang().name()).idempotency_key.unwrap()
        };
        let in_figures = |digits| {
            let settings = Settings::new(SpokenLanguage::Pa, Asked::default(), &[Format::Json])
                .with_numbers(Some(digits));
            settings.request("a", 0, false, "pa").idempotency_key.unwrap()
        };
        let split = || {
            let settings = Settings::new(SpokenLanguage::Pa, Asked::default(), &[Format::Json]);
            let settings = settings.with_channels(Channels::Split);
            settings.request("a", 0, false, "pa").idempotency_key.unwrap()
        };
        let in_script = |script| {
            let settings =
                Settings::new(SpokenLanguage::Pa, Asked::default(), &[Format::Json]).with_script(script);
            settings.request("a", 0, false, "pa").idempotency_key.unwrap()
        };
        let with_terms = |terms: &[&str]| {
            let terms = terms.iter().map(|term| (*term).to_owned()).collect();
            let settings = Settings::new(SpokenLanguage::Pa, Asked::default(), &[Format::Json]);
            settings.with_keyterms(terms).request("a", 0, false, "pa").idempotency_key.unwrap()
        };
        let pa = SpokenLanguage::Pa;
        let json = [Format::Json];
        let text = Asked::default();
        let first = key(pa, text, &json, "a", 0);
        assert_ne!(first, key(pa, text, &[Format::Txt], "a", 0), "paragraphs need times");
        let others = [
            key(SpokenLanguage::En, text, &json, "a", 0),
            key(SpokenLanguage::Auto, text, &json, "a", 0),
            key(pa, Asked { translate: true, ..text }, &json, "a", 0),
            key(pa, Asked { timestamps: true, ..text }, &json, "a", 0),
            key(pa, Asked { words: true, ..text }, &json, "a", 0),
            key(pa, text, &json, "b", 0),
            key(pa, text, &json, "a", 1),
            in_figures(Digits::Latin),
            in_figures(Digits::Gurmukhi),
            in_script(Script::Latin),
            split(),
            in_script(Script::Shahmukhi),
            with_terms(&["ਗੁਰਕੀਰਤ", "ਨੰਗਲ"]),
            with_terms(&["ਗੁਰਕੀਰਤ ਨੰਗਲ"]),
        ];
        assert_eq!(BTreeSet::from(others.clone()).len(), others.len());
        assert!(!others.contains(&first));
    }
}
