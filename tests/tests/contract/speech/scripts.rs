//! The script of Panjabi: `script`, `akhar transcribe --script` and `akhar translate --script`.

use akhar_tests::{Form, Stack, bulk::Folders, http::send, process::run, speech::recording};
use serde_json::Value;

use super::{OPERATION, form, transcribe};
use crate::violations;

/// What the recording `pa-two-sentences.wav` says, in each script.
const SENTENCES: [(&str, [&str; 2]); 3] = [
    ("gurmukhi", ["ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ", "ਅਸੀਂ ਬਾਜ਼ਾਰ ਜਾ ਰਹੇ ਹਾਂ"]),
    ("latin", ["ajja mausama bahuta caṃgā hai", "asīṁ bāzāra jā rahē hāṁ"]),
    ("shahmukhi", ["اج موسم بہت چنگا ہے", "اسیں بازار جا رہے ہاں"]),
];

/// The segments with their times alone.
fn times(answer: &Value) -> Vec<[Option<f64>; 2]> {
    let segments = answer["timestamps"].as_array().expect("segments").iter();
    segments.map(|segment| ["start", "end"].map(|at| segment[at].as_f64())).collect()
}

#[tokio::test]
async fn texts_words_and_subtitles_are_in_the_script_and_times_stay() {
    let stack = Stack::start().await;
    let plain = form(&recording("pa-two-sentences.wav")).text("with-timestamps", "true");
    let plain = plain.text("with-words", "true");
    let first = send(stack.post(OPERATION, &plain)).await.json();
    for (script, sentences) in SENTENCES {
        let form = plain.clone().text("script", script);
        let answer = send(stack.post(OPERATION, &form)).await;
        let is_approximate = answer.header("akhar-warnings").contains("approximate");
        assert_eq!(is_approximate, script == "shahmukhi", "{}", answer.header("akhar-warnings"));
        let body = answer.json();
        assert_eq!(body["transcription"], sentences.join(" "));
        assert_eq!(times(&body), times(&first));
        for (segment, sentence) in body["timestamps"].as_array().expect("segments").iter().zip(&sentences) {
            assert_eq!(segment["transcription"], *sentence);
            let words = segment["words"].as_array().expect("words").iter();
            let words: Vec<&str> = words.map(|word| word["word"].as_str().expect("a word")).collect();
            assert_eq!(words.join(" "), *sentence);
        }
        let subtitles = send(stack.post(OPERATION, &form).header("accept", "text/vtt")).await;
        let subtitles = String::from_utf8(subtitles.body.to_vec()).expect("UTF-8");
        assert!(sentences.iter().all(|sentence| subtitles.contains(sentence)), "{subtitles}");
    }
}

#[tokio::test]
async fn english_stays_and_its_translation_is_in_the_script() {
    let stack = Stack::start().await;
    let plain = form(&recording("en-weather.wav")).text("with-translation", "true");
    let gurmukhi = transcribe(&stack, &plain).await;
    let latin = transcribe(&stack, &plain.text("script", "latin")).await;
    assert_eq!(latin["transcription"], gurmukhi["transcription"]);
    assert_eq!(gurmukhi["translation"], "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ।");
    assert_eq!(latin["translation"], "ajja mausama bahuta caṃgā hai.");
}

#[tokio::test]
async fn gurmukhi_is_the_default_and_another_name_is_refused() {
    let stack = Stack::start().await;
    let plain = form(&recording("pa-water.mp3"));
    let request = |form: &Form| stack.post(OPERATION, form).header("idempotency-key", "a-key");
    let first = send(request(&plain)).await;
    let same = send(request(&plain.clone().text("script", "gurmukhi"))).await;
    assert_eq!(same.header("akhar-job"), first.header("akhar-job"));
    let refused = stack.refused(request(&plain.clone().text("script", "latin")), 422).await;
    assert_eq!(refused.errors(), violations([("Idempotency-Key", "reused")]));
    let refused = stack.refused(stack.post(OPERATION, &plain.text("script", "arabic")), 422).await;
    assert_eq!(refused.errors(), violations([("script", "not_a_choice")]));
}

#[tokio::test]
async fn a_run_writes_all_files_in_the_script() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "shahmukhi");
    folders.add("talk.wav", &recording("pa-two-sentences.wav").bytes);
    let arguments = ["--format", "json,txt,srt", "--spoken", "--script", "shahmukhi"];
    let (code, out, log) = run(folders.command(&stack, &arguments)).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let (_, sentences) = SENTENCES[2];
    assert_eq!(folders.json("talk.json")["transcription"], sentences.join(" "));
    assert_eq!(folders.text("talk.txt"), format!("{}\n", sentences.join(" ")));
    assert!(sentences.iter().all(|sentence| folders.text("talk.srt").contains(sentence)));
    assert!(
        folders.json("talk.json")["warnings"][0].as_str().is_some_and(|text| text.contains("approximate"))
    );
}
