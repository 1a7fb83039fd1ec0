//! Warnings about text that is probably wrong.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use akhar_tests::{
    Form, Stack,
    http::send,
    root,
    speech::{noise, recording, wav},
};
use serde_json::Value;

use super::OPERATION;

/// The bundled models; the Panjabi one has a `[confidence]` table by which every text that is less likely than `low`
/// is probably wrong.
fn models(name: &str, low: f64) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("akhar-warnings-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    for file in fs::read_dir(root().join("models")).expect("models") {
        let file = file.expect("a file");
        if file.file_name() != "speech-pa.toml" {
            symlink(file.path(), folder.join(file.file_name())).expect("a link");
        }
    }
    let manifest = fs::read_to_string(root().join("models/speech-pa.toml")).expect("a manifest");
    let tables = manifest.split("\n[").filter(|table| !table.starts_with("confidence]"));
    let (tables, confidence) = (
        tables.collect::<Vec<_>>().join("\n["),
        format!(
            "\n[confidence]\nintercept = 0\nacoustic = 1\nlanguage = 1\nlow = {low:?}\nlm_weight = 0.1\n"
        ),
    );
    fs::write(folder.join("speech-pa.toml"), tables + &confidence).expect("a manifest");
    folder
}

/// The document of a job that transcribed a recording.
async fn job(stack: &Stack, file: &[u8], lang: &str) -> Value {
    let form = Form::upload_and(file, "lang", lang);
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
    let [warning] = &warnings[..] else { panic!("expected one warning: {doubted}") };
    assert!(
        warning.as_str().is_some_and(|w| w.starts_with("low confidence") && w.contains(" s to ")),
        "{warning}"
    );
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

/// By the bundled models' own settings. What is empty needs no warning.
#[tokio::test]
async fn speech_in_another_language_is_doubted() {
    let stack = Stack::start().await;
    let mut n_doubted = 0;
    for name in ["pa-sister.wav", "pa-school.wav", "pa-two-sentences.wav"] {
        let job = job(&stack, &recording(name).bytes, "en").await;
        let is_empty = job["result"]["transcription"] == "";
        assert_eq!(is_empty, job.get("warnings").is_none(), "{name}: {job}");
        n_doubted += usize::from(!is_empty);
    }
    assert!(n_doubted > 0, "Moonshine writes English words for at least one of them");
    for name in ["en-weather.wav", "en-book.mp3"] {
        let job = job(&stack, &recording(name).bytes, "en").await;
        assert_ne!(job["result"]["transcription"], "", "{name}");
        assert_eq!(job.get("warnings"), None, "{name}: {job}");
    }
}
