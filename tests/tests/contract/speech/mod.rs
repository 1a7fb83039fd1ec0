//! Speech recognition. There is one file for each part of a request, and one for the answer.

mod answers;
mod channels;
mod fields;
mod files;
mod keyterms;
mod languages;
mod long;
mod privacy;
mod scripts;
mod subtitles;
mod urls;
mod warnings;
mod words;
mod written;

use akhar_tests::{Answer, Form, Stack, http::send, speech::Recording};
use serde_json::Value;

const OPERATION: &str = "speech-recognition";

/// The highest allowed character error rate, percent. It is far above the models' error rate for these
/// recordings, and far below the error rate of another text.
const MAX_ERROR_PERCENT: usize = 20;

/// A form with a recording and its language.
fn form(recording: &Recording) -> Form {
    Form::upload_and(&recording.bytes, "lang", recording.lang)
}

/// Sends a form and returns the document of the answer.
async fn transcribe(stack: &Stack, form: &Form) -> Value {
    document(&send(stack.post(OPERATION, form)).await)
}

/// The transcription of a file in Panjabi.
async fn transcription(stack: &Stack, file: &[u8]) -> String {
    let document = transcribe(stack, &Form::upload(file)).await;
    document["transcription"].as_str().expect("a text").to_owned()
}

/// The document of a 200 answer. Checks that it has the fields of the interface specification and no others.
fn document(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.header("content-type"), "application/json");
    let document = answer.json();
    let text = document["transcription"].as_str().unwrap_or_else(|| panic!("no transcription: {document}"));
    let translation = document.get("translation").map(|t| t.as_str().expect("a text"));
    let n_fields = 1 + usize::from(translation.is_some()) + usize::from(document.get("timestamps").is_some());
    assert_eq!(document.as_object().map(serde_json::Map::len), Some(n_fields), "nothing else: {document}");
    if let Some(segments) = document.get("timestamps") {
        let segments = segments.as_array().expect("a list");
        let texts: Vec<&str> =
            segments.iter().map(|s| s["transcription"].as_str().expect("a text")).collect();
        assert_eq!(texts.join(" "), text, "the segments make up the whole text");
        let mut before = 0.0;
        for segment in segments {
            let [start, end] = ["start", "end"].map(|name| segment[name].as_f64().expect("seconds"));
            assert!(before <= start && start <= end, "in order: {document}");
            assert!(
                [start, end].iter().all(|t| (t * 1000.0 - (t * 1000.0).round()).abs() < 1e-6),
                "{document}"
            );
            let n_fields = 3 + usize::from(translation.is_some());
            assert_eq!(segment.as_object().map(serde_json::Map::len), Some(n_fields), "{document}");
            before = end;
        }
        if let Some(whole) = translation {
            let texts = segments.iter().map(|s| s["translation"].as_str().expect("a text"));
            let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
            assert_eq!(texts.join(" "), whole, "the segments make up the whole text");
        }
    }
    document
}
