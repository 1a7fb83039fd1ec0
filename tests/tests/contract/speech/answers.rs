//! What is answered: text, and when it is said; at once or later.

use akhar_tests::{
    Form, Stack,
    http::send,
    speech::{error_percent, noise, recording, recordings, silence, wav},
};
use serde_json::json;

use super::{ERRORS, OPERATION, document, form, heard};

#[tokio::test]
async fn recordings_are_transcribed() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let answer = send(stack.post(OPERATION, &form(&recording))).await;
        let timing = answer.header("server-timing");
        assert!(timing.contains("decode;dur=") && timing.contains("infer;dur="), "{timing}");
        let document = document(&answer);
        assert_eq!(document.as_object().map(serde_json::Map::len), Some(1), "nobody asked for more");
        let heard = document["transcription"].as_str().expect("a text");
        let errors = error_percent(&recording.text(), heard);
        assert!(errors <= ERRORS, "{}: {errors} %: {heard}", recording.name);
    }
}

#[tokio::test]
async fn segments_say_when_what_is_said() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let form = form(&recording).text("with-timestamps", "true");
        let document = heard(&stack, &form).await;
        let segments = document["timestamps"].as_array().expect("asked for");
        assert_eq!(segments.len(), recording.said.len(), "a pause of a second parts them: {document}");
        for (segment, (start, end, text)) in segments.iter().zip(&recording.said) {
            let apart = |name: &str, said: f64| (segment[name].as_f64().expect("seconds") - said).abs();
            assert!(apart("start", *start) < 0.25 && apart("end", *end) < 0.4, "{start}–{end}: {segment}");
            let heard = segment["transcription"].as_str().expect("a text");
            assert!(error_percent(text, heard) <= 2 * ERRORS, "{text}: {heard}");
        }
    }
}

#[tokio::test]
async fn a_text_is_normalised_and_no_sign_stands_alone() {
    let stack = Stack::start().await;
    for recording in recordings().into_iter().filter(|r| r.lang == "pa") {
        let document = heard(&stack, &form(&recording)).await;
        let text = document["transcription"].as_str().expect("a text");
        for word in text.split(' ') {
            let first = word.chars().next().expect("one space between two words");
            assert!(('\u{a05}'..='\u{a39}').contains(&first) || first == '\u{a5c}', "{text:?}: {first:?}");
        }
        assert!(
            !text.contains(['\u{a33}', '\u{a36}', '\u{a59}', '\u{a5a}', '\u{a5b}', '\u{a5e}']),
            "NFC: {text}"
        );
    }
}

#[tokio::test]
async fn silence_says_nothing() {
    let stack = Stack::start().await;
    for seconds in [1, 40] {
        for lang in ["pa", "en"] {
            let form =
                Form::upload_and(&wav(&silence(seconds)), "lang", lang).text("with-timestamps", "true");
            assert_eq!(heard(&stack, &form).await, json!({"transcription": "", "timestamps": []}));
            let form = form.text("with-translation", "true");
            let nothing = json!({"transcription": "", "translation": "", "timestamps": []});
            assert_eq!(heard(&stack, &form).await, nothing);
        }
    }
}

#[tokio::test]
async fn steady_noise_says_nothing() {
    let stack = Stack::start().await;
    for lang in ["pa", "en"] {
        for seconds in [2, 5, 30] {
            let form = Form::upload_and(&wav(&noise(seconds)), "lang", lang);
            assert_eq!(heard(&stack, &form).await, json!({"transcription": ""}), "{seconds} s in {lang}");
        }
    }
}

#[tokio::test]
async fn a_translation_is_in_the_other_language() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let plain = heard(&stack, &form(&recording)).await;
        let translated = heard(&stack, &form(&recording).text("with-translation", "true")).await;
        assert_eq!(translated["transcription"], plain["transcription"]);
        let text = translated["translation"].as_str().expect("asked for");
        let is_gurmukhi = |c: char| ('\u{a00}'..='\u{a7f}').contains(&c);
        match recording.lang {
            "pa" => assert!(text.contains(|c: char| c.is_ascii_alphabetic()), "{}: {text}", recording.name),
            _ => assert!(text.contains(is_gurmukhi), "{}: {text}", recording.name),
        }
        let both = form(&recording).text("with-translation", "true").text("with-timestamps", "true");
        let both = heard(&stack, &both).await;
        assert_eq!(both["translation"], translated["translation"]);
        assert_eq!(both["timestamps"].as_array().map(Vec::len), Some(recording.said.len()));
    }
}

#[tokio::test]
async fn a_recording_is_transcribed_later() {
    let stack = Stack::start().await;
    let recording = recording("pa-school.wav");
    let form = form(&recording).text("with-timestamps", "true");
    let id = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!((&job["state"], &job["operation"]), (&"succeeded".into(), &OPERATION.into()), "{job}");
    let at_once = heard(&stack, &form).await;
    assert_eq!(job["result"], at_once, "the same recording, the same text");
    assert_eq!(document(&stack.get(&format!("/v1/jobs/{id}/result")).await), at_once);
}
