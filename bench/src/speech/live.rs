//! Measures live transcription: recordings are appended at their own pace, and when their texts come is written down.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use akhar_requests::live::{LiveEvent, LiveMark, LivePreview};
use akhar_tests::{
    Cluster, Stack,
    figures::{count, quantiles},
    live::{PART, SILENCE_MS, Session, events},
    speech::{RATE, wav},
};
use futures::future::join_all;
use tokio::time::interval;

use super::{clips::Errors, said, transcribe};
use crate::{load::warm_stack, machine::Machine, report::Report};

/// How often outputs are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// The length of a part.
const PART_TIME: Duration = Duration::from_millis(200);
/// The silence that belongs to the end of an utterance, milliseconds.
const KEPT_MS: u64 = 300;

/// What one session gave.
#[derive(Default)]
struct Played {
    texts: Vec<String>,
    /// From the end of the first word of an utterance to its first text, which may still change.
    first: Vec<Duration>,
    /// From the end of the pause behind an utterance to its final text.
    last: Vec<Duration>,
}

/// Plays the recordings of a folder in so many sessions at a time, and compares their texts with those of the files.
pub(crate) async fn live(machine: Machine, folder: &Path, lang: &str, n_sessions: usize) -> Report {
    let recordings = recordings(folder);
    let about =
        format!("{} recordings in {lang}, {n_sessions} at a time at their own pace", recordings.len());
    let mut report = Report::new(machine, "live", about);
    let cluster = Cluster::own();
    let (stack, _) = warm_stack(&cluster).await;
    let (mut errors, mut n_same) = (Errors::default(), 0);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    transcribe(&stack, &wav(&recordings[0]), lang).await;
    for together in recordings.chunks(n_sessions) {
        let played = join_all(together.iter().map(|samples| play(&stack, lang, samples))).await;
        for (samples, played) in together.iter().zip(played) {
            let file = said(&transcribe(&stack, &wav(samples), lang).await);
            let texts: Vec<&str> =
                played.texts.iter().map(String::as_str).filter(|t| !t.is_empty()).collect();
            let live = texts.join(" ");
            n_same += usize::from(file == live);
            errors.add(&file.chars().collect::<Vec<_>>(), &live.chars().collect::<Vec<_>>());
            first.extend(played.first);
            last.extend(played.last);
        }
    }
    report.row("first text after the first word", quantiles(first));
    report.row("final text after the end of the pause", quantiles(last));
    let same = vec![("same", count(n_same)), ("different_letters_percent", errors.percent())];
    report.row("texts beside those of the files", same);
    report
}

/// The samples of the wav files of a folder, which have 16 bits and 16 kHz.
fn recordings(folder: &Path) -> Vec<Vec<i16>> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "wav")).collect();
    files.sort();
    let samples = |bytes: Vec<u8>| bytes[44..].as_chunks().0.iter().map(|b| i16::from_le_bytes(*b)).collect();
    files.into_iter().map(|path| samples(fs::read(path).expect("a file"))).collect()
}

/// Plays a recording, and a second of silence. A part is appended when its last sample is said.
async fn play(stack: &Stack, lang: &str, samples: &[i16]) -> Played {
    let sound = [samples, &vec![0; RATE]].concat();
    let mut parts = sound.chunks(PART);
    let mut session = Session::start(stack, lang).await;
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
