//! Subtitles, read by parsers of other projects: `tests/subtitles.py`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use akhar_jobs::{
    FreePlaces,
    store::{self, Ending, Guard},
};
use akhar_requests::{Outcome, SPEECH, Segment, SubtitleSize};
use akhar_tests::{
    Form, Stack,
    bulk::Folders,
    http::send,
    process::run,
    queue,
    scripts::{json, python},
    speech::recording,
};
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;
use uuid::Uuid;

use crate::violations;

/// The formats: name, and media type.
const FORMATS: [(&str, &str); 2] = [("srt", "application/x-subrip"), ("vtt", "text/vtt")];

/// The cues of each file, as the parsers read them: start and end in milliseconds, and text.
async fn cues(files: &[PathBuf]) -> Vec<Value> {
    let mut parsers = python("subtitles.py");
    parsers.args(files);
    let Value::Array(cues) = json(parsers).await else { panic!("an array") };
    assert_eq!(cues.len(), files.len());
    cues
}

/// The cues that segments of a JSON document should become.
fn expected(segments: &Value) -> Value {
    let segments = segments.as_array().expect("segments").iter();
    let cue = |s: &Value| {
        #[expect(clippy::cast_possible_truncation, reason = "short times")]
        let [start, end] = ["start", "end"].map(|at| (s[at].as_f64().expect("seconds") * 1e3).round() as i64);
        // OpenAI's format names the text differently.
        json!([start, end, s.get("transcription").unwrap_or(&s["text"])])
    };
    segments.map(cue).collect()
}

/// Cues without their ends: those that need more time to be read end later than their segments.
fn starts_and_texts(cues: &Value) -> Value {
    let cues = cues.as_array().expect("cues").iter();
    cues.map(|cue| json!([cue[0], cue[2]])).collect()
}

/// Writes the result of a job in both formats into files.
async fn result_files(stack: &Stack, job: Uuid, folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for (name, media_type) in FORMATS {
        let path = format!("/v1/jobs/{job}/result");
        let answer = send(stack.request("GET", &path).header("accept", media_type)).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        assert!(answer.header("content-type").starts_with(media_type), "{}", answer.header("content-type"));
        files.push(folder.join(format!("{job}.{name}")));
        fs::write(files.last().expect("a file"), &answer.body).expect("it is written");
    }
    files
}

async fn submit(stack: &Stack, form: Form) -> Uuid {
    let form = form.text("with-timestamps", "true");
    send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job()
}

