//! Measures the memory that a recording of hours takes, which no process has whole in its memory.

use std::time::{Duration, Instant};

use akhar_tests::{
    Cluster, Form, Stack,
    files::{FileServer, Reply},
    http,
    speech::{RATE, recording, silence, wav},
    uploads::S3Server,
};
use serde_json::json;

use crate::{
    load::warm,
    machine::Machine,
    report::Report,
    speech::{is_ended, transcribe},
    targets,
};

/// Measures one recording of so many hours that is fetched from a URL, and that is sent to a bucket before. Its result has every word with its times.
pub(crate) async fn hours(machine: Machine, hours: usize) -> Report {
    let samples = [recording("pa-school.wav").samples(), silence(1)].concat();
    let file = wav(&samples.iter().copied().cycle().take(hours * 3600 * RATE).collect::<Vec<_>>());
    let about = format!("one recording of {hours} h, a WAV of {} bytes, beside a clip of 10 s", file.len());
    let mut report = Report::new(machine, "hours", about);
    report.machine.rest().await;
    let cluster = Cluster::own();
    let bucket = S3Server::start().await;
    let stack = Stack::with().on(&cluster).settings(S3Server::settings(&bucket.address));
    let (stack, _) = warm(stack.set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8")).await;
    let clip: Vec<i16> = samples.iter().copied().cycle().take(10 * RATE).collect();
    transcribe(&stack, &wav(&clip), "pa").await;
    let server = FileServer::start().await;
    let url = server.put("/hours.wav", [Reply::File(file.clone())]);
    measure(&stack, "by URL", Form::default().text("url", &url), &mut report).await;
    let upload = upload(&stack, file).await;
    measure(&stack, "by presigned PUT", Form::default().text("upload", &upload), &mut report).await;
    report
}

/// Sends a file to the bucket of the service. Returns the id of its upload.
async fn upload(stack: &Stack, file: Vec<u8>) -> String {
    let reservation = stack.request("POST", "/v1/uploads").json(&json!({"size": file.len()}));
    let reserved = http::send(reservation).await.json();
    let url = reserved["url"].as_str().unwrap_or_else(|| panic!("no URL: {reserved}"));
    let sent = http::send(stack.anonymous("PUT", url).body(file)).await;
    assert_eq!(sent.status, 200, "{sent:?}");
    reserved["id"].as_str().map(str::to_owned).unwrap_or_default()
}

/// Transcribes the recording of a form, and adds what it takes to the report.
async fn measure(stack: &Stack, how: &str, form: Form, report: &mut Report) {
    let processes = [&stack.api, &stack.workers[0]];
    let before = processes.map(|process| {
        process.reset_peak();
        process.memory_mib().0
    });
    let form = form.text("with-timestamps", "true").text("with-words", "true");
    let started = Instant::now();
    let request = stack.post("speech-recognition", &form).header("prefer", "respond-async");
    let id = http::send(request).await.job();
    while !is_ended(stack, id).await {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let took = started.elapsed().as_secs_f64();
    let mut results = Vec::new();
    for accept in ["application/json", "application/x-subrip"] {
        let result = stack.request("GET", &format!("/v1/jobs/{id}/result")).header("accept", accept);
        let answer = http::send(result).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        results.push(answer);
    }
    let n_segments = results[0].json()["timestamps"].as_array().map_or(0, Vec::len);
    let mib = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX)) / 1024.0 / 1024.0;
    let n_segments = f64::from(u32::try_from(n_segments).unwrap_or(u32::MAX));
    let sizes = [("result_mib", mib(results[0].body.len())), ("srt_mib", mib(results[1].body.len()))];
    report.row(how, [vec![("took_s", took), ("segments", n_segments)], sizes.to_vec()].concat());
    let targets = ["api", "worker"].into_iter().zip(targets::MEMORY_OF_HOURS);
    for ((process, before), (name, target)) in processes.into_iter().zip(before).zip(targets) {
        let peak = process.memory_mib().1;
        report.row(
            &format!("{how}, {name}, MiB"),
            vec![("before", before), ("peak", peak), ("more", peak - before)],
        );
        report.figure(format!("a long recording {how}, {name}, memory"), "MiB", peak - before, None, target);
    }
}
