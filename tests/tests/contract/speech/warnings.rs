//! Warnings about text that is probably wrong.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use akhar_client::{Answer, SpeechRequest, TextKind, Warnings};
use akhar_tests::{
    Form, Stack,
    bulk::Folders,
    events::Events,
    http::send,
    process::run,
    root,
    speech::{noise, recording, wav},
};
use serde_json::{Value, json};

use super::OPERATION;

/// The manifests with a `[confidence]` table that is replaced, with the tables in its place.
const RATED: [(&str, &str); 2] = [
    ("speech-pa.toml", "intercept = 0\nacoustic = 1\nlanguage = 1\nlm_weight = 0.1"),
    ("translation-pa-en.toml", "intercept = 0\nlanguage = 1"),
];

/// The bundled models; by the Panjabi one's `[confidence]` table and by the translator's, every text that is less likely
/// than `low` is probably wrong.
fn models(name: &str, low: f64) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("akhar-warnings-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    for file in fs::read_dir(root().join("models")).expect("models") {
        let file = file.expect("a file");
        if RATED.iter().all(|(name, _)| file.file_name() != *name) {
            symlink(file.path(), folder.join(file.file_name())).expect("a link");
        }
    }
    for (name, table) in RATED {
        let manifest = fs::read_to_string(root().join("models").join(name)).expect("a manifest");
        let tables = manifest
            .split("\n[")
            .filter(|table| !["confidence]", "confidence.doubt]"].iter().any(|name| table.starts_with(name)));
        let tables = tables.collect::<Vec<_>>().join("\n[");
        let rated = format!("{tables}\n[confidence]\n{table}\nlow = {low:?}\n");
        fs::write(folder.join(name), rated).expect("a manifest");
    }
    folder
}

/// The document of a job that transcribed a recording, and translated it if `lang` is Panjabi.
async fn job(stack: &Stack, file: &[u8], lang: &str) -> Value {
    let is_translated = if lang == "pa" { "true" } else { "false" };
    let form = Form::upload_and(file, "lang", lang).text("with-translation", is_translated);
    let id = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!(job["state"], "succeeded", "{job}");
    job
}

#[tokio::test]
async fn a_text_that_is_probably_wrong_has_a_warning_in_the_job() {
    let folder = models("always", 1.0);
    let stack = Stack::with().models(&folder).start().await;
    let said = recording("pa-school.wav");
    let doubted = job(&stack, &said.bytes, "pa").await;
    let text = doubted["result"]["transcription"].as_str().expect("a text");
    assert!(!text.is_empty(), "{doubted}");
    let warnings = doubted["warnings"].as_array().unwrap_or_else(|| panic!("no warnings: {doubted}"));
    assert_eq!(warnings.len(), 2, "{doubted}");
    for (warning, text) in warnings.iter().zip(["transcription", "translation"]) {
        let begins = format!("low confidence: the {text} is probably wrong, from 0.");
        assert!(
            warning.as_str().is_some_and(|w| w.starts_with(&begins) && w.contains(" s to ")),
            "{warning}"
        );
    }
    let quiet = job(&stack, &wav(&noise(3)), "pa").await;
    assert_eq!(quiet["result"]["transcription"], "");
    assert_eq!(quiet.get("warnings"), None, "no text cannot be wrong: {quiet}");
    drop(stack);
    fs::remove_dir_all(folder).expect("the folder");
}

#[tokio::test]
async fn a_text_that_is_probably_right_has_no_warning() {
    let folder = models("never", 0.0);
    let stack = Stack::with().models(&folder).start().await;
    let right = job(&stack, &recording("pa-school.wav").bytes, "pa").await;
    assert_eq!(right.get("warnings"), None, "{right}");
    drop(stack);
    fs::remove_dir_all(folder).expect("the folder");
}

