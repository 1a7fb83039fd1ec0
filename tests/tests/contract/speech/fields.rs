//! The fields: their choices, their defaults, and what is none of them.

use akhar_tests::{
    Form, Stack,
    speech::{error_percent, recording},
};

use super::{ERRORS, OPERATION, heard};
use crate::violations;

#[tokio::test]
async fn panjabi_is_the_default_and_false_are_the_flags() {
    let stack = Stack::start().await;
    let recording = recording("pa-school.wav");
    let plain = heard(&stack, &Form::upload(&recording.bytes)).await;
    let heard_text = plain["transcription"].as_str().expect("a text");
    assert!(error_percent(&recording.text(), heard_text) <= ERRORS, "{heard_text}");
    let spelt = Form::upload_and(&recording.bytes, "lang", "pa")
        .text("with-timestamps", "false")
        .text("with-translation", "false");
    assert_eq!(heard(&stack, &spelt).await, plain);
}

#[tokio::test]
async fn the_language_is_the_callers_word() {
    let stack = Stack::start().await;
    let recording = recording("en-weather.wav");
    let as_panjabi = heard(&stack, &Form::upload_and(&recording.bytes, "lang", "pa")).await;
    let text = as_panjabi["transcription"].as_str().expect("a text");
    assert!(text.chars().all(|c| c == ' ' || ('\u{a00}'..='\u{a7f}').contains(&c)), "{text}");
    let as_english = heard(&stack, &Form::upload_and(&recording.bytes, "lang", "en")).await;
    let text = as_english["transcription"].as_str().expect("a text");
    assert!(text.chars().all(|c| c == ' ' || c == '\'' || c.is_ascii_lowercase()), "{text}");
}

#[tokio::test]
async fn what_is_no_choice_is_refused_by_name() {
    let stack = Stack::start().await;
    let file = recording("pa-school.wav").bytes;
    for (field, value) in [
        ("lang", "hi"),
        ("lang", "PA"),
        ("lang", ""),
        ("with-timestamps", "yes"),
        ("with-timestamps", "True"),
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