#[tokio::test]
async fn other_parsers_read_the_segments_of_a_recording_in_its_subtitles() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "subtitles");
    let sentences = recording("pa-two-sentences.wav");
    folders.add("talk.wav", &sentences.bytes);
    let (code, out, log) = run(folders.command(&stack, &["--format", "json,srt,vtt"])).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let talk = expected(&folders.json("talk.json")["timestamps"]);
    let mut files = FORMATS.map(|(name, _)| folders.results.join(format!("talk.{name}"))).to_vec();

    let job = submit(&stack, Form::upload(&sentences.bytes)).await;
    let document = stack.get(&format!("/v1/jobs/{job}?wait=60")).await.json();
    let result = expected(&document["result"]["timestamps"]);
    files.extend(result_files(&stack, job, &folders.recordings).await);

    let english = recording("en-weather.wav");
    let transcribe = async |format: &str| {
        let form = Form::upload_and(&english.bytes, "model", "speech-en").text("response_format", format);
        send(form.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await
    };
    let openai = expected(&transcribe("verbose_json").await.json()["segments"]);
    for (name, _) in FORMATS {
        files.push(folders.recordings.join(format!("openai.{name}")));
        fs::write(files.last().expect("a file"), transcribe(name).await.body).expect("it is written");
    }
    for segments in [&talk, &result] {
        assert_eq!(segments.as_array().map(Vec::len), Some(sentences.said.len()), "{segments}");
    }
    assert_ne!(openai, json!([]));
    let of_both = |cues: Value| [cues.clone(), cues];
    let shown: Vec<Value> = cues(&files).await.iter().map(starts_and_texts).collect();
    let expected = [of_both(talk), of_both(result), of_both(openai)].concat();
    assert_eq!(shown, expected.iter().map(starts_and_texts).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_translation_is_in_the_subtitles_and_the_text() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "translated");
    let bytes = recording("pa-two-sentences.wav").bytes;
    folders.add("talk.wav", &bytes);
    let arguments = ["--format", "json,srt,vtt,txt", "--translate"];
    let (code, out, log) = run(folders.command(&stack, &arguments)).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let talk = folders.json("talk.json");
    let said = expected(&talk["timestamps"]);
    let of_translations = |text: fn(&Value) -> Value| -> Value {
        let segments =
            talk["timestamps"].as_array().expect("segments").iter().zip(said.as_array().expect("cues"));
        segments.map(|(segment, cue)| json!([cue[0], cue[1], text(segment)])).collect()
    };
    let translated = of_translations(|segment| segment["translation"].clone());
    let both = of_translations(|segment| {
        let text = |name: &str| segment[name].as_str().expect("a text").to_owned();
        format!("{}\n{}", text("transcription"), text("translation")).into()
    });
    let text = |name: &str| talk[name].as_str().filter(|text| !text.is_empty()).expect("a text");
    assert_eq!(folders.text("talk.txt"), format!("{}\n", text("transcription")));
    assert_eq!(folders.text("talk.en.txt"), format!("{}\n", text("translation")));

    let job =
        submit(&stack, Form::upload(&bytes).text("with-translation", "true").text("format", "written")).await;
    stack.get(&format!("/v1/jobs/{job}?wait=60")).await;
    let mut files = ["talk.srt", "talk.vtt", "talk.en.srt", "talk.en.vtt"]
        .map(|name| folders.results.join(name))
        .to_vec();
    files.extend(result_files(&stack, job, &folders.recordings).await);
    let of_both = |cues: Value| [cues.clone(), cues];
    let expected = [of_both(said), of_both(translated), of_both(both)].concat();
    let shown = cues(&files).await;
    for (shown, expected) in shown.iter().zip(&expected) {
        assert_eq!(starts_and_texts(shown), starts_and_texts(expected));
    }

    let plain = stack.request("GET", &format!("/v1/jobs/{job}/result")).header("accept", "text/plain");
    let plain = String::from_utf8(send(plain).await.body.to_vec()).expect("UTF-8");
    assert_eq!(plain, format!("{}\n\n{}", text("transcription"), text("translation")));
}

#[tokio::test]
async fn other_parsers_read_any_text_in_subtitles() {
    let stack = Stack::with().workers(0).start().await;
    let (spoken, silent) = (submit(&stack, clip()).await, submit(&stack, clip()).await);
    let texts = [
        ("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"),
        ("<i>a</i> & b &amp; c", "<i>a</i> & b &amp; c"),
        ("x --> y", "x --> y"),
        ("00:00:01,000 --> 00:00:02,000", "00:00:01,000 --> 00:00:02,000"),
        ("00:00:01.000 --> 00:00:02.000", "00:00:01.000 --> 00:00:02.000"),
        // These would be a number of a cue, and the start of a comment.
        ("7", "7"),
        ("NOTE: 8", "NOTE: 8"),
        // A line break separates words, as a space does.
        ("one\n\ntwo\r\nthree\u{2028}four", "one two three four"),
    ];
    let segment = |(nth, (text, _)): (u32, &(&str, &str))| Segment {
        start: f64::from(nth),
        end: f64::from(nth) + 0.25,
        transcription: (*text).to_owned(),
        translation: None,
        confidence: None,
        channel: None,
    };
    let segments = (0..).zip(&texts).map(segment).collect();
    // A worker's part: claims both jobs and ends them with these segments and with none.
    store::beat(&stack.db, "worker", &[]).await.expect("a heartbeat");
    let claimed = store::claim(&stack.db, "worker", &[FreePlaces::any(SPEECH, 2)]).await.expect("a claim");
    for (job, segments) in [(spoken, segments), (silent, Vec::new())] {
        let fence = claimed.iter().map(|claim| claim.fence).find(|fence| fence.job.0 == job);
        let outcome = Outcome::Transcription {
            transcription: String::new(),
            translation: None,
            timestamps: Some(segments),
            words: None,
            segments: Vec::new(),
            seconds: 9.0,
            warnings: Vec::new(),
            probably_wrong: Vec::new(),
            confidence: None,
            language: None,
            subtitles: SubtitleSize::default(),
        };
        let guard = Guard::Claimed(fence.expect("it is claimed"));
        let ending = Ending {
            guard,
            end: outcome.try_into().expect("JSON"),
            timing: None,
            error: None,
            may_have_webhook: false,
        };
        assert_eq!(queue::end(&stack.db, &[ending]).await.expect("a write").met, [true]);
    }
    let read: Value =
        (0..).zip(&texts).map(|(nth, (_, text))| json!([nth * 1000, nth * 1000 + 250, text])).collect();
    let mut files = result_files(&stack, spoken, stack.folder()).await;
    files.extend(result_files(&stack, silent, stack.folder()).await);
    let shown: Vec<Value> = cues(&files).await.iter().map(starts_and_texts).collect();
    let read = starts_and_texts(&read);
    assert_eq!(shown, [read.clone(), read, json!([]), json!([])]);
}