#[tokio::test]
async fn every_representation_has_the_warnings_in_a_header_and_the_same_body() {
    let folder = models("header", 1.0);
    let stack = Stack::with().models(&folder).start().await;
    let file = recording("pa-school.wav").bytes;
    let file = &file[..file.len() - 1001];
    let form = |translation: &str| {
        let form = Form::upload_and(file, "with-timestamps", "true").text("format", "spoken");
        form.text("with-translation", translation)
    };
    let answer = send(stack.post(OPERATION, &form("true"))).await;
    let header = answer.header("akhar-warnings").to_owned();
    let warnings = Warnings::read(&header);
    let part = |n: usize| (warnings.probably_wrong[n].text, warnings.probably_wrong[n].start);
    let [transcription, translation] = [part(0), part(1)];
    assert_eq!(
        (transcription.0, translation.0),
        (TextKind::Transcription, TextKind::Translation),
        "{header}"
    );
    assert!(header.starts_with("\"the file is cut off: it has "), "{header}");
    let members: Vec<String> = answer.json().as_object().expect("an object").keys().cloned().collect();
    assert_eq!(members, ["timestamps", "transcription", "translation"], "the body has no warnings");

    // Of the job: in its result in each representation, in its document, and in its last event.
    let job = answer.header("akhar-job");
    for accept in ["application/json", "text/plain", "application/x-subrip", "text/vtt"] {
        let direct = stack.post(OPERATION, &form("true")).header("accept", accept);
        let result = stack.request("GET", &format!("/v1/jobs/{job}/result")).header("accept", accept);
        let (direct, result) = (send(direct).await, send(result).await);
        let seen = [direct.header("akhar-warnings"), result.header("akhar-warnings")];
        assert_eq!(seen, [&header, &header], "{accept}");
        assert_eq!(direct.body, result.body, "{accept}");
    }
    let document = stack.get(&format!("/v1/jobs/{job}")).await.json();
    assert_eq!(document["warnings"], json!(warnings.sentences()));
    assert_eq!(document["probably_wrong"], json!(warnings.probably_wrong));
    let events = Events::open(stack.request("GET", &format!("/v1/jobs/{job}/events")), None).await;
    let done = events.rest().await.pop().expect("an event").data;
    assert_eq!(
        (&done["warnings"], &done["probably_wrong"]),
        (&document["warnings"], &document["probably_wrong"])
    );

    // The routes of OpenAI's API, whose translation of Panjabi is warned of too.
    for (route, format) in [
        ("transcriptions", "json"),
        ("transcriptions", "text"),
        ("translations", "srt"),
        ("translations", "vtt"),
    ] {
        let form = Form::upload_and(file, "model", "speech-pa").text("response_format", format);
        let answer = send(form.send_with(stack.request("POST", &format!("/v1/audio/{route}")))).await;
        let read = Warnings::read(answer.header("akhar-warnings"));
        // Where the language is detected, no text is likely enough here to be sure of it.
        assert!(read.general.starts_with(&warnings.general), "{route} {format}: {read:?}");
        assert!(
            read.probably_wrong.contains(&warnings.probably_wrong[usize::from(route == "translations")]),
            "{read:?}"
        );
    }
    let form = Form::upload_and(file, "model", "speech-pa").text("stream", "true");
    let stream = send(form.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await;
    let text = String::from_utf8(stream.body.to_vec()).expect("UTF-8");
    let last = text.lines().rfind(|line| line.starts_with("data: ")).expect("an event");
    assert!(last.contains("\"warnings\":[\"the file is cut off: "), "{text}");

    let request = SpeechRequest { with_translation: true, ..SpeechRequest::default() };
    match stack.client(&stack.key).speech_recognition(file.to_vec(), &request).await {
        Ok(Answer::Done(transcribed)) => assert_eq!(transcribed.warnings, warnings),
        other => panic!("not done: {other:?}"),
    }
    let whole = send(stack.post(OPERATION, &Form::upload(&wav(&noise(1))))).await;
    assert_eq!(whole.header("akhar-warnings"), "", "there is nothing to warn of");
    drop(stack);
    fs::remove_dir_all(folder).expect("the folder");
}

#[tokio::test]
async fn warnings_of_a_recording_in_pieces_count_from_its_start() {
    let folder = models("pieces", 1.0);
    let stack = Stack::with().models(&folder).start().await;
    let folders = Folders::new(stack.folder(), "pieces");
    folders.add("long.wav", &wav(&recording("pa-two-sentences.wav").samples().repeat(14)));
    folders.add("quiet.wav", &wav(&noise(1)));
    let (code, out, log) = run(folders.command(&stack, &["--timestamps"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert!(out.contains("2 of 2 recordings transcribed, 0 failed, 0 skipped, 2 with warnings: "), "{out}");
    let document = folders.json("long.json");
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(2), "{document}");
    let parts = document["probably_wrong"].as_array().expect("parts").clone();
    let segments = document["timestamps"].as_array().expect("segments");
    // In each piece everything is probably wrong, and that is one part.
    assert_eq!(parts.len(), 2, "{document}");
    assert_eq!(
        (&parts[0]["start"], &parts[1]["end"]),
        (&segments[0]["start"], &segments[segments.len() - 1]["end"])
    );
    let second = parts[1]["start"].as_f64().expect("seconds");
    assert!(segments.iter().any(|segment| segment["start"] == second) && second > 10.0, "{document}");
    let sentence = document["warnings"][0].as_str().expect("a sentence");
    assert!(sentence.contains(&format!(", from {second:.1} s to ")), "{sentence}");
    let warnings = folders.json("quiet.json")["warnings"].clone();
    assert!(
        warnings[0].as_str().is_some_and(|warning| warning.contains("no words were recognised")),
        "{warnings}"
    );
    drop(stack);
    fs::remove_dir_all(folder).expect("the folder");
}

/// By the bundled models' own settings. What is empty needs no warning.
#[tokio::test]
async fn speech_in_another_language_is_doubted() {
    let stack = Stack::start().await;
    for (name, lang, heard) in [
        ("pa-sister.wav", "en", "Panjabi"),
        ("pa-school.wav", "en", "Panjabi"),
        ("pa-two-sentences.wav", "en", "Panjabi"),
        ("en-weather.wav", "pa", "English"),
        ("en-book.mp3", "pa", "English"),
    ] {
        let job = job(&stack, &recording(name).bytes, lang).await;
        let named = format!("{heard} was probably heard");
        assert!(
            job["warnings"][0].as_str().is_some_and(|warning| warning.starts_with(&named)),
            "{name}: {job}"
        );
        // Whether Moonshine writes words for Panjabi depends on the processor, whose integers it computes with.
        let is_empty = job["result"]["transcription"] == "";
        assert_eq!(job.get("probably_wrong").is_none(), is_empty, "{name}: {job}");
    }
    for name in ["en-weather.wav", "en-book.mp3"] {
        let job = job(&stack, &recording(name).bytes, "en").await;
        assert_ne!(job["result"]["transcription"], "", "{name}");
        assert_eq!(job.get("warnings"), None, "{name}: {job}");
    }
}
