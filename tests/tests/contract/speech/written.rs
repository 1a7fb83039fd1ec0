//! The written form: figures and marks with `format=written`, and `digits`.

use akhar_tests::{Form, Stack, events::Events, http::send, speech::recording};
use serde_json::Value;

use super::{OPERATION, document, form, transcribe};
use crate::violations;

/// The recording says "this costs two hundred and fifty rupees", and after a pause "the train leaves at a quarter past five".
const RECORDING: &str = "pa-price.mp3";

/// The marks of Panjabi.
const MARKS: [char; 3] = ['।', ',', '?'];

fn texts(segments: &Value) -> Vec<&str> {
    let segments = segments.as_array().expect("segments").iter();
    segments.map(|segment| segment["transcription"].as_str().expect("a text")).collect()
}

fn times(segments: &Value) -> Vec<[Option<f64>; 2]> {
    let segments = segments.as_array().expect("segments").iter();
    segments.map(|segment| ["start", "end"].map(|at| segment[at].as_f64())).collect()
}

#[tokio::test]
async fn numbers_are_in_figures_on_request_and_all_else_stays() {
    let stack = Stack::start().await;
    let plain = form(&recording(RECORDING)).text("with-timestamps", "true").text("with-translation", "true");
    let spoken = transcribe(&stack, &plain).await;
    assert!(!spoken["transcription"].as_str().expect("a text").contains(char::is_numeric), "{spoken}");
    assert_eq!(transcribe(&stack, &plain.clone().text("format", "spoken")).await, spoken);

    let written = transcribe(&stack, &plain.clone().text("format", "written")).await;
    let [price, train] = texts(&written["timestamps"])[..] else { panic!("two sentences: {written}") };
    assert!(price.contains(" ₹250") && train.contains(" 5:15 ਵਜੇ"), "{written}");
    assert_eq!(times(&written["timestamps"]), times(&spoken["timestamps"]));
    let [translation, plain_translation] =
        [&written, &spoken].map(|body| body["translation"].as_str().expect("a text"));
    assert!(plain_translation.contains("two hundred and fifty rupees"), "{plain_translation}");
    assert!(translation.contains("₹250") && translation.contains("5:15"), "{translation}");

    let gurmukhi = plain.text("format", "written").text("digits", "gurmukhi");
    let gurmukhi = transcribe(&stack, &gurmukhi).await;
    let [price, train] = texts(&gurmukhi["timestamps"])[..] else { panic!("two sentences: {gurmukhi}") };
    assert!(price.contains(" ₹੨੫੦") && train.contains(" ੫:੧੫ ਵਜੇ"), "{gurmukhi}");
    assert_eq!(gurmukhi["translation"], translation, "English has Latin digits");
}

#[tokio::test]
async fn panjabi_has_marks_and_the_same_words() {
    let stack = Stack::start().await;
    for name in ["pa-two-sentences.wav", "pa-sister.wav", "en-weather.wav"] {
        let plain = form(&recording(name));
        let spoken = transcribe(&stack, &plain).await;
        let written = transcribe(&stack, &plain.text("format", "written")).await;
        let [spoken, written] =
            [&spoken, &written].map(|body| body["transcription"].as_str().expect("a text"));
        if name.starts_with("pa-") {
            assert!(!spoken.contains(MARKS) && written.ends_with(['।', '?']), "{spoken}: {written}");
            assert_eq!(written.replace(MARKS, ""), spoken);
        } else {
            assert_eq!(written, spoken, "the recogniser writes marks itself");
        }
    }
}

#[tokio::test]
async fn events_and_subtitles_have_the_written_form_too() {
    let stack = Stack::start().await;
    let recording = Form::upload(&recording(RECORDING).bytes.repeat(8));
    let written = recording.text("with-timestamps", "true").text("format", "written");
    let job = send(stack.post(OPERATION, &written).header("prefer", "respond-async")).await.job();
    let events =
        Events::open(stack.request("GET", &format!("/v1/jobs/{job}/events")), None).await.rest().await;
    let result = document(&stack.get(&format!("/v1/jobs/{job}/result")).await);
    let segments: Vec<Value> =
        events.into_iter().filter(|event| event.name == "segment").map(|event| event.data).collect();
    assert_eq!(result["timestamps"], Value::from(segments));
    let subtitles =
        stack.request("GET", &format!("/v1/jobs/{job}/result")).header("accept", "application/x-subrip");
    let subtitles = String::from_utf8(send(subtitles).await.body.to_vec()).expect("UTF-8");
    assert!(texts(&result["timestamps"]).iter().all(|text| subtitles.contains(text)), "{subtitles}");
    assert!(subtitles.contains("₹250") && subtitles.contains('।'), "{subtitles}");
}

#[tokio::test]
async fn a_form_of_another_name_and_digits_without_figures_are_refused() {
    let stack = Stack::start().await;
    let file = recording(RECORDING).bytes;
    for (fields, refused) in [
        ([("format", "text"), ("lang", "pa")], ("format", "not_a_choice")),
        ([("format", "written"), ("digits", "roman")], ("digits", "not_a_choice")),
        ([("format", "spoken"), ("digits", "gurmukhi")], ("digits", "unsupported")),
        ([("lang", "pa"), ("digits", "gurmukhi")], ("digits", "unsupported")),
    ] {
        let form = fields.iter().fold(Form::upload(&file), |form, (name, value)| form.text(name, value));
        let problem = stack.refused(stack.post(OPERATION, &form), 422).await;
        assert_eq!(problem.errors(), violations([refused]), "{}", problem.json);
    }
}

#[tokio::test]
async fn the_form_is_a_part_of_the_request_that_an_idempotency_key_stands_for() {
    let stack = Stack::start().await;
    let plain = form(&recording(RECORDING));
    let request = |form: &Form| stack.post(OPERATION, form).header("idempotency-key", "a-key");
    let first = send(request(&plain)).await;
    let spoken = send(request(&plain.clone().text("format", "spoken"))).await;
    assert_eq!(spoken.header("akhar-job"), first.header("akhar-job"));
    let refused = stack.refused(request(&plain.text("format", "written")), 422).await;
    assert_eq!(refused.errors(), violations([("Idempotency-Key", "reused")]));
}
