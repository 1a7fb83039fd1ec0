//! The fields: their allowed values, their defaults, and values that are not allowed.

use akhar_tests::{
    Form, Stack,
    speech::{error_percent, recording},
};

use super::{MAX_ERROR_PERCENT, OPERATION, transcribe};
use crate::violations;

#[tokio::test]
async fn the_defaults_are_panjabi_and_no_flags() {
    let stack = Stack::start().await;
    let recording = recording("pa-school.wav");
    let plain = transcribe(&stack, &Form::upload(&recording.bytes)).await;
    let text = plain["transcription"].as_str().expect("a text");
    assert!(error_percent(&recording.text(), text) <= MAX_ERROR_PERCENT, "{text}");
    let explicit = Form::upload_and(&recording.bytes, "lang", "pa")
        .text("with-timestamps", "false")
        .text("with-translation", "false");
    assert_eq!(transcribe(&stack, &explicit).await, plain);
}

#[tokio::test]
async fn the_caller_s_language_is_used_whatever_is_spoken() {
    let stack = Stack::start().await;
    let recording = recording("en-weather.wav");
    let as_panjabi = transcribe(&stack, &Form::upload_and(&recording.bytes, "lang", "pa")).await;
    let text = as_panjabi["transcription"].as_str().expect("a text");
    assert!(text.chars().all(|c| c == ' ' || ('\u{a00}'..='\u{a7f}').contains(&c)), "{text}");
    let as_english = transcribe(&stack, &Form::upload_and(&recording.bytes, "lang", "en")).await;
    let text = as_english["transcription"].as_str().expect("a text");
    assert!(text.is_ascii() && text.starts_with(|c: char| c.is_ascii_uppercase()), "{text}");
}

#[tokio::test]
async fn values_that_are_not_allowed_are_refused_by_field() {
    let stack = Stack::start().await;
    let file = recording("pa-school.wav").bytes;
    for (field, value) in [
        ("lang", "hi"),
        ("lang", "PA"),
        ("lang", " "),
        ("with-timestamps", "yes"),
        ("with-timestamps", "TRUE"),
        ("with-translation", "1"),
    ] {
        let form = Form::upload_and(&file, field, value);
        let problem = stack.refused(stack.post(OPERATION, &form), 422).await;
        assert_eq!(problem.errors(), violations([(field, "not_a_choice")]), "{value:?}: {}", problem.json);
    }
    let both = Form::upload_and(&file, "lang", "xx").text("with-timestamps", "maybe").text("speed", "2");
    let problem = stack.refused(stack.post(OPERATION, &both), 422).await;
    let all =
        violations([("lang", "not_a_choice"), ("speed", "unknown"), ("with-timestamps", "not_a_choice")]);
    assert_eq!(problem.errors(), all, "{}", problem.json);
    let problem = stack.refused(stack.post(OPERATION, &Form::default().text("lang", "pa")), 422).await;
    assert_eq!(problem.errors(), violations([("file", "missing")]));
}
