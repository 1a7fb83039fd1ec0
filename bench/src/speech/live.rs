//! Measures live transcription: recordings are sent at their own pace, and when their texts come is written down.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use akhar_tests::{
    Cluster, Stack,
    figures::{Row, count, quantiles},
    images::fixture_of,
    live::PART,
    realtime::{COMPLETED, DELTA, INTENT, Socket, pcm},
    speech::{RATE, wav},
};
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::time::{interval, sleep};

use super::{clips::Errors, said, transcribe};
use crate::{cpu::CpuMeter, load::warm_stack, machine::Machine, report::Report, statements};

/// The pause between two requests beside the sessions, and how long they are sent without them.
const DIGITS: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_secs(10);
/// The most samples of a file that a form takes. Longer recordings are only played.
const MAX_FILE: usize = 1_000_000;
/// When the memory is measured first, so that a session of many minutes shows whether it grows.
const EARLY: Duration = Duration::from_secs(60);
/// The length of a part.
const PART_TIME: Duration = Duration::from_millis(200);
/// The pause behind an utterance, without the silence that belongs to its end, seconds.
const PAUSE_S: f64 = 0.2;

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
    let cluster = statements::cluster().await;
    let (stack, _) = warm_stack(&cluster).await;
    statements::enable(&stack.db).await;
    for (lang, folder) in folders {
        let recordings = recordings(folder);
        for (turns, n_silent, session) in sessions(lang) {
            let mut files = Vec::new();
            let mut sounds = Vec::new();
            for (name, samples) in &recordings {
                let sound = [&samples[..], &vec![0; n_silent]].concat();
                let is_file = sound.len() <= MAX_FILE;
                let file =
                    if is_file { Some(said(&transcribe(&stack, &wav(&sound), lang).await)) } else { None };
                files.push((name.as_str(), file));
                sounds.push(sound);
            }
            let sessions = stream::iter(&sounds).map(|sound| play(&stack, &session, sound));
            let idle = digits(&stack, sleep(IDLE)).await;
            let mut played: Vec<Played> = Vec::new();
            let mut early = None;
            let cost = Cost::start(&stack, &cluster).await;
            let beside = digits(&stack, async {
                let mut playing = std::pin::pin!(sessions.buffered(n_sessions).collect());
                played = tokio::select! {
                    played = &mut playing => played,
                    () = sleep(EARLY) => {
                        early = Some(memory(&stack));
                        playing.await
                    }
                };
            });
            let beside = beside.await;
            report.row(&format!("{lang} {turns}: cost of a second"), cost.of_a_second().await);
            report.row(&format!("{lang} {turns}: digits without sessions"), quantiles(idle));
            report.row(&format!("{lang} {turns}: digits beside them"), quantiles(beside));
            for (when, row) in
                early.map(|row| ("after a minute", row)).into_iter().chain([("at the end", memory(&stack))])
            {
                report.row(&format!("{lang} {turns}: memory {when}"), row);
            }
            rows(&mut report, &format!("{lang} {turns}"), &files, played);
        }
    }
    report
}

/// The memory of the processes.
fn memory(stack: &Stack) -> Row {
    let [api, worker] = [&stack.api, &stack.workers[0]].map(|process| process.memory_mib().0);
    vec![("api_mib", api), ("worker_mib", worker)]
}

/// What a running service costs, with the digits beside the sessions.
struct Cost<'a> {
    stack: &'a Stack,
    cpu: CpuMeter<'a>,
    began: Instant,
    lsn: String,
}

