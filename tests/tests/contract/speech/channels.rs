//! The channels of a recording, each by itself: `channels`, and OpenAI's `diarized_json`.

use akhar_tests::{
    Form, Stack,
    bulk::Folders,
    events::Events,
    http::send,
    process::run,
    speech::{recording, wav},
};
use serde_json::{Value, json};

use super::OPERATION;
use crate::violations;

/// What two people say: the second one while the first one pauses.
fn speakers() -> [Vec<i16>; 2] {
    let first = recording("pa-two-sentences.wav").samples();
    let second = [vec![0; 36_000], recording("pa-sister.wav").samples()].concat();
    let n = first.len().max(second.len());
    [first, second].map(|mut samples| {
        samples.resize(n, 0);
        samples
    })
}

/// A wav file with two channels at 16 kHz.
fn stereo([left, right]: &[Vec<i16>; 2]) -> Vec<u8> {
    let samples: Vec<i16> = left.iter().zip(right).flat_map(|(left, right)| [*left, *right]).collect();
    let mut file = wav(&samples);
    file[22..24].copy_from_slice(&2_u16.to_le_bytes());
    file[28..32].copy_from_slice(&64_000_u32.to_le_bytes());
    file[32..34].copy_from_slice(&4_u16.to_le_bytes());
    file
}

fn split(file: &[u8]) -> Form {
    Form::upload(file).text("channels", "split").text("with-timestamps", "true").text("with-words", "true")
}

