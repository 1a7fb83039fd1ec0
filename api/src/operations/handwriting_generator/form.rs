//! The form of a handwriting request.

use akhar_jobs::Queue;
use akhar_requests::{
    CharSpace, Digits, HandwritingParameters, LineSpace, PageLength, PageWidth, PanjabiText, Picture, QUICK,
    StrokeColor, StrokeWidth, WordSpace,
    panjabi_text::{LENGTH, PATTERN, PanjabiTextError},
};
use serde_json::json;

use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
        value::{Rule, Value, rule},
    },
    problems::{Code, Violation},
};

/// A text as it was sent. What it may have depends on `figures`.
#[derive(Debug)]
pub(crate) struct SentText(String);

impl Value for SentText {
    fn rule() -> Rule {
        let schema = json!({
            "type": "string", "minLength": LENGTH.start(), "maxLength": LENGTH.end(), "pattern": PATTERN,
            "examples": ["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"],
        });
        rule("a string", schema)
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Ok(Self(text.to_owned()))
    }
}

fn violation(error: &PanjabiTextError) -> Violation {
    let code = match error {
        PanjabiTextError::TooShort(_) => Code::TooShort,
        PanjabiTextError::TooLong(_) => Code::TooLong,
        PanjabiTextError::NotAllowed(_) => Code::CharacterNotAllowed,
        PanjabiTextError::NoLetter => Code::NoLetter,
    };
    Violation::new("text", code, format!("text {error}"))
}

fields! {
    /// The fields of a handwriting request. Lengths are in pixels of the picture.
    HandwritingForm {
        /// The text to write. It is converted to Unicode normalization form C (NFC) first. It must then have 2 to 100
        /// Unicode scalar values, at least one of them a Gurmukhi letter or digit. Allowed are the Gurmukhi block,
        /// spaces, newlines, dandas (U+0964, U+0965), joiners (U+200C, U+200D), dashes (U+2010 to U+2015) and
        /// `. , ? ! - ( ) ' " : ; / % ‘ ’ “ ” …`, and with `figures` also 0 to 9 and ₹. The pattern matches text in NFC with
        /// figures, in which each of the six letters with a dot below is a letter and a nukta.
        text: SentText = field("text").required(),
        /// Allows the digits 0 to 9 and ₹ in the text. The digits are written as ੦ to ੯ (`gurmukhi`) or as they are (`latin`).
        figures: Digits = field("figures"),
        /// The distance from the baseline of one line to the baseline of the next.
        line_space: LineSpace = field("line-space").or("125").wrong("119.5"),
        /// The space between characters.
        char_space: CharSpace = field("char-space").or("35"),
        /// The space between words.
        word_space: WordSpace = field("word-space").or("75"),
        /// The width of a page. Every stroke is within it.
        page_width: PageWidth = field("page-width").or("550"),
        /// The length of a page. Text that does not fit continues on another page below it.
        page_length: PageLength = field("page-length").or("550"),
        /// Whether to draw a picture.
        with_image: bool = field("with-image").or("false"),
        /// The colour of the strokes in the picture.
        stroke_color: StrokeColor = field("stroke-color").or("black"),
        /// The width of the strokes in the picture.
        stroke_width: StrokeWidth = field("stroke-width").or("2.5"),
        /// What the handwriting is made from. The same text and lengths with the same seed have the same strokes. Without it
        /// every request has another handwriting.
        seed: u32 = field("seed"),
    }
}

impl Form for HandwritingForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = HandwritingParameters;

    fn check(self, violations: &mut Vec<Violation>) -> Option<HandwritingParameters> {
        let text = self.text.and_then(|sent| {
            let parsed = PanjabiText::parse(&sent.0, self.figures);
            // The errors are in the order of the fields.
            parsed.map_err(|errors| violations.splice(0..0, errors.iter().map(violation)).for_each(drop)).ok()
        });
        let picture = Picture {
            stroke_color: self.stroke_color?,
            stroke_width: self.stroke_width?,
            with_svg: false, // the route reads the Accept header
        };
        Some(HandwritingParameters {
            text: text?,
            line_space: self.line_space?,
            char_space: self.char_space?,
            word_space: self.word_space?,
            page_width: self.page_width?,
            page_length: self.page_length?,
            picture: self.with_image?.then_some(picture),
            seed: self.seed,
        })
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "with-image": true, "stroke-color": "blue"}))
    }

    fn examples() -> Vec<(&'static str, &'static str, serde_json::Value)> {
        let picture = json!({
            "text": "ਪੰਜਾਬੀ ਵਿੱਚ ਲਿਖੋ।", "page-width": 300, "with-image": true, "stroke-color": "blue", "stroke-width": 3,
        });
        vec![
            ("strokes", "The strokes of a greeting", json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"})),
            ("picture", "A narrow page in blue ink", picture),
        ]
    }
}

#[cfg(test)]
#[path = "form_tests.rs"]
mod tests;
