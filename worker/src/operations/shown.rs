//! How an outcome shows what was recognised: texts in the script of the request, and confidence if it asks for it.

use akhar_inference::{
    Confidence,
    scripts::{self, has_gurmukhi},
    speech::TimedText,
};
use akhar_requests::{Script, Segment, SpeechParameters, Word};

/// What is said of texts in Shahmukhi.
const APPROXIMATE: &str = "the Shahmukhi text is approximate: its spelling is made from Gurmukhi by rules";

/// How the texts of a job are shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    /// What gives the confidence of each segment and word, if it is shown.
    confidence: Option<Confidence>,
    script: Script,
}

impl Shown {
    /// `confidence`: that of the model.
    pub(super) fn new(parameters: &SpeechParameters, confidence: Option<Confidence>) -> Self {
        let confidence = confidence.filter(|_| parameters.with_confidence);
        Self { confidence, script: parameters.script }
    }

    /// A text in the script. What is not Panjabi stays.
    pub(super) fn text(self, text: &str) -> String {
        in_script(self.script, text)
    }

    /// A segment without its translation.
    pub(super) fn segment(self, segment: TimedText, channel: Option<u8>) -> Segment {
        let TimedText { text, start, end, evidence } = segment;
        let confidence = self.confidence.and_then(|shown| evidence.probability(&shown)).map(thousandths);
        Segment { start, end, transcription: self.text(&text), translation: None, confidence, channel }
    }

    /// A word.
    pub(super) fn word(self, word: TimedText, channel: Option<u8>) -> Word {
        let TimedText { text, start, end, evidence } = word;
        let confidence = self.confidence.and_then(|shown| evidence.word_probability(&shown));
        Word { start, end, text: self.text(&text), confidence: confidence.map(thousandths), channel }
    }

    /// What is to be said of these texts, which are in Gurmukhi or English.
    pub(super) fn warning<'a>(self, texts: impl Iterator<Item = &'a str>) -> Option<String> {
        approximate(self.script, texts)
    }
}

/// A text in the script. What is not Panjabi stays.
pub(super) fn in_script(script: Script, text: &str) -> String {
    let script = match script {
        Script::Gurmukhi => scripts::Script::Gurmukhi,
        Script::Latin => scripts::Script::Latin,
        Script::Shahmukhi => scripts::Script::Shahmukhi,
    };
    script.write(text)
}

/// What is to be said of texts, in Gurmukhi or English, that are shown in the script.
pub(super) fn approximate<'a>(script: Script, mut texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let is_approximate = script == Script::Shahmukhi && texts.any(has_gurmukhi);
    is_approximate.then(|| APPROXIMATE.to_owned())
}

/// A probability as responses have it: to the third decimal.
pub(super) fn thousandths(probability: f64) -> f64 {
    (probability * 1e3).round() / 1e3
}