impl<'a> Cost<'a> {
    async fn start(stack: &'a Stack, cluster: &Cluster) -> Self {
        statements::reset(&stack.db).await;
        let lsn = sqlx::query_scalar("select pg_current_wal_lsn()::text").fetch_one(&stack.db);
        let lsn = lsn.await.expect("a position");
        Self { stack, cpu: CpuMeter::start(stack, cluster), began: Instant::now(), lsn }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a measurement")]
    async fn of_a_second(&self) -> Row {
        let seconds = self.began.elapsed().as_secs_f64();
        let mut row = self.cpu.per_request(seconds.round() as usize);
        let n_calls: i64 =
            statements::read(&self.stack.db).await.iter().map(|statement| statement.calls).sum();
        let wal = "select pg_wal_lsn_diff(pg_current_wal_lsn(), $1::pg_lsn)::float8";
        let wal: f64 =
            sqlx::query_scalar(wal).bind(&self.lsn).fetch_one(&self.stack.db).await.expect("bytes");
        row.push(("statements", count(usize::try_from(n_calls).unwrap_or_default()) / seconds));
        row.push(("wal_kib", wal / 1024.0 / seconds));
        row
    }
}

/// The sessions that are measured: one with turn detection, and silence behind the recording that ends the last turn; and one
/// without.
fn sessions(lang: &str) -> [(&'static str, usize, Value); 2] {
    let session = |turns: Value| {
        let transcription = json!({"model": "gpt-live-transcribe", "language": lang, "delay": "high"});
        let format = json!({"type": "audio/pcm", "rate": RATE});
        let input = json!({"format": format, "transcription": transcription, "turn_detection": turns});
        json!({"audio": {"input": input}, "include": ["akhar.hypothesis"]})
    };
    let turns = json!({"type": "server_vad", "silence_duration_ms": 500});
    [("with turns", RATE, session(turns)), ("without turns", 0, session(Value::Null))]
}

/// Adds what sessions gave, beside the names and texts of the files.
fn rows(report: &mut Report, title: &str, files: &[(&str, Option<String>)], played: Vec<Played>) {
    let (mut errors, mut n_same, mut n_utterances) = (Errors::default(), 0, 0);
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for ((name, file), played) in files.iter().zip(played) {
        let texts: Vec<&str> = played.texts.iter().map(String::as_str).filter(|t| !t.is_empty()).collect();
        let live = texts.join(" ");
        n_utterances += played.texts.len();
        first.extend(played.first);
        last.extend(played.last);
        let Some(file) = file else { continue };
        if *file == live {
            n_same += 1;
        } else {
            println!("  {name}\n    file: {file}\n    live: {}", texts.join(" | "));
        }
        errors.add(&file.chars().collect::<Vec<_>>(), &live.chars().collect::<Vec<_>>());
    }
    report.row(&format!("{title}: first text after the first word"), times(first));
    report.row(&format!("{title}: final text after the end of the pause"), times(last));
    let n_files = files.iter().filter(|(_, file)| file.is_some()).count();
    let counts = [("same", n_same), ("of", n_files), ("utterances", n_utterances)];
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

/// Plays a recording over a socket. A part is sent when its last sample is said.
async fn play(stack: &Stack, session: &Value, samples: &[i16]) -> Played {
    let mut parts = samples.chunks(PART);
    let mut socket = Socket::open(stack, INTENT).await;
    socket.update(session.clone()).await;
    let mut played = Played::default();
    let mut sent = Vec::new();
    let mut shown: HashMap<String, Instant> = HashMap::new();
    let mut ticks = interval(PART_TIME);
    ticks.tick().await; // the first one comes at once
    let mut is_over = false;
    loop {
        let event = tokio::select! {
            event = socket.next() => event,
            _ = ticks.tick(), if !is_over => {
                if let Some(part) = parts.next() {
                    socket.append(&pcm(part)).await;
                } else {
                    is_over = true;
                    socket.send(json!({"type": "input_audio_buffer.commit", "final": true})).await;
                }
                sent.push(Instant::now());
                continue;
            }
        };
        let Some(event) = event else { return played };
        let now = Instant::now();
        let item = event["item_id"].as_str().unwrap_or_default();
        if event["type"] == DELTA || event["type"] == "akhar.hypothesis" {
            shown.entry(item.to_owned()).or_insert(now);
        } else if event["type"] == COMPLETED {
            let sent = |seconds: f64| sent.get(part_of(seconds)).copied();
            let first = event["words"][0]["end"].as_f64().and_then(sent).zip(shown.get(item));
            played.first.extend(first.map(|(word, shown)| shown.saturating_duration_since(word)));
            let pause = event["end"].as_f64().and_then(|end| sent(end + PAUSE_S));
            played.last.extend(pause.map(|pause| now.saturating_duration_since(pause)));
            played.texts.push(event["transcript"].as_str().expect("a text").to_owned());
        }
    }
}

/// The part of a session that has this moment.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a recording")]
fn part_of(seconds: f64) -> usize {
    (seconds / PART_TIME.as_secs_f64()) as usize
}

/// How long requests with a picture of a digit take, one after another, until `end`.
async fn digits(stack: &Stack, end: impl Future<Output = ()>) -> Vec<Duration> {
    let image = fixture_of("੫");
    let mut took = Vec::new();
    let mut end = std::pin::pin!(end);
    let mut ticks = interval(DIGITS);
    loop {
        tokio::select! {
            () = &mut end => return took,
            _ = ticks.tick() => {
                let began = Instant::now();
                assert_eq!(stack.recognise("digit-recognition", &image.bytes).await.status, 200);
                took.push(began.elapsed());
            }
        }
    }
}
