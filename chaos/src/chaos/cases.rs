//! The requests of the load, and the outcome that each must have.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use akhar_inference::{
    Registry, Runtime,
    handwriting::{Hand, Ink, Page, Text, Writer, lay_out, png},
};
use akhar_tests::{
    Form, Stack,
    http::send,
    images::fixtures,
    root,
    stack::{models, onnxruntime},
};
use serde_json::{Value, json};
use uuid::Uuid;

const HANDWRITING: &str = "handwriting-generator";
const TEXTS: [&str; 3] = ["ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "ਮੈਂ ਪੰਜਾਬੀ ਵਿੱਚ ਲਿਖਦਾ ਹਾਂ।", "੧੨ ਵਜੇ"];
const RECORDINGS: [(&str, &str); 3] =
    [("pa-seven.wav", "pa"), ("pa-water.mp3", "pa"), ("en-seven.wav", "en")];

/// Two scores of one picture differ by less than this, whatever other pictures are in the model's batch.
const SAME_SCORE: f64 = 1e-3;

/// A request and its outcome.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) operation: &'static str,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    expected: Expected,
}

/// The outcome that a case must have.
#[derive(Debug)]
enum Expected {
    /// That of the run without faults.
    Same(Content),
    /// The strokes of this text by the hand of the job's id, or a picture of them.
    Written { text: &'static str, picture: bool },
}

/// What is in the body of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    /// Labels with their scores.
    Labels(Vec<(String, f64)>),
    /// A hash of the body.
    Body(u64),
}

impl Content {
    /// Reads a body.
    pub(super) fn of(body: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        if let Some(predictions) = json["predictions"].as_array() {
            let label = |p: &Value| Some((p["label"].as_str()?.to_owned(), p["score"].as_f64()?));
            return Self::Labels(predictions.iter().filter_map(label).collect());
        }
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        Self::Body(hasher.finish())
    }

    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Labels(ours), Self::Labels(others)) => {
                let same =
                    |((label, score), (other_label, other_score)): (&(String, f64), &(String, f64))| {
                        label == other_label && (score - other_score).abs() < SAME_SCORE
                    };
                ours.len() == others.len() && ours.iter().zip(others).all(same)
            }
            _ => self == other,
        }
    }
}

/// All cases.
pub(super) struct Cases(pub(super) Vec<Case>);

impl Cases {
    /// Makes the cases, and sends those whose outcome is not known yet to a service without faults.
    pub(super) async fn ask_undisturbed(stack: &Stack) -> Self {
        let mut cases = Vec::new();
        for (operation, form) in forms() {
            let answer = send(stack.post(operation, &form)).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let expected = Expected::Same(Content::of(&answer.body));
            cases.push(Case { operation, content_type: form.content_type(), body: form.body(), expected });
        }
        for text in TEXTS {
            for picture in [false, true] {
                let body = json!({"text": text, "with-image": picture}).to_string().into_bytes();
                let content_type = "application/json".to_owned();
                let expected = Expected::Written { text, picture };
                cases.push(Case { operation: HANDWRITING, content_type, body, expected });
            }
        }
        Self(cases)
    }

    /// The number of cases.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The forms of the operations that take a file.
fn forms() -> Vec<(&'static str, Form)> {
    let mut forms: Vec<_> = fixtures().into_iter().map(|f| (f.operation, Form::upload(&f.bytes))).collect();
    for (name, lang) in RECORDINGS {
        let bytes = fs::read(root().join("tests/fixtures/audio").join(name)).expect("a fixture");
        let form = Form::upload_and(&bytes, "lang", lang);
        forms.push(("speech-recognition", form.clone().text("with-timestamps", "true")));
        forms.push(("speech-recognition", form));
    }
    forms
}

/// Compares outcomes with those that they must be.
pub(super) struct Judge {
    writer: Writer,
}

impl Judge {
    /// Loads the model that writes, to compute what a job must have written.
    pub(super) fn load() -> Self {
        let registry = Registry::open(&models()).expect("the models");
        let manifest = registry.serving(HANDWRITING, None).expect("a model that writes");
        let runtime = Runtime::load(&onnxruntime()).expect("ONNX Runtime");
        Self { writer: Writer::load(&runtime, manifest, 1).expect("the model loads") }
    }

    /// Whether the outcome of a job is that of the run without faults. `None` if that depends on the job's id, which is
    /// not known.
    pub(super) fn is_right(&mut self, case: &Case, content: &Content, job: Option<Uuid>) -> Option<bool> {
        match &case.expected {
            Expected::Same(expected) => Some(expected.is_like(content)),
            Expected::Written { text, picture } => {
                Some(Content::of(&self.written(text, *picture, job?)) == *content)
            }
        }
    }

    /// The body of the answer to a request for handwriting.
    fn written(&mut self, text: &str, picture: bool, job: Uuid) -> Vec<u8> {
        let text = Text::read(text, self.writer.glyphs());
        let hand = Hand::new(job.as_u64_pair().1);
        let shapes = self.writer.shape(&text.glyphs(), hand).expect("shapes");
        let page =
            Page { line_space: 125.0, char_space: 35.0, word_space: 75.0, width: 550.0, length: 550.0 };
        let sheet = lay_out(&text, &shapes, &page, hand);
        if picture {
            return png(&sheet, Ink::BLACK, 2.5).expect("a picture");
        }
        [b"{\"points\":".as_slice(), &sheet.points_json(), b"}"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_compared_by_labels_and_by_about_the_same_scores() {
        let content = |first: &str, score: f64| {
            let json = json!({"predictions": [
                {"label": first, "score": score}, {"label": "੬", "score": 0.1}]});
            Content::of(json.to_string().as_bytes())
        };
        assert!(content("੫", 0.9).is_like(&content("੫", 0.9004)));
        assert!(!content("੫", 0.9).is_like(&content("੫", 0.91)));
        assert!(!content("੫", 0.9).is_like(&content("੧", 0.9)));
        let empty = Content::of(br#"{"predictions": []}"#);
        assert!(!content("੫", 0.9).is_like(&empty));
        assert!(!empty.is_like(&Content::of(b"\x89PNG")));
        assert!(
            Content::of(b"{}").is_like(&Content::of(b"{}"))
                && !Content::of(b"{}").is_like(&Content::of(b"{ }"))
        );
    }
}