#[tokio::test]
async fn other_parsers_read_cues_that_keep_the_rules() {
    let stack = Stack::start().await;
    let folders = Folders::new(stack.folder(), "rules");
    let sentences = recording("pa-two-sentences.wav");
    folders.add("talk.wav", &sentences.bytes);
    let arguments = ["--format", "json,srt,vtt", "--max-line-length", "12", "--max-lines", "1"];
    let (code, out, log) = run(folders.command(&stack, &arguments)).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let mut files = FORMATS.map(|(name, _)| folders.results.join(format!("talk.{name}"))).to_vec();
    let form = Form::upload(&sentences.bytes).text("max-line-length", "12").text("max-lines", "1");
    let form = form.text("format", "written");
    let job = submit(&stack, form).await;
    stack.get(&format!("/v1/jobs/{job}?wait=60")).await;
    files.extend(result_files(&stack, job, &folders.recordings).await);
    let said = &folders.json("talk.json");
    assert!(said["timestamps"][0].get("words").is_none(), "{said}");
    for cues in cues(&files).await {
        let cues = cues.as_array().expect("cues");
        let mut texts = Vec::new();
        for (nth, cue) in cues.iter().enumerate() {
            let [start, end] = [0, 1].map(|at| cue[at].as_i64().expect("ms"));
            let text = cue[2].as_str().expect("a text");
            let n_chars = i64::try_from(text.graphemes(true).count()).expect("a short text");
            let is_before_next = cues.get(nth + 1).map(|next| next[0].as_i64().expect("ms"));
            assert!(n_chars <= 12 && !text.contains('\n'), "{text}");
            assert!(start < end && is_before_next.is_none_or(|next| end <= next), "{cues:?}");
            assert!(n_chars * 1000 <= 17 * (end - start) || is_before_next == Some(end), "{cues:?}");
            texts.push(text);
        }
        assert_eq!(texts.join(" "), said["transcription"]);
        assert!(texts.len() > said["timestamps"].as_array().expect("segments").len(), "{texts:?}");
    }
}

#[tokio::test]
async fn subtitles_are_written_unless_the_spoken_form_is_asked_for() {
    let stack = Stack::start().await;
    let form = Form::upload(&recording("pa-price.mp3").bytes).text("with-timestamps", "true");
    let subtitles = async |form: &Form| {
        let answer = send(stack.post("speech-recognition", form).header("accept", "text/vtt")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    };
    let written = subtitles(&form).await;
    assert!(written.contains("₹250") && written.contains('।'), "{written}");
    let spoken = subtitles(&form.clone().text("format", "spoken")).await;
    assert!(!spoken.contains("₹250") && !spoken.contains('।'), "{spoken}");
    let json = send(stack.post("speech-recognition", &form)).await.json();
    assert!(!json["transcription"].as_str().expect("a text").contains(char::is_numeric), "{json}");
    assert!(json["timestamps"][0].get("words").is_none(), "{json}");
    let openai = Form::upload_and(&recording("pa-price.mp3").bytes, "model", "speech-pa");
    let openai = openai.text("response_format", "srt");
    let openai = send(openai.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await.text();
    assert!(openai.contains("₹250") && openai.contains('।'), "{openai}");
}

#[tokio::test]
async fn subtitles_of_an_impossible_size_are_refused() {
    let stack = Stack::with().workers(0).start().await;
    for (name, value) in
        [("max-line-length", "9"), ("max-line-length", "201"), ("max-lines", "0"), ("max-lines", "5")]
    {
        let refused = stack.refused(stack.post("speech-recognition", &clip().text(name, value)), 422).await;
        assert_eq!(refused.errors(), violations([(name, "out_of_range")]));
    }
}

fn clip() -> Form {
    Form::upload(&recording("pa-water.mp3").bytes)
}
