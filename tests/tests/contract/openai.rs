//! The routes that follow OpenAI's audio API, with its official Python client and by hand.

use akhar_tests::{
    Form, Stack,
    http::send,
    root,
    scripts::{self, python},
    speech::{error_percent, recording, silence, wav},
};
use serde_json::{Value, json};
use uuid::Uuid;

/// The highest allowed character error rate, percent. See the same constant of the tests of speech recognition.
const MAX_ERROR_PERCENT: usize = 20;

const TRANSCRIPTIONS: &str = "/v1/audio/transcriptions";
const TRANSLATIONS: &str = "/v1/audio/translations";

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(root().join("tests/fixtures/audio").join(name)).expect("a fixture")
}

fn request(stack: &Stack, path: &str, form: &Form) -> reqwest::RequestBuilder {
    form.send_with(stack.request("POST", path))
}

/// The text of the answer in the format `json`.
async fn text(stack: &Stack, form: &Form) -> String {
    let answer = send(request(stack, TRANSCRIPTIONS, form)).await;
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["text"].as_str().expect("a text").to_owned()
}

fn said(name: &str, transcribed: &str) {
    let expected = recording(name).text();
    let errors = error_percent(&expected, transcribed);
    assert!(errors <= MAX_ERROR_PERCENT, "{name}: {errors} %: {transcribed}");
}

/// The result of `tests/openai_client.py`.
async fn official_client(stack: &Stack) -> Value {
    let audio = root().join("tests/fixtures/audio");
    let mut client = python("openai_client.py");
    client.args([audio.join("en-weather.wav"), audio.join("pa-two-sentences.wav")]);
    client.env("OPENAI_BASE_URL", format!("{}/v1", stack.base)).env("OPENAI_API_KEY", &stack.key);
    scripts::json(client).await
}

fn times(list: &Value, [start, end, text]: [usize; 3]) -> Vec<(f64, f64, String)> {
    let of = |row: &Value| {
        let seconds = |n: usize| row[n].as_f64().expect("seconds");
        (seconds(start), seconds(end), row[text].as_str().expect("a text").to_owned())
    };
    list.as_array().expect("a list").iter().map(of).collect()
}

