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
        let tables = manifest.split("\n[").filter(|table| !table.starts_with("confidence]"));
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

/// By the bundled models' own settings. What is empty needs no warning.
#[tokio::test]
async fn speech_in_another_language_is_doubted() {
    let stack = Stack::start().await;
    let mut n_doubted = 0;
    for (name, lang) in [
        ("pa-sister.wav", "en"),
        ("pa-school.wav", "en"),
        ("pa-two-sentences.wav", "en"),
        ("en-weather.wav", "pa"),
        ("en-book.mp3", "pa"),
    ] {
        let job = job(&stack, &recording(name).bytes, lang).await;
        let is_empty = job["result"]["transcription"] == "";
        assert_eq!(is_empty, job.get("warnings").is_none(), "{name}: {job}");
        n_doubted += usize::from(!is_empty);
    }
    // Whether Moonshine writes words for Panjabi depends on the processor, whose integers it computes with.
    assert!(n_doubted > 1, "the Panjabi model writes words for both English recordings");
    for name in ["en-weather.wav", "en-book.mp3"] {
        let job = job(&stack, &recording(name).bytes, "en").await;
        assert_ne!(job["result"]["transcription"], "", "{name}");
        assert_eq!(job.get("warnings"), None, "{name}: {job}");
    }
}
