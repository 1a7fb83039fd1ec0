//! Measures speech recognition: errors and speed over HTTP; the memory for a long recording and for one of hours, and
//! the response time of short clips meanwhile.

mod bulk;
mod clips;
mod hours;
mod live;

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use akhar_tests::{
    Answer, Cluster, Form, Stack,
    figures::{count, quantiles},
    http,
    monitor::lines,
    speech::wav,
};
use serde_json::Value;
use uuid::Uuid;

use crate::{load::warm_stack, machine::Machine, report::Report};
pub(crate) use bulk::bulk;
use clips::{Clip, Quality, clips, spoken};
pub(crate) use hours::hours;
pub(crate) use live::live;

async fn transcribe(stack: &Stack, file: &[u8], lang: &str) -> Answer {
    let form = Form::upload_and(file, "lang", lang);
    let answer = http::send(stack.post("speech-recognition", &form)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

fn said(answer: &Answer) -> String {
    answer.json()["transcription"].as_str().expect("a text").to_owned()
}

/// The seconds of sound and of each stage, from the worker's log.
fn stages(stack: &Stack) -> [(&'static str, f64); 6] {
    let lines = lines(&stack.workers[0], "recording transcribed");
    let sum = |name: &str| lines.iter().filter_map(|line| line[name].as_f64()).sum::<f64>();
    [
        ("audio", sum("seconds")),
        ("decode", sum("decode_us") / 1e6),
        ("resample", sum("resample_us") / 1e6),
        ("features", sum("features_us") / 1e6),
        ("model", sum("model_us") / 1e6),
        ("search", sum("search_us") / 1e6),
    ]
}

/// Transcribes every clip over HTTP, one after another.
pub(crate) async fn clips_of(machine: Machine, folder: &Path, lang: &str) -> Report {
    let clips = clips(folder);
    let about = format!("{} clips in {lang}, one after another", clips.len());
    let mut report = Report::new(machine, "speech", about);
    report.machine.rest().await;
    let cluster = Cluster::own();
    let (stack, _) = warm_stack(&cluster).await;
    let (mut quality, mut took, mut apart) = (Quality::default(), Vec::new(), Vec::new());
    for clip in &clips {
        let started = Instant::now();
        let form = Form::upload_and(&clip.bytes, "lang", lang);
        let form = form.text("with-timestamps", "true").text("with-words", "true");
        let answer = http::send(stack.post("speech-recognition", &form)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        took.push(started.elapsed());
        apart.extend(starts_apart(clip, &answer, lang));
        quality.add(&spoken(&clip.text, lang), &spoken(&said(&answer), lang));
    }
    report.row("over HTTP", quality.row());
    report.row("over HTTP, answers", quantiles(took.iter().copied()));
    let [(_, seconds), parts @ ..] = stages(&stack);
    let work: f64 = parts.iter().map(|(_, s)| s).sum();
    let wall: Duration = took.iter().sum();
    let factors =
        vec![("audio_s", seconds), ("worker", work / seconds), ("wall", wall.as_secs_f64() / seconds)];
    report.row("real-time factor", factors);
    let shares = parts.iter().map(|(name, s)| (*name, 100.0 * s / work)).collect();
    report.row("of the worker's time, percent", shares);
    apart.sort_by(f64::total_cmp);
    let at = |share: usize| apart.get(apart.len() * share / 100).copied().unwrap_or(f64::NAN);
    let row = vec![("median_ms", at(50)), ("p95_ms", at(95)), ("words", count(apart.len()))];
    report.row("word starts", row);
    report
}

/// How far the starts of words are from the known ones, ms, if as many words are recognised as are said: of those that are right.
fn starts_apart(clip: &Clip, answer: &Answer, lang: &str) -> Vec<f64> {
    let document = answer.json();
    let segments = document["timestamps"].as_array().into_iter().flatten();
    let words: Vec<&Value> =
        segments.flat_map(|segment| segment["words"].as_array().into_iter().flatten()).collect();
    let of_clip: Vec<&str> = clip.text.split(' ').collect();
    if words.len() != of_clip.len() {
        return Vec::new();
    }
    let is_right = |n: &usize| spoken(words[*n]["word"].as_str().unwrap_or_default(), lang) == of_clip[*n];
    let known = clip.starts.iter().filter(|(n, _)| is_right(n));
    known.map(|(n, s)| (words[*n]["start"].as_f64().unwrap_or(f64::NAN) - s).abs() * 1e3).collect()
}

/// Submits a recording whose transcription may take longer than a client waits.
async fn submit(stack: &Stack, file: &[u8], lang: &str) -> Uuid {
    let form = Form::upload_and(file, "lang", lang);
    http::send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job()
}

async fn is_ended(stack: &Stack, id: Uuid) -> bool {
    let state = stack.get(&format!("/v1/jobs/{id}")).await.json()["state"].clone();
    state != "queued" && state != "running"
}

/// Measures a long recording: its memory, time and errors, and the response time of a short clip meanwhile.
pub(crate) async fn long(machine: Machine, recording: &Path, pieces: &Path, lang: &str) -> Report {
    let file = fs::read(recording).expect("the recording");
    let table = fs::read_to_string(pieces).expect("the pieces");
    let pieces: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split('\t').nth(2)).collect();
    let mut report = Report::new(machine, "long", format!("one recording of {} bytes in {lang}", file.len()));
    report.machine.rest().await;
    let cluster = Cluster::own();
    let (stack, _) = warm_stack(&cluster).await;
    let short = akhar_tests::speech::recording(if lang == "en" { "en-weather.wav" } else { "pa-school.wav" });
    let ten_seconds: Vec<i16> = short.samples().into_iter().cycle().take(160_000).collect();
    transcribe(&stack, &wav(&ten_seconds), lang).await;
    let (_, before) = stack.workers[0].memory_mib();
    let started = Instant::now();
    let id = submit(&stack, &file, lang).await;
    while !is_ended(&stack, id).await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = started.elapsed();
    let answer = stack.get(&format!("/v1/jobs/{id}/result")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let (_, after) = stack.workers[0].memory_mib();
    let [(_, seconds), ..] = stages(&stack);
    let factor = took.as_secs_f64() / (seconds - 10.0);
    report.row("alone", vec![("audio_s", seconds - 10.0), ("took_s", took.as_secs_f64()), ("rtf", factor)]);
    let row = vec![("after_10_s", before), ("after", after), ("more", after - before)];
    report.row("worker's peak, MiB", row);
    let mut quality = Quality::default();
    quality.add(&pieces.join(" "), &spoken(&said(&answer), lang));
    report.row("beside what was said", quality.row());

    let clip = wav(&ten_seconds[..48_000]);
    let time = async || {
        let started = Instant::now();
        transcribe(&stack, &clip, lang).await;
        started.elapsed()
    };
    let mut alone = Vec::new();
    for _ in 0..20 {
        alone.push(time().await);
    }
    report.row("a clip of 3 s, alone", quantiles(alone));
    let id = submit(&stack, &file, lang).await;
    stack.job_is(id, "running").await;
    let mut beside = Vec::new();
    while beside.len() < 20 && !is_ended(&stack, id).await {
        beside.push(time().await);
    }
    report.row("beside the long recording", quantiles(beside));
    report
}
