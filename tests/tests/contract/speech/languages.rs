//! `lang=auto`: the language of a recording is detected.

use akhar_tests::{
    Form, Stack,
    bulk::Folders,
    http::send,
    process::run,
    speech::{noise, recording, recordings, silence, wav},
};
use serde_json::{Value, json};

use super::OPERATION;
use crate::violations;

/// The document of a recording whose language is detected, without the language, and the language.
async fn detected(stack: &Stack, form: &Form) -> (Value, String) {
    let answer = send(stack.post(OPERATION, &form.clone().text("lang", "auto"))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let mut body = answer.json();
    let language = body.as_object_mut().expect("an object").remove("language").expect("a language");
    (body, language.as_str().expect("a code").to_owned())
}

/// The document of a recording whose language is named.
async fn named(stack: &Stack, form: &Form, lang: &str) -> Value {
    let answer = send(stack.post(OPERATION, &form.clone().text("lang", lang))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// A wav file with two channels at 16 kHz.
fn stereo(left: &[i16], right: &[i16]) -> Vec<u8> {
    let n = left.len().max(right.len());
    let at = |samples: &[i16], nth| samples.get(nth).copied().unwrap_or(0);
    let samples: Vec<i16> = (0..n).flat_map(|nth| [at(left, nth), at(right, nth)]).collect();
    let mut file = wav(&samples);
    file[22..24].copy_from_slice(&2_u16.to_le_bytes());
    file[28..32].copy_from_slice(&64_000_u32.to_le_bytes());
    file[32..34].copy_from_slice(&4_u16.to_le_bytes());
    file
}

#[tokio::test]
async fn a_recording_is_transcribed_and_translated_as_if_its_language_were_named() {
    let stack = Stack::start().await;
    for recording in recordings() {
        let form = Form::upload(&recording.bytes)
            .text("with-timestamps", "true")
            .text("with-words", "true")
            .text("with-translation", "true")
            .text("format", "written");
        let (body, language) = detected(&stack, &form).await;
        assert_eq!(language, recording.lang, "{}: {body}", recording.name);
        assert_eq!(body, named(&stack, &form, recording.lang).await, "{}", recording.name);
    }
}

#[tokio::test]
async fn a_recording_in_another_language_than_the_request_names_has_a_warning_that_names_it() {
    let stack = Stack::start().await;
    for (name, asked, warning) in [
        ("en-weather.wav", "pa", "English was probably heard, and Panjabi was asked for"),
        ("pa-sister.wav", "en", "Panjabi was probably heard, and English was asked for"),
    ] {
        let file = recording(name).bytes;
        let answer = send(stack.post(OPERATION, &Form::upload_and(&file, "lang", asked))).await;
        assert!(
            answer.header("akhar-warnings").contains(warning),
            "{name}: {}",
            answer.header("akhar-warnings")
        );
        let form = Form::upload(&file)
            .text("model", "whisper-1")
            .text("language", asked)
            .text("response_format", "verbose_json");
        let answer = send(form.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await.json();
        assert!(answer["warnings"].to_string().contains(warning), "{name}: {answer}");
    }
    for (asked, sound) in [("pa", silence(3)), ("en", silence(3)), ("en", noise(3)), ("pa", noise(3))] {
        let answer = send(stack.post(OPERATION, &Form::upload_and(&wav(&sound), "lang", asked))).await;
        assert_eq!(answer.header("akhar-warnings"), "", "nothing is said");
    }
}

#[tokio::test]
async fn a_recording_of_several_windows_has_the_language_of_its_beginning() {
    let stack = Stack::start().await;
    // The English window has less than two seconds, so the next one is read too.
    let said = |name: &str| [recording(name).samples(), silence(9)].concat();
    let [english, panjabi] = ["en-weather.wav", "pa-sister.wav"].map(said);
    for (first, others, expected) in [(&english, &panjabi, "en"), (&panjabi, &english, "pa")] {
        let samples = [first.repeat(2), others.repeat(2)].concat();
        let form = Form::upload(&wav(&samples)).text("with-timestamps", "true");
        let (body, language) = detected(&stack, &form).await;
        assert_eq!(language, expected);
        assert_eq!(body, named(&stack, &form, expected).await);
    }
}

#[tokio::test]
async fn channels_have_one_language() {
    let stack = Stack::start().await;
    let english = recording("en-weather.wav").samples();
    let pause = vec![0; english.len()];
    let form = Form::upload(&stereo(&[pause, english.clone()].concat(), &english))
        .text("channels", "split")
        .text("with-timestamps", "true");
    let (body, language) = detected(&stack, &form).await;
    assert_eq!(language, "en");
    assert_eq!(body, named(&stack, &form, "en").await);
}

#[tokio::test]
async fn terms_of_the_language_that_is_found_have_an_effect_and_the_others_a_warning() {
    let stack = Stack::start().await;
    let form = Form::upload_and(&recording("pa-school.wav").bytes, "lang", "auto");
    let answer =
        send(stack.post(OPERATION, &form.text("keyterms", "ਵਿੱਚ").text("keyterms", "Gurkirat"))).await;
    let expected = json!({"transcription": "ਮੇਰਾ ਭਰਾ ਸਕੂਲ ਵਿੱਚ ਪੜ੍ਹਦਾ ਹੈ", "language": "pa"});
    assert_eq!(answer.json(), expected);
    assert!(answer.header("akhar-warnings").contains("Gurkirat"), "{}", answer.header("akhar-warnings"));
}

#[tokio::test]
async fn without_speech_the_language_is_the_default_and_a_broken_file_is_refused() {
    let stack = Stack::start().await;
    let answer = send(stack.post(OPERATION, &Form::upload_and(&wav(&silence(3)), "lang", "auto"))).await;
    assert_eq!(answer.json(), json!({"transcription": "", "language": "pa"}));
    assert_eq!(answer.header("akhar-warnings"), "");
    let broken = Form::upload_and(&wav(&[])[..44], "lang", "auto");
    let refused = stack.refused(stack.post(OPERATION, &broken), 422).await;
    assert_eq!(refused.errors(), violations([("file", "empty_audio")]));
    let other = Form::upload_and(&recording("pa-school.wav").bytes, "lang", "Auto");
    let refused = stack.refused(stack.post(OPERATION, &other), 422).await;
    assert_eq!(refused.errors(), violations([("lang", "not_a_choice")]));
}

#[tokio::test]
async fn akhar_transcribe_detects_the_language_of_each_recording_and_of_the_first_piece_that_has_speech() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "languages");
    let english = recording("en-weather.wav");
    let late = [silence(60), [english.samples(), silence(8)].concat().repeat(8)].concat();
    folders.add("english.wav", &english.bytes);
    folders.add("long.wav", &wav(&late));
    folders.add("panjabi.wav", &recording("pa-school.wav").bytes);
    let (code, out, log) = run(folders.command(&stack, &["--lang", "auto"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    for (name, lang) in [("english", "en"), ("long", "en"), ("panjabi", "pa")] {
        let document = folders.json(&format!("{name}.json"));
        assert_eq!((&document["lang"], &document["language"]), (&json!(lang), &Value::Null), "{name}");
    }
    let text = folders.json("long.json")["transcription"].as_str().expect("a text").to_owned();
    assert!(text.is_ascii() && text.split(' ').count() >= 30, "{text}");

    let arguments = ["--lang", "auto", "--translate", "--format", "json,srt", "--resume"];
    let (code, _, log) = run(folders.command(&stack, &arguments)).await;
    assert_eq!(code, Some(1), "{log}");
    assert!(log.contains("--lang auto does not tell the names of the files with translations"), "{log}");
}
