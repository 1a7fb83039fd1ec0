//! Live translation over a socket, by the events of OpenAI's Realtime API.

use akhar_tests::{
    Form, Stack,
    http::send,
    realtime::{INTENT, Socket, pcm},
    speech::recording,
};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Error;

#[tokio::test(flavor = "multi_thread")]
async fn a_translation_says_what_the_file_of_its_sound_says_in_the_other_language() {
    let stack = Stack::start().await;
    let session = json!({"model": "gpt-realtime-translate", "audio": {
        "input": {"transcription": {"model": "gpt-live-transcribe"}}, "output": {"language": "en"}}});
    let request = stack.request("POST", "/v1/realtime/translations/client_secrets");
    let made = send(request.json(&json!({"session": session}))).await.json();
    let secret = made["value"].as_str().unwrap();
    let bearer = [("authorization", format!("Bearer {secret}"))];
    let mut socket =
        Socket::open_as("/translations", &stack.base, "model=gpt-realtime-translate", &bearer).await;
    let created = &socket.events[0]["session"];
    assert_eq!(created["output_modalities"], json!(["text"]), "{created}");
    assert_eq!(created["audio"]["output"]["language"], "en");
    let samples = recording("pa-school.wav").samples();
    // Linear interpolation from 16 to 24 kHz.
    let at = |k: usize| i32::from(samples.get(k).copied().unwrap_or(0));
    let upsampled = (0..samples.len() * 3 / 2).map(|n| {
        let (k, part) = (n * 2 / 3, i32::try_from(n * 2 % 3).unwrap());
        i16::try_from((at(k) * (3 - part) + at(k + 1) * part) / 3).unwrap()
    });
    let sound = pcm(&upsampled.chain(vec![0; 24_000]).collect::<Vec<_>>());
    for piece in [&sound[..], &sound] {
        let audio = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, piece);
        socket.send(json!({"type": "session.input_audio_buffer.append", "audio": audio})).await;
    }
    socket.send(json!({"type": "session.close"})).await;
    assert_eq!(socket.closed().await, 1000);
    let deltas = |kind: &str| -> (String, Vec<u64>) {
        let deltas = socket.events.iter().filter(|event| event["type"] == kind);
        deltas.map(|event| (event["delta"].as_str().unwrap(), event["elapsed_ms"].as_u64().unwrap())).unzip()
    };
    let form = Form::upload_and(&recording("pa-school.wav").bytes, "with-translation", "true");
    let file = send(stack.post("speech-recognition", &form)).await.json();
    let twice = |text: &Value| format!("{0} {0}", text.as_str().unwrap());
    let (spoken, _) = deltas("session.input_transcript.delta");
    let (translated, elapsed) = deltas("session.output_transcript.delta");
    assert_eq!((spoken, translated), (twice(&file["transcription"]), twice(&file["translation"])));
    let length_ms = u64::try_from(sound.len() / 48).unwrap();
    assert!(elapsed.iter().all(|ms| ms % 200 == 0), "{elapsed:?}");
    assert!(
        elapsed.is_sorted() && elapsed.last().unwrap().abs_diff(2 * length_ms - 1000) <= 400,
        "{elapsed:?}"
    );
    assert_eq!(socket.events[socket.events.len() - 2]["type"], "session.closed");
    let wrong = Socket::handshake(&format!("{}/v1/realtime?{INTENT}", stack.base), &bearer).await;
    assert!(matches!(wrong, Err(Error::Http(response)) if response.status() == 403));
}
