//! The form of a translation request.

use akhar_jobs::Queue;
use akhar_requests::{
    Digits, SPEECH, Script, SourceText, TranslationParameters,
    source_text::{LENGTH, SourceTextError},
};
use serde_json::json;

use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
        value::{Rule, Value, rule},
    },
    operations::speech_recognition::form::{DIGITS_NEED_WRITTEN, SpokenLanguage, TextForm},
    problems::{Code, Violation},
};

impl Value for SourceText {
    fn rule() -> Rule {
        let schema = json!({
            "type": "string", "minLength": LENGTH.start(), "maxLength": LENGTH.end(), "pattern": r"\S",
            "examples": ["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"],
        });
        rule("a text", schema)
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Self::parse(text).map_err(code)
    }

    fn check(name: &str, text: &str) -> Result<Self, Vec<Violation>> {
        Self::parse(text).map_err(|error| vec![Violation::new(name, code(error), format!("{name} {error}"))])
    }
}

const fn code(error: SourceTextError) -> Code {
    match error {
        SourceTextError::Blank => Code::TooShort,
        SourceTextError::TooLong(_) => Code::TooLong,
        SourceTextError::Nul(_) => Code::CharacterNotAllowed,
    }
}

fields! {
    /// The fields of a translation request.
    TranslationForm {
        /// The text to translate, line by line: 1 to 5,000 Unicode scalar values in Unicode normalization form C (NFC). It has
        /// more than white space, and no U+0000.
        text: SourceText = field("text").required(),
        /// The language of the text. With `auto`, it is the one whose script most letters have: Gurmukhi is Panjabi, and Latin is
        /// English. The translation is in the other one.
        lang: SpokenLanguage = field("lang").or("auto").wrong("fr"),
        /// Whether the translation has numbers in words as the model writes them, or in figures, such as ₹250, 15% and 5:30.
        format: TextForm = field("format").or("spoken"),
        /// The digits of these figures. `gurmukhi` only with `format=written`. An English text has `latin`.
        digits: Digits = field("digits").neutral("latin"),
        /// The script of a translation into Panjabi: `latin` is ISO 15919, and `shahmukhi` is approximate, because it is made from
        /// Gurmukhi by rules.
        script: Script = field("script").or("gurmukhi"),
    }
}

impl Form for TranslationForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = SPEECH;
    type Checked = TranslationParameters;

    fn check(self, violations: &mut Vec<Violation>) -> Option<TranslationParameters> {
        let format = self.format?;
        if self.digits == Some(Digits::Gurmukhi) && format == TextForm::Spoken {
            violations.push(Violation::new("digits", Code::Unsupported, DIGITS_NEED_WRITTEN));
        }
        let (text, lang) = (self.text?, self.lang?);
        Some(TranslationParameters {
            lang: match lang {
                SpokenLanguage::Named(language) => language,
                SpokenLanguage::Auto => text.language(),
            },
            text,
            written: (format == TextForm::Written).then(|| self.digits.unwrap_or(Digits::Latin)),
            script: self.script?,
        })
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}))
    }
}