#[tokio::test]
async fn the_official_client_works_unmodified() {
    let stack = Stack::start().await;
    let result = official_client(&stack).await;
    assert_eq!(
        result["models"],
        json!([
            "speech-pa",
            "speech-en",
            "whisper-1",
            "gpt-4o-transcribe",
            "gpt-4o-mini-transcribe",
            "gpt-transcribe",
            "gpt-4o-transcribe-diarize",
            "gpt-live-transcribe",
            "gpt-realtime-whisper",
            "gpt-realtime-translate"
        ])
    );
    let plain = result["plain"]["text"].as_str().expect("a text");
    said("en-weather.wav", plain);
    assert_eq!(result["plain"]["seconds"], result["verbose"]["duration"]);

    let verbose = &result["verbose"];
    assert_eq!((&verbose["text"], &verbose["language"]), (&json!(plain), &json!("english")));
    let segments = times(&verbose["segments"], [1, 2, 3]);
    let words = times(&verbose["words"], [0, 1, 2]);
    let join = |list: &[(f64, f64, String)]| {
        list.iter().map(|(_, _, text)| text.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((join(&segments), join(&words)), (plain.to_owned(), plain.to_owned()));
    let ends: Vec<f64> = words.iter().flat_map(|(start, end, _)| [*start, *end]).collect();
    assert!(ends.is_sorted(), "{words:?}");
    assert_eq!((ends.first(), ends.last()), (Some(&segments[0].0), segments.last().map(|s| &s.1)));

    let subtitles = |name: &str| result["subtitles"][name].as_str().expect("a text").to_owned();
    said("pa-two-sentences.wav", subtitles("text").trim_end());
    assert!(subtitles("srt").starts_with("1\n00:00:00,"), "{}", subtitles("srt"));
    assert!(subtitles("vtt").starts_with("WEBVTT\n\n00:00:00."), "{}", subtitles("vtt"));
    let text = subtitles("text").trim_end().to_owned();
    let deltas: Vec<&str> =
        result["deltas"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!((deltas.len(), deltas.concat()), (2, text.clone()), "one for each sentence");
    assert_eq!(result["done"], json!({"type": "transcript.text.done", "text": text, "seconds": 5.653_687}));
    let translation = result["translation"].as_str().expect("a text");
    assert!(translation.contains(|c: char| c.is_ascii_alphabetic()), "{translation}");

    let error = |class: &str, status: u16, param: &str, code: &str| json!({"class": class, "status": status, "param": param, "code": code, "type": "invalid_request_error"});
    let bad = |param, code| error("BadRequestError", 400, param, code);
    assert_eq!(
        result["errors"],
        json!([
            bad("model", "not_a_choice"),
            bad("language", "not_a_choice"),
            bad("language", "not_a_choice"),
            bad("temperature", "out_of_range"),
            bad("response_format", "not_a_choice"),
            bad("known_speaker_names[]", "unsupported"),
            bad("file", "unsupported_media_type"),
            {"class": "NotFoundError", "status": 404, "code": "not-found"},
            {"class": "AuthenticationError", "status": 401, "code": "unauthorized"},
        ])
    );
}

#[tokio::test]
async fn every_documented_format_is_transcribed() {
    let stack = Stack::start().await;
    for name in [
        "pa-water.mp3",
        "pa-school.wav",
        "pa-school.flac",
        "pa-school.ogg",
        "pa-school.m4a",
        "pa-school.webm",
        "pa-school.aac",
    ] {
        let text = text(&stack, &Form::upload_and(&fixture(name), "model", "speech-pa")).await;
        said(if name == "pa-water.mp3" { name } else { "pa-school.wav" }, &text);
    }
    // The interface specification allows no other formats on its own path.
    stack.refused(stack.post("speech-recognition", &Form::upload(&fixture("pa-school.flac"))), 415).await;
    let form = Form::upload_and(&fixture("mono-16k-mp3.mp4"), "model", "speech-en");
    let problem = stack.refused(request(&stack, TRANSCRIPTIONS, &form), 400).await;
    assert_eq!(problem.json["error"]["code"], "unsupported_codec", "{}", problem.json);
}

#[tokio::test]
async fn the_fields_of_the_specified_path_work_here_too() {
    let stack = Stack::start().await;
    let ask = async |fields: &[(&str, &str)]| {
        let form = Form::upload_and(&fixture("pa-school.m4a"), "model", "speech-pa");
        let form = fields.iter().fold(form, |form, (name, value)| form.text(name, value));
        send(request(&stack, TRANSCRIPTIONS, &form)).await
    };
    let translated = ("with-translation", "true");
    let json = ask(&[translated, ("script", "latin"), ("format", "spoken")]).await.json();
    let text = json["text"].as_str().expect("a text");
    assert!(text.starts_with("mērā") && !text.ends_with('.'), "{text}");
    let translation = json["translation"].as_str().expect("a translation").to_owned();
    assert!(translation.contains("brother"), "{translation}");
    let verbose = ask(&[translated, ("response_format", "verbose_json"), ("channels", "mixed")]).await.json();
    assert_eq!(verbose["translation"], translation);
    assert_eq!(verbose["segments"][0]["translation"], translation);
    assert_eq!((&verbose["task"], &verbose["language"]), (&json!("transcribe"), &json!("punjabi")));
    let done = |body: &[u8]| {
        let text = String::from_utf8(body.to_vec()).expect("UTF-8");
        serde_json::from_str::<Value>(text.trim_end().rsplit("data: ").next().expect("an event"))
            .expect("JSON")
    };
    assert_eq!(done(&ask(&[translated, ("stream", "true")]).await.body)["translation"], translation);
    let plain = ask(&[translated, ("response_format", "text")]).await.body;
    assert!(String::from_utf8_lossy(&plain).ends_with(&format!("\n\n{translation}\n")));
    let size = [("response_format", "srt"), ("max-line-length", "12"), ("max-lines", "4")];
    let srt = ask(&size).await.body;
    let srt = String::from_utf8_lossy(&srt);
    assert!(
        srt.contains("-->") && srt.lines().all(|line| !(line.contains("ਮੇਰਾ") && line.contains("ਹੈ"))),
        "{srt}"
    );
    let unused = ask(&[("with-timestamps", "true"), ("keyterms", "ਸਕੂਲ")]).await;
    assert_eq!(unused.header("akhar-warnings"), "\"with-timestamps has no effect\"");
    let problem = ask(&[("format", "spoken"), ("digits", "gurmukhi")]).await;
    assert_eq!(problem.json()["error"]["param"], "digits");
}

#[tokio::test]
async fn a_recording_may_be_larger_than_on_the_specified_path_up_to_a_limit() {
    let stack = Stack::start().await;
    let mut samples = silence(92);
    let speech = recording("pa-school.wav").samples();
    samples[16_000 * 80..][..speech.len()].copy_from_slice(&speech);
    let file = wav(&samples);
    assert!(file.len() > 2 * 1024 * 1024);
    said("pa-school.wav", &text(&stack, &Form::upload_and(&file, "model", "whisper-1")).await);

    let file = wav(&silence(820));
    assert!(file.len() > 25 * 1024 * 1024);
    let form = Form::upload_and(&file, "model", "whisper-1");
    let problem = stack.refused(request(&stack, TRANSCRIPTIONS, &form), 413).await;
    assert_eq!(problem.json["error"]["param"], "file", "{}", problem.json);
}

#[tokio::test]
async fn every_unusable_option_is_refused_by_name() {
    let stack = Stack::with().workers(0).start().await;
    let form = Form::upload(&fixture("pa-school.wav"))
        .text("temperature", "1.5")
        .text("stream", "true")
        .text("response_format", "text")
        .text("include[]", "speakers")
        .text("chunking_strategy", "server")
        .text("known_speaker_references[]", "data:audio/wav;base64,UklGRg==")
        .text("timestamp_granularities[]", "word")
        .text("timestamp_granularities[]", "letter")
        .text("seed", "1");
    let problem = stack.refused(request(&stack, TRANSCRIPTIONS, &form), 400).await;
    let expected = [
        ("chunking_strategy", "not_a_choice"),
        ("include[]", "not_a_choice"),
        ("known_speaker_references[]", "unsupported"),
        ("model", "missing"),
        ("seed", "unknown"),
        ("stream", "unsupported"),
        ("temperature", "out_of_range"),
        ("timestamp_granularities[]", "not_a_choice"),
    ];
    assert_eq!(problem.errors(), expected.map(|(field, code)| (field.to_owned(), code.to_owned())).into());
    let form = Form::upload_and(&fixture("pa-school.wav"), "model", "speech-en").text("language", "en");
    let problem = stack.refused(request(&stack, TRANSLATIONS, &form), 400).await;
    let expected = [("language", "unknown"), ("model", "not_a_choice")];
    assert_eq!(problem.errors(), expected.map(|(field, code)| (field.to_owned(), code.to_owned())).into());
}

#[tokio::test]
async fn a_request_as_the_sdk_of_vercel_sends_it_is_answered() {
    let stack = Stack::start().await;
    for model in ["gpt-4o-mini-transcribe-2025-12-15", "whisper-large-v9"] {
        let form = Form::upload_and(&fixture("pa-school.wav"), "model", model)
            .text("timestamp_granularities[]", "segment")
            .text("language", "pa");
        let answer = send(request(&stack, TRANSCRIPTIONS, &form)).await;
        assert_eq!(answer.status, 200, "{:?}", answer.json());
        said("pa-school.wav", answer.json()["text"].as_str().expect("a text"));
        assert_eq!(answer.json()["languages"], json!([{"code": "pa"}]));
        assert_eq!(answer.header("akhar-warnings"), "\"timestamp_granularities[] has no effect\"");
    }
    let form = Form::upload(&fixture("pa-school.wav")).text("model", "gpt-");
    let problem = stack.refused(request(&stack, TRANSCRIPTIONS, &form), 400).await;
    assert_eq!(problem.errors(), [("model".to_owned(), "not_a_choice".to_owned())].into());
}

#[tokio::test]
async fn the_translation_of_english_is_its_text() {
    let stack = Stack::start().await;
    let form = |model| {
        Form::upload_and(&fixture("en-weather.wav"), "model", model).text("response_format", "verbose_json")
    };
    let expected = send(request(&stack, TRANSCRIPTIONS, &form("whisper-1"))).await.json();
    for model in ["whisper-1", "speech-pa"] {
        let answer = send(request(&stack, TRANSLATIONS, &form(model))).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        let found = answer.json();
        assert_eq!((&found["task"], &found["language"]), (&json!("translate"), &json!("english")));
        assert_eq!(
            (&found["text"], &found["segments"]),
            (&expected["text"], &expected["segments"]),
            "{model}"
        );
    }
}

#[tokio::test]
async fn a_language_can_be_a_tag_or_a_name_and_those_that_are_possible_are_a_list() {
    let stack = Stack::start().await;
    let language_of = async |file: &str, fields: &[(&str, &str)]| {
        let form = Form::upload_and(&fixture(file), "model", "gpt-transcribe")
            .text("response_format", "verbose_json");
        let form = fields.iter().fold(form, |form, (name, value)| form.text(name, value));
        let answer = send(request(&stack, TRANSCRIPTIONS, &form)).await;
        assert_eq!(answer.status, 200, "{fields:?}: {}", String::from_utf8_lossy(&answer.body));
        (answer.json()["language"].clone(), answer.header("akhar-warnings").contains("only en has an effect"))
    };
    let language = async |fields: &[(&str, &str)]| language_of("en-weather.wav", fields).await;
    let possible = |name| ("languages[]", name);
    for (fields, expected) in [
        (&[("language", "en-GB")][..], ("english", false)),
        (&[("language", "PANJABI")], ("punjabi", false)),
        (&[possible("en")], ("english", false)),
        (&[possible("pa-IN"), possible("en-IN")], ("english", false)),
        (&[possible("en"), possible("en-IN")], ("english", false)),
        (&[("language", "en"), possible("en"), possible("pa")], ("english", true)),
        (&[], ("english", false)),
    ] {
        assert_eq!(language(fields).await, (json!(expected.0), expected.1), "{fields:?}");
    }
    for fields in [&[][..], &[possible("en"), possible("pa")]] {
        assert_eq!(language_of("pa-school.wav", fields).await, (json!("punjabi"), false), "{fields:?}");
    }
    for (model, field, value) in [
        ("whisper-1", "language", "fr-FR"),
        ("whisper-1", "languages[]", "hi"),
        ("speech-pa", "languages[]", "en"),
    ] {
        let form = Form::upload_and(&fixture("en-weather.wav"), "model", model).text(field, value);
        let problem = stack.refused(request(&stack, TRANSCRIPTIONS, &form), 400).await;
        assert_eq!(problem.errors(), [(field.to_owned(), "not_a_choice".to_owned())].into());
    }
}

#[tokio::test]
async fn a_stream_says_which_options_have_no_effect() {
    let stack = Stack::start().await;
    let form = Form::upload_and(&fixture("pa-school.wav"), "model", "whisper-1")
        .text("stream", "true")
        .text("chunking_strategy", r#"{"type":"server_vad"}"#);
    let answer = send(request(&stack, TRANSCRIPTIONS, &form)).await;
    assert_eq!(answer.header("akhar-warnings"), "\"chunking_strategy has no effect\"");
    let text = String::from_utf8(answer.body.to_vec()).expect("UTF-8");
    assert!(text.contains("\"warnings\":[\"chunking_strategy has no effect\"]"), "{text}");
}

#[tokio::test]
async fn an_asynchronous_transcription_is_a_job_like_any_other() {
    let stack = Stack::start().await;
    let form = Form::upload_and(&fixture("pa-school.wav"), "model", "speech-pa");
    let id = send(request(&stack, TRANSCRIPTIONS, &form).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=60")).await.json();
    assert_eq!(job["state"], "succeeded", "{job}");
    said("pa-school.wav", job["result"]["transcription"].as_str().expect("a text"));
}

#[tokio::test]
async fn a_stream_ends_with_the_error_of_its_job() {
    let stack = Stack::start().await;
    let form = Form::upload_and(&fixture("mono-16k-mp3.mp4"), "model", "speech-pa").text("stream", "true");
    let answer = send(request(&stack, TRANSCRIPTIONS, &form)).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/event-stream; charset=utf-8"));
    let text = String::from_utf8(answer.body.to_vec()).expect("UTF-8");
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let [only] = data[..] else { panic!("one event: {text}") };
    let error: Value = serde_json::from_str(only).expect("JSON");
    assert_eq!(
        (&error["error"]["param"], &error["error"]["code"]),
        (&json!("file"), &json!("unsupported_codec"))
    );
}

#[tokio::test]
async fn the_text_of_a_long_recording_is_streamed_while_it_is_recognised() {
    let stack = Stack::start().await;
    // Far longer than the test, which cancels the job.
    let file = recording("pa-water.mp3").bytes.repeat(1000);
    let form = Form::upload_and(&file, "model", "speech-pa").text("stream", "true");
    let mut answer = request(&stack, TRANSCRIPTIONS, &form).send().await.expect("an answer");
    let id: Uuid = answer.headers()["akhar-job"].to_str().expect("an id").parse().expect("an id");
    let mut text = String::new();
    while !text.contains("transcript.text.delta") {
        let chunk = answer.chunk().await.expect("a stream").expect("an event");
        text.push_str(std::str::from_utf8(&chunk).expect("whole events"));
    }
    let cancelled = send(stack.request("DELETE", &format!("/v1/jobs/{id}"))).await;
    assert_eq!(cancelled.json()["state"], "cancelled", "it was running: {:?}", cancelled.json());
    while let Some(chunk) = answer.chunk().await.expect("a stream") {
        text.push_str(std::str::from_utf8(&chunk).expect("whole events"));
    }
    let last = text.lines().rfind(|line| line.starts_with("data: ")).expect("an event");
    assert!(last.contains("\"code\":\"job-cancelled\""), "{text}");
}
