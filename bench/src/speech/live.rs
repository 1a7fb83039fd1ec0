//! Measures live transcription: recordings are appended at their own pace, and when their texts come is written down.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use akhar_requests::live::{LiveEvent, LiveMark, LivePreview};
use akhar_tests::{
    Cluster, Stack,
    figures::{Row, count, quantiles},
    live::{PART, SILENCE_MS, Session, events},
    speech::{RATE, wav},
};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::interval;

use super::{clips::Errors, said, transcribe};
use crate::{load::warm_stack, machine::Machine, report::Report};

/// How often outputs are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// The length of a part.
const PART_TIME: Duration = Duration::from_millis(200);
/// The silence that belongs to the end of an utterance, milliseconds.
const KEPT_MS: u64 = 300;
/// Without turn detection: the pause after which a text is final.
const DELAY_MS: u64 = 1000;

/// What one session gave.
#[derive(Default)]
struct Played {
    texts: Vec<String>,
    /// From the end of the first word of an utterance to its first text, which may still change.
    first: Vec<Duration>,
    /// From the end of the pause behind an utterance to its final text.
    last: Vec<Duration>,
}

/// Plays the recordings of each folder in so many sessions at a time, with turn detection and without, and compares their texts with
/// those of the files. A text that differs is printed.
pub(crate) async fn live(machine: Machine, folders: &[(&str, &Path)], n_sessions: usize) -> Report {
    let about = format!("{n_sessions} sessions at a time at their own pace");
    let mut report = Report::new(machine, "live", about);
    let cluster = Cluster::own();
    let (stack, _) = warm_stack(&cluster).await;
    for (lang, folder) in folders {
        let recordings = recordings(folder);
        for (turns, n_silent, session) in sessions(lang) {
            let mut files = Vec::new();
            let mut sounds = Vec::new();
            for (name, samples) in &recordings {
                let sound = [&samples[..], &vec![0; n_silent]].concat();
                files.push((name.as_str(), said(&transcribe(&stack, &wav(&sound), lang).await)));
                sounds.push(sound);
            }
            let sessions = stream::iter(&sounds).map(|sound| play(&stack, &session, sound));
            let played: Vec<Played> = sessions.buffered(n_sessions).collect().await;
            rows(&mut report, &format!("{lang} {turns}"), &files, played);
        }
    }
    report
}

/// The sessions that are measured: one with turn detection, and silence behind the recording that ends the last turn; and one
/// without.
fn sessions(lang: &str) -> [(&'static str, usize, Value); 2] {
    let turns = json!({"silence_ms": SILENCE_MS, "prefix_ms": 300, "threshold": 0.5});
    let session = |turns: Value| json!({"lang": lang, "turn_detection": turns, "delay_ms": DELAY_MS});
    [("with turns", RATE, session(turns)), ("without turns", 0, session(Value::Null))]
}

/// Adds what sessions gave, beside the names and texts of the files.
fn rows(report: &mut Report, title: &str, files: &[(&str, String)], played: Vec<Played>) {
    let (mut errors, mut n_same, mut n_utterances) = (Errors::default(), 0, 0);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for ((name, file), played) in files.iter().zip(played) {
        let texts: Vec<&str> = played.texts.iter().map(String::as_str).filter(|t| !t.is_empty()).collect();
        let live = texts.join(" ");
        n_utterances += played.texts.len();
        if *file == live {
            n_same += 1;
        } else {
            println!("  {name}\n    file: {file}\n    live: {}", texts.join(" | "));
        }
        errors.add(&file.chars().collect::<Vec<_>>(), &live.chars().collect::<Vec<_>>());
        first.extend(played.first);
        last.extend(played.last);
    }
    report.row(&format!("{title}: first text after the first word"), times(first));
    report.row(&format!("{title}: final text after the end of the pause"), times(last));
    let counts = [("same", n_same), ("of", files.len()), ("utterances", n_utterances)];
    let mut same: Row = counts.map(|(name, n)| (name, count(n))).into();
    same.push(("different_letters_percent", errors.percent()));
    report.row(&format!("{title}: texts beside those of the files"), same);
}

fn times(mut durations: Vec<Duration>) -> Row {
    durations.sort_unstable();
    let p95 =
        durations.get((durations.len() * 95).div_ceil(100).saturating_sub(1)).map(Duration::as_secs_f64);
    let mut row = quantiles(durations);
    row.push(("p95_ms", p95.unwrap_or(f64::NAN) * 1e3));
    row
}

/// The names and samples of the wav files of a folder, which have 16 bits and 16 kHz.
fn recordings(folder: &Path) -> Vec<(String, Vec<i16>)> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "wav")).collect();
    files.sort();
    let samples = |bytes: Vec<u8>| bytes[44..].as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect();
    let named = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, samples(fs::read(path).expect("a file")))
    };
    files.into_iter().map(named).collect()
}

/// Plays a recording. A part is appended when its last sample is said.
async fn play(stack: &Stack, session: &Value, samples: &[i16]) -> Played {
    let mut parts = samples.chunks(PART);
    let mut session = Session::start_as(stack, session.clone()).await;
    let mut played = Played::default();
    let mut appended = Vec::new();
    let mut shown: HashMap<u32, Instant> = HashMap::new();
    let (began, mut n_seen, mut is_over) = (Instant::now(), 0, false);
    let mut ticks = interval(LOOK);
    loop {
        ticks.tick().await;
        if !is_over && began.elapsed() >= PART_TIME * u32::try_from(appended.len() + 1).expect("few parts") {
            let part = parts.next();
            is_over = part.is_none();
            session.append(part.unwrap_or_default(), is_over.then_some(LiveMark::End)).await;
            appended.push(Instant::now());
        }
        let seen = session.seen(n_seen).await.expect("Postgres is there");
        let now = Instant::now();
        n_seen += i64::try_from(seen.events.len()).expect("few events");
        let has_ended = seen.state.is_final();
        let preview: Option<LivePreview> =
            seen.preview.clone().map(|preview| serde_json::from_value(preview).expect("a preview"));
        if let Some(preview) = preview.filter(|preview| !preview.open.is_empty()) {
            shown.entry(preview.item).or_insert(now);
        }
        for event in events(seen) {
            match event {
                LiveEvent::Delta { item, .. } => drop(shown.entry(item).or_insert(now)),
                LiveEvent::Completed(utterance) => {
                    let sent = |ms: u64| appended.get(usize::try_from(ms).ok()? / 200).copied();
                    let word = utterance.words.first().and_then(|word| sent(word.end_ms));
                    let of_first = word.zip(shown.get(&utterance.item));
                    played.first.extend(of_first.map(|(word, shown)| shown.saturating_duration_since(word)));
                    let pause = sent((utterance.end_ms + SILENCE_MS).saturating_sub(KEPT_MS + 1));
                    played.last.extend(pause.map(|pause| now.saturating_duration_since(pause)));
                    played.texts.push(utterance.text);
                }
                _ => (),
            }
        }
        if has_ended {
            return played;
        }
    }
}
