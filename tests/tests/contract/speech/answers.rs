//! The answer: the text and its times; in the response or later.

use akhar_tests::{
    Form, Stack,
    http::send,
    speech::{error_percent, noise, recording, recordings, silence, wav},
};
use futures::future::join_all;
use serde_json::json;

use super::{MAX_ERROR_PERCENT, OPERATION, document, form, transcribe};

#[tokio::test]
async fn recordings_are_transcribed() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let answer = send(stack.post(OPERATION, &form(&recording))).await;
        let timing = answer.header("server-timing");
        assert!(timing.contains("decode;dur=") && timing.contains("infer;dur="), "{timing}");
        let document = document(&answer);
        assert_eq!(document.as_object().map(serde_json::Map::len), Some(1), "no other field was requested");
        let text = document["transcription"].as_str().expect("a text");
        let errors = error_percent(&recording.text(), text);
        assert!(errors <= MAX_ERROR_PERCENT, "{}: {errors} %: {text}", recording.name);
    }
}

#[tokio::test]
async fn copies_of_a_model_recognise_what_one_does() {
    let stack = Stack::with().set("AKHAR_SPEECH_COPIES", 2).start().await;
    let forms: Vec<Form> = recordings().iter().map(form).collect();
    let mut alone = Vec::new();
    for form in &forms {
        alone.push(transcribe(&stack, form).await);
    }
    let together = join_all(forms.iter().map(|form| transcribe(&stack, form))).await;
    assert_eq!(together, alone);
}

#[tokio::test]
async fn segments_have_the_times_of_the_sentences() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let form = form(&recording).text("with-timestamps", "true");
        let document = transcribe(&stack, &form).await;
        let segments = document["timestamps"].as_array().expect("asked for");
        assert_eq!(segments.len(), recording.said.len(), "a pause of a second ends a segment: {document}");
        for (segment, (start, end, text)) in segments.iter().zip(&recording.said) {
            let apart = |name: &str, said: f64| (segment[name].as_f64().expect("seconds") - said).abs();
            assert!(apart("start", *start) < 0.25 && apart("end", *end) < 0.4, "{start}–{end}: {segment}");
            let transcription = segment["transcription"].as_str().expect("a text");
            let errors = error_percent(text, transcription);
            assert!(errors <= 2 * MAX_ERROR_PERCENT, "{text}: {transcription}");
        }
    }
}

#[tokio::test]
async fn a_text_is_in_nfc_and_no_word_begins_with_a_sign() {
    let stack = Stack::start().await;
    for recording in recordings().into_iter().filter(|r| r.lang == "pa") {
        let document = transcribe(&stack, &form(&recording)).await;
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
async fn silence_has_an_empty_transcript() {
    let stack = Stack::start().await;
    for seconds in [1, 40] {
        for lang in ["pa", "en"] {
            let form =
                Form::upload_and(&wav(&silence(seconds)), "lang", lang).text("with-timestamps", "true");
            assert_eq!(transcribe(&stack, &form).await, json!({"transcription": "", "timestamps": []}));
            let form = form.text("with-translation", "true");
            let nothing = json!({"transcription": "", "translation": "", "timestamps": []});
            assert_eq!(transcribe(&stack, &form).await, nothing);
        }
    }
}

#[tokio::test]
async fn steady_noise_has_an_empty_transcript() {
    let stack = Stack::start().await;
    for lang in ["pa", "en"] {
        for seconds in [2, 5, 30] {
            let form = Form::upload_and(&wav(&noise(seconds)), "lang", lang);
            assert_eq!(
                transcribe(&stack, &form).await,
                json!({"transcription": ""}),
                "{seconds} s in {lang}"
            );
        }
    }
}

#[tokio::test]
async fn a_translation_is_in_the_other_language() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let plain = transcribe(&stack, &form(&recording)).await;
        let translated = transcribe(&stack, &form(&recording).text("with-translation", "true")).await;
        assert_eq!(translated["transcription"], plain["transcription"]);
        let text = translated["translation"].as_str().expect("asked for");
        let is_gurmukhi = |c: char| ('\u{a00}'..='\u{a7f}').contains(&c);
        match recording.lang {
            "pa" => assert!(text.contains(|c: char| c.is_ascii_alphabetic()), "{}: {text}", recording.name),
            _ => assert!(text.contains(is_gurmukhi), "{}: {text}", recording.name),
        }
        let both = form(&recording).text("with-translation", "true").text("with-timestamps", "true");
        let both = transcribe(&stack, &both).await;
        assert_eq!(both["translation"], translated["translation"]);
        assert_eq!(both["timestamps"].as_array().map(Vec::len), Some(recording.said.len()));
    }
}

#[tokio::test]
async fn a_recording_can_be_transcribed_asynchronously() {
    let stack = Stack::start().await;
    let recording = recording("pa-school.wav");
    let form = form(&recording).text("with-timestamps", "true");
    let id = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!((&job["state"], &job["operation"]), (&"succeeded".into(), &OPERATION.into()), "{job}");
    let at_once = transcribe(&stack, &form).await;
    assert_eq!(job["result"], at_once, "the same recording has the same transcript");
    assert_eq!(document(&stack.get(&format!("/v1/jobs/{id}/result")).await), at_once);
}
