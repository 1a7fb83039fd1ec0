//! The recording: its largest size, its first bytes, and files without sound.

use akhar_tests::{
    Form, Stack,
    http::send,
    speech::{error_percent, recording, silence, wav},
};

use super::{OPERATION, transcribe, transcription};
use crate::violations;

const MAX_BYTES: usize = 2 * 1024 * 1024;

#[tokio::test]
async fn a_file_of_2_mib_is_accepted_and_one_byte_more_is_refused() {
    let stack = Stack::start().await;
    let mut samples = recording("pa-school.wav").samples();
    samples.resize((MAX_BYTES - 44) / 2, 0);
    let mut file = wav(&samples);
    assert_eq!(file.len(), MAX_BYTES);
    assert!(!transcription(&stack, &file).await.is_empty());
    file.push(0);
    let problem = stack.refused(stack.post(OPERATION, &Form::upload(&file)), 413).await;
    assert_eq!(problem.errors(), violations([("file", "too_large")]));
    assert!(problem.details().contains("2097152"), "the detail names the limit: {}", problem.json);
}

#[tokio::test]
async fn the_first_bytes_of_a_file_decide_its_type() {
    let stack = Stack::start().await;
    let others: [&[u8]; 5] =
        [b"OggS\0\x02", b"fLaC\0\0\0\x22", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0AVI LIST", b"text"];
    for other in others {
        let problem = stack.refused(stack.post(OPERATION, &Form::upload(other)), 415).await;
        assert_eq!(problem.errors().into_iter().map(|(field, _)| field).collect::<Vec<_>>(), ["file"]);
    }
    // A wav file with the name and the type of an mp3 is read as a wav file.
    let file = recording("pa-school.wav").bytes;
    let head = "name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg";
    let renamed = transcribe(&stack, &Form::default().part(head, &file)).await;
    assert_eq!(renamed["transcription"], transcription(&stack, &file).await);
}

#[tokio::test]
async fn files_without_sound_are_refused_with_422() {
    let stack = Stack::start().await;
    let file = recording("pa-school.wav").bytes;
    let mut not_a_number = wav(&vec![-1; 32_000]);
    not_a_number[20] = 3; // 32-bit floats, all of whose bits are set
    not_a_number[32] = 4;
    not_a_number[34] = 32;
    let cases: [(&str, Vec<u8>); 4] = [
        ("no finite sample", not_a_number),
        ("a header and no samples", wav(&[])),
        ("half a header", file[..20].to_vec()),
        ("an mp3 frame's head", b"\xff\xfb\x90\x64".to_vec()),
    ];
    for (what, file) in cases {
        let problem = stack.refused(stack.post(OPERATION, &Form::upload(&file)), 422).await;
        let fields: Vec<String> = problem.errors().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["file"], "{what}: {}", problem.json);
    }
    let problem = stack.refused(stack.post(OPERATION, &Form::upload(b"")), 422).await;
    assert_eq!(problem.errors(), violations([("file", "empty")]));
}

#[tokio::test]
async fn an_mp3_that_begins_in_the_middle_of_a_frame_is_transcribed() {
    let stack = Stack::start().await;
    let water = recording("pa-water.mp3");
    let cut = transcription(&stack, &water.bytes[water.bytes.len() / 50..]).await;
    assert!(error_percent(&water.text(), &cut) <= 30, "{cut}");
}

#[tokio::test]
async fn a_truncated_file_is_transcribed_up_to_its_end_with_a_warning() {
    let stack = Stack::start().await;
    let two = recording("pa-two-sentences.wav");
    let (_, end, first) = &two.said[0];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few seconds of samples")]
    let kept = 44 + 2 * ((end + 0.5) * 16_000.0) as usize;
    let form = Form::upload(&two.bytes[..kept]);
    let id = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!(job["state"], "succeeded", "{job}");
    let text = job["result"]["transcription"].as_str().expect("a text");
    assert!(error_percent(first, text) <= 30, "{text}");
    let warnings = job["warnings"].as_array().unwrap_or_else(|| panic!("no warnings: {job}"));
    assert!(!warnings.is_empty(), "{job}");
    let whole = Form::upload(&wav(&silence(1)));
    let id = send(stack.post(OPERATION, &whole).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!(job.get("warnings"), None, "a file without problems has no warnings: {job}");
}