async fn answer(stack: &Stack, form: &Form) -> Value {
    let answer = send(stack.post(OPERATION, form)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The segments of a channel, without its number.
fn of_channel(body: &Value, channel: u8) -> Vec<Value> {
    let segments = body["timestamps"].as_array().expect("segments").iter();
    let own = segments.filter(|segment| segment["channel"] == channel).cloned();
    own.map(|mut segment| {
        segment.as_object_mut().expect("a segment").remove("channel");
        segment
    })
    .collect()
}

#[tokio::test]
async fn each_channel_is_transcribed_as_if_it_were_alone() {
    let stack = Stack::start().await;
    let speakers = speakers();
    let body = answer(&stack, &split(&stereo(&speakers))).await;
    let segments = body["timestamps"].as_array().expect("segments");
    let starts: Vec<f64> = segments.iter().map(|s| s["start"].as_f64().expect("seconds")).collect();
    assert!(starts.is_sorted(), "{body}");
    let texts: Vec<&str> = segments.iter().map(|s| s["transcription"].as_str().expect("a text")).collect();
    assert_eq!(body["transcription"], texts.join(" "));
    for (channel, samples) in (1..).zip(&speakers) {
        let alone = Form::upload(&wav(samples)).text("with-timestamps", "true").text("with-words", "true");
        let alone = answer(&stack, &alone).await;
        assert_eq!(Value::from(of_channel(&body, channel)), alone["timestamps"]);
    }
}

#[tokio::test]
async fn texts_and_subtitles_name_the_channels() {
    let stack = Stack::start().await;
    let file = stereo(&speakers());
    let accepted = async |media_type: &str| {
        let form = split(&file).text("format", "spoken");
        send(stack.post(OPERATION, &form).header("accept", media_type)).await.text()
    };
    let body = answer(&stack, &split(&file)).await;
    let named: Vec<String> = body["timestamps"]
        .as_array()
        .expect("segments")
        .iter()
        .map(|s| format!("Channel {}: {}", s["channel"], s["transcription"].as_str().expect("a text")))
        .collect();
    assert_eq!(accepted("text/plain").await, named.join("\n"));
    let subtitles = accepted("application/x-subrip").await;
    assert!(named.iter().all(|text| subtitles.contains(text)), "{subtitles}");

    let folders = Folders::new(stack.folder(), "channels");
    folders.add("call.wav", &file);
    let arguments = ["--format", "json,txt", "--channels", "split"];
    let (code, out, log) = run(folders.command(&stack, &arguments)).await;
    assert_eq!(code, Some(0), "{out}{log}");
    assert_eq!(folders.text("call.txt"), format!("{}\n", named.join("\n")));
}

#[tokio::test]
async fn a_mono_recording_is_one_channel() {
    let stack = Stack::start().await;
    let file = recording("pa-sister.wav").bytes;
    let plain = Form::upload(&file).text("with-timestamps", "true").text("with-words", "true");
    let plain = answer(&stack, &plain).await;
    let body = answer(&stack, &split(&file)).await;
    assert_eq!(Value::from(of_channel(&body, 1)), plain["timestamps"]);
    assert_eq!(body["transcription"], plain["transcription"]);
    let refused = Form::upload(&file).text("channels", "stereo");
    let refused = stack.refused(stack.post(OPERATION, &refused), 422).await;
    assert_eq!(refused.errors(), violations([("channels", "not_a_choice")]));
}

#[tokio::test]
async fn the_speakers_of_openais_format_are_the_channels() {
    let stack = Stack::start().await;
    let file = stereo(&speakers());
    let body = answer(&stack, &split(&file).text("format", "written")).await;
    let form = Form::upload_and(&file, "model", "gpt-4o-transcribe-diarize");
    let form = form.text("response_format", "diarized_json").text("chunking_strategy", "auto");
    let answer = send(form.send_with(stack.request("POST", "/v1/audio/transcriptions"))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let diarized = answer.json();
    assert_eq!([&diarized["task"], &diarized["text"]], [&json!("transcribe"), &body["transcription"]]);
    let segments = body["timestamps"].as_array().expect("segments").iter().enumerate();
    let expected = segments.map(|(nth, s)| {
        let speaker = if s["channel"] == 1 { "A" } else { "B" };
        json!({"type": "transcript.text.segment", "id": format!("seg_{nth}"), "start": s["start"], "end": s["end"],
            "text": s["transcription"], "speaker": speaker})
    });
    assert_eq!(diarized["segments"], expected.collect::<Value>());
}

#[tokio::test]
async fn a_recording_that_ffmpeg_decodes_keeps_its_channels() {
    let stack = Stack::start().await;
    let speakers = speakers();
    let folders = Folders::new(stack.folder(), "channels-of-ffmpeg");
    folders.install_ffmpeg("call", &speakers);
    folders.add("call.amr", b"a recording");
    let arguments = ["--timestamps", "--channels", "split"];
    let (code, out, log) = run(folders.command(&stack, &arguments)).await;
    assert_eq!(code, Some(0), "{out}{log}");
    let document = folders.json("call.json");
    for (channel, samples) in (1..).zip(&speakers) {
        let alone = answer(&stack, &Form::upload(&wav(samples)).text("with-timestamps", "true")).await;
        assert_eq!(Value::from(of_channel(&document, channel)), alone["timestamps"]);
    }

    folders.install_ffmpeg("call", &vec![vec![0; 16_000]; 9]);
    let (code, _, _) =
        run(folders.command(&stack, &["--resume", "--channels", "split", "--timestamps"])).await;
    assert_eq!(code, Some(0), "it is transcribed already");
    folders.add("call-9.amr", b"another recording");
    let (code, _, _) =
        run(folders.command(&stack, &["--resume", "--channels", "split", "--timestamps"])).await;
    assert_eq!(code, Some(1));
    let failures = folders.text("failures.jsonl");
    assert!(
        failures.contains("too_many_channels") && failures.contains("it has 9 channels, expected at most 8"),
        "{failures}"
    );
}

/// A wav file with two channels at 8 kHz and 8 bits, which holds long recordings.
fn small_stereo(channels: &[Vec<i16>; 2]) -> Vec<u8> {
    let [left, right] = channels.each_ref().map(|samples| samples.iter().step_by(2));
    let byte = |sample: &i16| (sample >> 8).to_le_bytes()[0].wrapping_add(128);
    let pairs = left.zip(right).map(|(left, right)| i16::from_le_bytes([byte(left), byte(right)]));
    let mut file = wav(&pairs.collect::<Vec<_>>());
    file[22..24].copy_from_slice(&2_u16.to_le_bytes());
    file[24..28].copy_from_slice(&8_000_u32.to_le_bytes());
    file[28..32].copy_from_slice(&16_000_u32.to_le_bytes());
    file[32..34].copy_from_slice(&2_u16.to_le_bytes());
    file[34..36].copy_from_slice(&8_u16.to_le_bytes());
    file
}

#[tokio::test]
async fn the_segments_of_all_channels_are_sent_in_order_while_they_are_recognised() {
    let mut stack = Stack::start().await;
    let events = async |stack: &Stack, job| {
        let path = format!("/v1/jobs/{job}/events");
        Events::open(stack.request("GET", &path), None).await
    };
    let file = stereo(&speakers().map(|samples| samples.repeat(4)));
    let form = Form::upload(&file).text("channels", "split").text("with-timestamps", "true");
    let job = send(stack.post(OPERATION, &form).header("prefer", "respond-async")).await.job();
    let all = events(&stack, job).await.rest().await;
    let sent: Vec<Value> =
        all.iter().filter(|event| event.name == "segment").map(|event| event.data.clone()).collect();
    let document = stack.get(&format!("/v1/jobs/{job}")).await.json();
    assert_eq!(Value::from(sent), document["result"]["timestamps"]);
    let progress: Vec<f64> = all.iter().filter_map(|event| event.data["transcribed_s"].as_f64()).collect();
    assert!(progress.is_sorted(), "{progress:?}");

    // Far longer than the test, which cancels the job.
    let file = small_stereo(&speakers().map(|samples| samples.repeat(100)));
    let form = Form::upload_and(&file, "model", "speech-pa").text("response_format", "diarized_json");
    let request = form.send_with(stack.request("POST", "/v1/audio/transcriptions"));
    let job = send(request.header("prefer", "respond-async")).await.job();
    let mut stream = events(&stack, job).await;
    for attempt in ["1.", "2."] {
        let mut channels = Vec::new();
        while !(channels.contains(&json!(1)) && channels.contains(&json!(2))) {
            let event = stream.next().await.expect("more events");
            let is_of_attempt = event.name == "segment" && event.id.starts_with(attempt);
            channels.extend(is_of_attempt.then(|| event.data["channel"].clone()));
        }
        // Another worker begins again.
        if attempt == "1." {
            stack.workers[0].kill().await;
            stack.add_worker().await;
        }
    }
    let cancelled = send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    assert_eq!(cancelled.json()["state"], "cancelled", "it was running: {:?}", cancelled.json());
}
