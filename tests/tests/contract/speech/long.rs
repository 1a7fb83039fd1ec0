//! Long recordings: every sentence is transcribed once, and the memory does not grow, and goes back.

use akhar_tests::{
    Form, Stack,
    http::send,
    speech::{RATE, error_percent, recording, wav},
    until,
};

use serde_json::Value;
use uuid::Uuid;

use super::{OPERATION, transcribe, transcription};

/// The allowed growth of the worker's memory: more than a window needs, and less than the samples of a long
/// recording need as floats.
const GROWTH_KIB: u64 = 50 * 1024;

/// The memory that may be left of a long recording. ONNX Runtime and glibc would keep about 80 MiB of this one.
const LEFT_KIB: u64 = 25 * 1024;

/// The samples repeated once for each pause, with these pauses after them, in hundredths of a second.
fn repeated(samples: &[i16], pauses: &[usize]) -> Vec<i16> {
    pauses.iter().flat_map(|pause| [samples.to_vec(), vec![0; pause * RATE / 100]]).flatten().collect()
}

#[tokio::test]
async fn every_sentence_of_a_long_recording_is_transcribed_once() {
    let stack = Stack::start().await;
    let samples = recording("pa-school.wav").samples();
    let once = transcription(&stack, &wav(&samples)).await;
    // Windows are cut at pauses, and overlap where there are none.
    for pauses in [[0; 20], [40; 20], [5; 20]] {
        let text = transcription(&stack, &wav(&repeated(&samples, &pauses))).await;
        let expected = vec![once.as_str(); pauses.len()].join(" ");
        let errors = error_percent(&expected, &text);
        assert!(errors <= 12, "pauses of {}0 ms: {errors} %: {text}", pauses[0]);
    }
}

#[tokio::test]
async fn a_long_recording_needs_no_more_memory_than_a_short_one() {
    let stack = Stack::start().await;
    // The frames of an mp3 file can be repeated as they are. At 32 kb/s, 240 copies of this file fit into 2
    // MiB.
    let mp3 = recording("pa-water.mp3").bytes;
    let once = transcribe(&stack, &Form::upload(&mp3.repeat(12))).await;
    let (_, before) = stack.workers[0].memory_kib();
    let form = Form::upload(&mp3.repeat(240)).text("with-timestamps", "true");
    let id = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = ended(&stack, id).await;
    assert_eq!(job["state"], "succeeded", "{job}");
    let (_, after) = stack.workers[0].memory_kib();
    assert!(after.saturating_sub(before) < GROWTH_KIB, "the worker's peak went from {before} to {after} KiB");
    let n_words =
        |document: &Value| document["transcription"].as_str().map_or(0, |text| text.split(' ').count());
    let (few, many) = (n_words(&once), n_words(&job["result"]));
    assert!((19 * few..=21 * few).contains(&many), "{few} words, and twenty times as long {many}");
    let segments = job["result"]["timestamps"].as_array().expect("asked for");
    let last = segments.last().and_then(|s| s["end"].as_f64()).expect("an end");
    let seconds = job["transcribed_s"].as_f64().unwrap_or_else(|| panic!("no progress: {job}"));
    assert!(last <= seconds && seconds - last < 3.0, "{last} of {seconds} s");
}

#[tokio::test]
async fn the_memory_of_a_long_recording_goes_back_to_the_system() {
    let stack = Stack::start().await;
    let samples = recording("en-weather.wav").samples();
    let english = async |samples: &[i16]| {
        transcribe(&stack, &Form::upload_and(&wav(samples), "lang", "en")).await;
    };
    english(&samples).await;
    let (before, _) = stack.workers[0].memory_kib();
    english(&samples.repeat(60 * RATE / samples.len())).await;
    let is_back = async || (stack.workers[0].memory_kib().0 < before + LEFT_KIB).then_some(());
    until("the memory of the windows and tokens is free", is_back).await;
}

/// The job when it has ended, or after three minutes.
pub(super) async fn ended(stack: &Stack, id: Uuid) -> Value {
    let mut job = Value::Null;
    for _ in 0..6 {
        job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
        if job["ended_at"].is_string() {
            break;
        }
    }
    job
}
