//! Recordings that would keep a worker busy for ever, or for long, beside those of others.

use std::fs;

use akhar_tests::{
    Form, Process, Stack,
    http::send,
    speech::{long_silence, recording, wav},
    until,
};
use serde_json::Value;

const SPEECH: &str = "speech-recognition";

/// A wav file with these samples in two data chunks.
fn in_two_chunks(first: &[i16], second: &[i16]) -> Vec<u8> {
    let mut file = wav(first);
    file.extend_from_slice(&wav(second)[36..]);
    let n_bytes = u32::try_from(file.len() - 8).expect("a short recording");
    file[4..8].copy_from_slice(&n_bytes.to_le_bytes());
    file
}

async fn transcription(stack: &Stack, key: &str, file: &[u8]) -> Value {
    let answer = send(stack.post_as(key, SPEECH, &Form::upload(file))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["transcription"].clone()
}

/// The threads of a worker that decode recordings.
fn n_decoding(worker: &Process) -> usize {
    let threads = fs::read_dir(format!("/proc/{}/task", worker.id())).expect("a process");
    let names = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "decode").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wav_with_two_data_chunks_is_answered_beside_the_recordings_of_others() {
    let stack = Stack::start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let samples = recording("pa-two-sentences.wav").samples();
    let (first, second) = samples.split_at(samples.len() / 2);
    let file = in_two_chunks(first, second);
    let silent = in_two_chunks(&[0; 32], &[0; 32]);
    let water = recording("pa-water.mp3").bytes;
    let (in_two, of_silence, of_other) = tokio::join!(
        transcription(&stack, &stack.key, &file),
        transcription(&stack, &stack.key, &silent),
        transcription(&stack, &other, &water),
    );
    assert_eq!(in_two, transcription(&stack, &other, &wav(&samples)).await, "all of its sound");
    assert_eq!(of_silence, "");
    assert_eq!(of_other, transcription(&stack, &stack.key, &water).await);
    until("no thread decodes", async || (n_decoding(&stack.workers[0]) == 0).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn decoding_ends_when_its_job_is_cancelled_and_lets_others_decode_meanwhile() {
    let stack = Stack::start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let form =
        Form::upload_and(&long_silence(), "model", "speech-pa").text("response_format", "diarized_json");
    let mut jobs = Vec::new();
    for _ in 0..2 {
        let request = form.send_with(stack.request("POST", "/v1/audio/transcriptions"));
        jobs.push(send(request.header("prefer", "respond-async")).await.job());
    }
    let worker = &stack.workers[0];
    until("both are decoded", async || (n_decoding(worker) == 2).then_some(())).await;
    let water = recording("pa-water.mp3").bytes;
    assert_ne!(transcription(&stack, &other, &water).await, "");
    assert_eq!(n_decoding(worker), 2, "the long ones are not over");
    for job in jobs {
        assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await.status, 200);
    }
    until("no thread decodes", async || (n_decoding(worker) == 0).then_some(())).await;
}
