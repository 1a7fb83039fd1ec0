//! The requests of the load, and the outcome that each must have.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use akhar_inference::{
    Registry,
    handwriting::{Hand, Ink, Page, Text, Writer, lay_out, png},
};
use akhar_tests::{
    Form,
    http::{client, try_send},
    images::fixtures,
    root,
};
use serde_json::{Value, json};
use uuid::Uuid;

use super::service::Service;
use crate::runtime::runtime;

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
    Same(Seen),
    /// The strokes of this text by the hand of the job's id, or a picture of them.
    Written { text: &'static str, picture: bool },
}

/// An outcome as a client saw it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    /// Labels with their scores.
    Labels(Vec<(String, f64)>),
    /// A hash of the body.
    Body(u64),
}

impl Seen {
    /// The outcome in the body of an answer.
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
    pub(super) async fn ask_undisturbed(service: &Service) -> Self {
        let client = client();
        let mut cases = Vec::new();
        for (operation, form) in forms() {
            let (content_type, body) = (form.content_type(), form.body());
            let request = client.post(format!("http://{}/v1/models/{operation}", service.address));
            let request = request.bearer_auth(&service.key).header("content-type", &content_type);
            let answer = try_send(request.body(body.clone())).await.expect("an undisturbed answer");
            assert_eq!(answer.status, 200, "{answer:?}");
            let expected = Expected::Same(Seen::of(&answer.body));
            cases.push(Case { operation, content_type, body, expected });
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
        let registry = Registry::open(&root().join("models")).expect("the models");
        let manifest = registry.serving(HANDWRITING, None).expect("a model that writes");
        Self { writer: Writer::load(runtime(), manifest, 1).expect("the model loads") }
    }

    /// Whether the outcome of a job is that of the run without faults. `None` if that depends on the job's id, which is
    /// not known.
    pub(super) fn is_right(&mut self, case: &Case, seen: &Seen, job: Option<Uuid>) -> Option<bool> {
        match &case.expected {
            Expected::Same(expected) => Some(expected.is_like(seen)),
            Expected::Written { text, picture } => {
                Some(Seen::of(&self.written(text, *picture, job?)) == *seen)
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
        let seen = |first: &str, score: f64| {
            let json = json!({"predictions": [
                {"label": first, "score": score}, {"label": "੬", "score": 0.1}]});
            Seen::of(json.to_string().as_bytes())
        };
        assert!(seen("੫", 0.9).is_like(&seen("੫", 0.9004)));
        assert!(!seen("੫", 0.9).is_like(&seen("੫", 0.91)));
        assert!(!seen("੫", 0.9).is_like(&seen("੧", 0.9)));
        let empty = Seen::of(br#"{"predictions": []}"#);
        assert!(!seen("੫", 0.9).is_like(&empty));
        assert!(!empty.is_like(&Seen::of(b"\x89PNG")));
        assert!(Seen::of(b"{}").is_like(&Seen::of(b"{}")) && !Seen::of(b"{}").is_like(&Seen::of(b"{ }")));
    }
}
