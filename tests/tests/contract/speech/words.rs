//! The words of segments, and how likely the text, its segments and its words are right.

use akhar_tests::{
    Form, Stack,
    bulk::Folders,
    http::send,
    process::run,
    speech::{noise, recording, wav},
};
use serde_json::{Value, json};

use super::OPERATION;

/// The 200 answer to a recording with these fields set to true.
async fn answer(stack: &Stack, file: &str, lang: &str, fields: &[&str]) -> Value {
    let form = Form::upload_and(&recording(file).bytes, "lang", lang);
    let form = fields.iter().fold(form, |form, field| form.text(field, "true"));
    let answer = send(stack.post(OPERATION, &form)).await;
    assert_eq!(answer.status, 200, "{fields:?}: {}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

fn members(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn probability(value: &Value) -> f64 {
    let probability = value["confidence"].as_f64().unwrap_or_else(|| panic!("no confidence: {value}"));
    assert!((0.0..=1.0).contains(&probability), "{value}");
    probability
}

#[tokio::test]
async fn segments_have_words_and_confidence_on_request() {
    let stack = Stack::start().await;
    for (file, lang) in [("pa-two-sentences.wav", "pa"), ("en-weather.wav", "en")] {
        let all = answer(&stack, file, lang, &["with-timestamps", "with-words", "with-confidence"]).await;
        assert_eq!(members(&all), ["confidence", "timestamps", "transcription"], "{all}");
        probability(&all);
        for segment in all["timestamps"].as_array().expect("segments") {
            assert_eq!(
                members(segment),
                ["confidence", "end", "start", "transcription", "words"],
                "{segment}"
            );
            probability(segment);
            let words = segment["words"].as_array().expect("words");
            let texts: Vec<&str> = words.iter().map(|word| word["word"].as_str().expect("a word")).collect();
            assert_eq!(texts.join(" "), segment["transcription"], "{segment}");
            let times = words.iter().flat_map(|word| ["start", "end"].map(|name| word[name].as_f64()));
            let times: Vec<f64> = times.map(|seconds| seconds.expect("seconds")).collect();
            assert!(times.is_sorted(), "{segment}");
            assert_eq!(times.first(), segment["start"].as_f64().as_ref(), "{segment}");
            assert_eq!(times.last(), segment["end"].as_f64().as_ref(), "{segment}");
            for word in words {
                assert_eq!(members(word), ["confidence", "end", "start", "word"], "{word}");
                probability(word);
            }
        }
        let words = answer(&stack, file, lang, &["with-timestamps", "with-words"]).await;
        assert_eq!(members(&words), ["timestamps", "transcription"]);
        assert_eq!(members(&words["timestamps"][0]), ["end", "start", "transcription", "words"]);
        assert_eq!(members(&words["timestamps"][0]["words"][0]), ["end", "start", "word"]);
        let alone = answer(&stack, file, lang, &["with-confidence"]).await;
        assert_eq!(alone, json!({"transcription": all["transcription"], "confidence": all["confidence"]}));
    }
    let form = Form::upload(&recording("pa-school.wav").bytes).text("with-words", "true");
    let refused = stack.refused(stack.post(OPERATION, &form), 422).await;
    assert_eq!(refused.errors(), [("with-words".to_owned(), "unsupported".to_owned())].into());
    let silent = Form::upload(&wav(&noise(1))).text("with-timestamps", "true").text("with-words", "true");
    let silent = send(stack.post(OPERATION, &silent.text("with-confidence", "true"))).await.json();
    assert_eq!(silent, json!({"transcription": "", "timestamps": []}));
}

/// English that is sent as Panjabi becomes words that are wrong. Their mean confidence is 0.4 to 0.5, and that of the right words
/// 0.9.
#[tokio::test]
async fn wrong_words_are_less_likely_than_right_ones() {
    let stack = Stack::start().await;
    let mean = async |file: &str, lang: &str| {
        let fields = ["with-timestamps", "with-words", "with-confidence"];
        let answer = answer(&stack, file, lang, &fields).await;
        let words = answer["timestamps"].as_array().expect("segments").iter();
        let words = words.flat_map(|segment| segment["words"].as_array().expect("words"));
        let all: Vec<f64> = words.map(probability).collect();
        all.iter().sum::<f64>() / f64::from(u32::try_from(all.len()).expect("few"))
    };
    let (right, wrong) = (mean("pa-two-sentences.wav", "pa").await, mean("en-weather.wav", "pa").await);
    assert!(wrong + 0.3 < right, "{right} {wrong}");
}

#[tokio::test]
async fn openais_formats_have_the_confidence_of_segments_and_words() {
    let stack = Stack::start().await;
    let file = recording("pa-school.wav").bytes;
    let transcribe = async |fields: &[(&str, &str)]| {
        let form = Form::upload_and(&file, "model", "whisper-1");
        let form = fields.iter().fold(form, |form, (name, value)| form.text(name, value));
        send(form.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await
    };
    let both = [("timestamp_granularities[]", "word"), ("timestamp_granularities[]", "segment")];
    let verbose = transcribe(&[&[("response_format", "verbose_json")], &both[..]].concat()).await.json();
    let log = verbose["segments"][0]["avg_logprob"].as_f64().expect("a number");
    assert!((log.exp() - probability(&verbose["segments"][0])).abs() < 1e-3, "{verbose}");
    let words: Vec<f64> = verbose["words"].as_array().expect("words").iter().map(probability).collect();

    let checked = |logprobs: &Value, text: &Value| {
        let tokens = logprobs.as_array().unwrap_or_else(|| panic!("no tokens: {logprobs}"));
        let texts: Vec<&str> = tokens.iter().map(|token| token["token"].as_str().expect("a token")).collect();
        assert_eq!(texts.concat(), *text);
        for (token, text) in tokens.iter().zip(&texts) {
            assert_eq!(token["bytes"], json!(text.as_bytes()));
        }
        let found = tokens.iter().map(|token| token["logprob"].as_f64().expect("a number").exp());
        assert!(found.zip(&words).all(|(found, word)| (found - word).abs() < 1e-3), "{logprobs} {words:?}");
        assert_eq!(tokens.len(), words.len());
    };
    let json = transcribe(&[("include[]", "logprobs")]).await.json();
    checked(&json["logprobs"], &json["text"]);
    let stream = transcribe(&[("include[]", "logprobs"), ("stream", "true")]).await;
    let text = String::from_utf8(stream.body.to_vec()).expect("UTF-8");
    let last = text.lines().rfind(|line| line.starts_with("data: ")).expect("an event");
    let done: Value = serde_json::from_str(&last["data: ".len()..]).expect("JSON");
    checked(&done["logprobs"], &done["text"]);
    assert_eq!(transcribe(&[]).await.json().get("logprobs"), None);
    let text = transcribe(&[("include[]", "logprobs"), ("response_format", "text")]).await;
    assert_eq!(text.header("akhar-warnings"), "\"include[] has no effect\"");
}

#[tokio::test]
async fn akhar_transcribe_writes_words_and_confidence_on_request() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "words");
    folders.add("school.wav", &recording("pa-school.wav").bytes);
    let (code, out, log) = run(folders.command(&stack, &["--words"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let document = folders.json("school.json");
    probability(&document);
    let segment = &document["timestamps"][0];
    probability(segment);
    let words = segment["words"].as_array().expect("words");
    assert!(words.len() > 3 && words.iter().all(|word| word["confidence"].is_number()), "{document}");
}
