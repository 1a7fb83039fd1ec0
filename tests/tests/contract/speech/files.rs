//! The recording: its size at the edge, its first bytes, and files that hold no sound.

use akhar_tests::{
    Form, Stack,
    http::send,
    speech::{error_percent, recording, silence, wav},
};

use super::{OPERATION, heard, transcription};
use crate::violations;

const MAX_BYTES: usize = 2 * 1024 * 1024;

#[tokio::test]
async fn a_file_has_2_mib_and_not_one_byte_more() {
    let stack = Stack::start().await;
    let mut samples = recording("pa-school.wav").samples();
    samples.resize((MAX_BYTES - 44) / 2, 0);
    let mut file = wav(&samples);
    assert_eq!(file.len(), MAX_BYTES);
    assert!(!transcription(&stack, &file).await.is_empty());
    file.push(0);
    let problem = stack.refused(stack.post(OPERATION, &Form::upload(&file)), 413).await;
    assert_eq!(problem.errors(), violations([("file", "too_large")]));
    assert!(problem.details().contains("2097152"), "names the bound: {}", problem.json);
}

#[tokio::test]
async fn first_bytes_decide_what_a_file_is() {
    let stack = Stack::start().await;
    let others: [&[u8]; 5] =
        [b"OggS\0\x02", b"fLaC\0\0\0\x22", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0AVI LIST", b"text"];
    for other in others {
        let problem = stack.refused(stack.post(OPERATION, &Form::upload(other)), 415).await;
        assert_eq!(problem.errors().into_iter().map(|(field, _)| field).collect::<Vec<_>>(), ["file"]);
    }
    // A wav file that says it is an mp3 is a wav file.
    let file = recording("pa-school.wav").bytes;
    let head = "name=\"file\"; filename=\"a.mp3\"\r\nContent-Type: audio/mpeg";
    let renamed = heard(&stack, &Form::default().part(head, &file)).await;
    assert_eq!(renamed["transcription"], transcription(&stack, &file).await);
}

#[tokio::test]
async fn what_holds_no_sound_is_the_callers_to_mend() {
    let stack = Stack::start().await;
    let file = recording("pa-school.wav").bytes;
    let cases: [(&str, Vec<u8>); 3] = [
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
async fn what_is_left_of_a_truncated_file_is_transcribed_and_the_loss_reported() {
    let stack = Stack::start().await;
    let two = recording("pa-two-sentences.wav");
    let (_, end, first) = &two.said[0];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few seconds of samples")]
    let kept = 44 + 2 * ((end + 0.5) * 16_000.0) as usize;
    let form = Form::upload(&two.bytes[..kept]);
    let id = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!(job["state"], "succeeded", "{job}");
    let heard = job["result"]["transcription"].as_str().expect("a text");
    assert!(error_percent(first, heard) <= 30, "{heard}");
    let warnings = job["warnings"].as_array().unwrap_or_else(|| panic!("no warnings: {job}"));
    assert!(!warnings.is_empty(), "{job}");
    let whole = Form::upload(&wav(&silence(1)));
    let id = send(stack.post(OPERATION, &whole).header("prefer", "respond-async")).await.job();
    let job = stack.get(&format!("/v1/jobs/{id}?wait=30")).await.json();
    assert_eq!(job.get("warnings"), None, "nothing odd, nothing said: {job}");
}
