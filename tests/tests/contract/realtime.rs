//! Live transcription over a socket, by the events of OpenAI's Realtime API.

use akhar_tests::{
    Form, Stack,
    events::Events,
    http::send,
    realtime::{COMPLETED, INTENT, Socket, pcm, texts},
    speech::{RATE, recording},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{
    Error, Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

/// PCM at 16 kHz.
fn pcm16() -> Value {
    json!({"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}})
}

/// A sentence and a pause that ends it.
fn sentence() -> Vec<u8> {
    pcm(&[recording("pa-school.wav").samples(), vec![0; RATE]].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_says_what_the_file_says_and_is_a_job() {
    let stack = Stack::start().await;
    let mut socket = Socket::open(&stack, INTENT).await;
    let session = socket.update(pcm16()).await;
    assert_eq!(session["audio"]["input"]["turn_detection"]["silence_duration_ms"], 500, "{session}");
    socket.append(&sentence()).await;
    let completed = socket.until(COMPLETED).await;
    let kinds: Vec<&str> = socket.events.iter().filter_map(|event| event["type"].as_str()).collect();
    let at = |kind: &str| {
        kinds.iter().position(|found| *found == kind).unwrap_or_else(|| panic!("{kind}: {kinds:?}"))
    };
    assert!(at("input_audio_buffer.speech_started") < at("input_audio_buffer.speech_stopped"));
    assert!(at("input_audio_buffer.speech_stopped") < at("input_audio_buffer.committed"));
    assert!(at("conversation.item.added") < at(COMPLETED));
    let recording = recording("pa-school.wav").bytes;
    let file = send(stack.post("speech-recognition", &Form::upload(&recording))).await.json();
    assert_eq!(completed["transcript"], file["transcription"]);
    assert_eq!(completed["languages"], json!([{"code": "pa"}]));
    assert_eq!(completed["usage"]["type"], "duration");
    assert!(completed["words"].as_array().unwrap().len() >= 3, "{completed}");
    assert_eq!(socket.finish().await, 1000);
    let ids: Vec<&str> = socket.events.iter().filter_map(|event| event["event_id"].as_str()).collect();
    assert_eq!(ids.iter().collect::<std::collections::HashSet<_>>().len(), ids.len(), "{ids:?}");
    let job = stack.get(&format!("/v1/jobs/{}", socket.job())).await.json();
    assert_eq!((&job["operation"], &job["state"]), (&json!("live-transcription"), &json!("succeeded")));
    assert_eq!(job["result"]["transcription"], file["transcription"], "{job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_follows_the_job_of_a_session_reads_along() {
    let mut stack = Stack::start().await;
    let mut socket = Socket::open(&stack, INTENT).await;
    socket.update(pcm16()).await;
    socket.append(&sentence()).await;
    let said = socket.until(COMPLETED).await;
    let path = format!("/v1/jobs/{}/events", socket.job());
    let mut events = Events::open(stack.request("GET", &path), None).await;
    let mut segment = async |id: &str| loop {
        let event = events.next().await.expect("a segment");
        if event.name == "segment" && event.id == id {
            return event.data["transcription"].clone();
        }
    };
    assert_eq!(segment("1.1").await, said["transcript"]);
    stack.workers[0].kill().await;
    stack.add_worker().await;
    socket.append(&sentence()).await;
    let further = socket.until(COMPLETED).await;
    assert_eq!(segment("2.1").await, said["transcript"], "the second attempt says all of it");
    assert_eq!(segment("2.2").await, further["transcript"]);
    assert_eq!(socket.finish().await, 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_before_get_the_former_names() {
    let stack = Stack::start().await;
    let headers =
        [("authorization", format!("Bearer {}", stack.key)), ("openai-beta", "realtime=v1".to_owned())];
    let mut socket = Socket::open_with(&stack.base, INTENT, &headers).await;
    assert_eq!(socket.events[0]["type"], "transcription_session.created");
    let session = json!({"input_audio_format": "g711_ulaw", "input_audio_transcription": {"model": "whisper-1", "language": "pa"}});
    socket.send(json!({"type": "transcription_session.update", "session": session})).await;
    let updated = socket.until("transcription_session.updated").await;
    assert_eq!(updated["session"]["input_audio_format"], "g711_ulaw", "{updated}");
    let samples = recording("pa-school.wav").samples();
    let mulaw: Vec<u8> = samples.iter().step_by(2).map(|sample| mulaw(*sample)).collect();
    socket.append(&[mulaw, vec![0xff; 8000]].concat()).await;
    socket.until("conversation.item.created").await;
    let completed = socket.until(COMPLETED).await;
    assert!(!completed["transcript"].as_str().unwrap().is_empty());
}

/// G.711 µ-law of a sample.
fn mulaw(sample: i16) -> u8 {
    let magnitude = i32::from(sample).abs().min(32_635) + 132;
    let exponent = 31 - magnitude.leading_zeros() - 7;
    let mantissa = (magnitude >> (exponent + 3)) & 15;
    let sign = if sample < 0 { 0x80 } else { 0 };
    !(sign | u8::try_from(exponent << 4).unwrap() | u8::try_from(mantissa).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_opens_sockets_and_nothing_else() {
    let mut stack = Stack::start().await;
    let session =
        json!({"type": "transcription", "audio": {"input": {"transcription": {"model": "speech-en"}}}});
    let body = json!({"session": session, "expires_after": {"anchor": "created_at", "seconds": 60}});
    let made = send(stack.request("POST", "/v1/realtime/client_secrets").json(&body)).await.json();
    let secret = made["value"].as_str().unwrap().to_owned();
    let in_browser = [("sec-websocket-protocol", format!("realtime, openai-insecure-api-key.{secret}"))];
    let socket = Socket::open_with(&stack.base, INTENT, &in_browser).await;
    let model = &socket.events[0]["session"]["audio"]["input"]["transcription"]["model"];
    assert_eq!(model, "speech-en", "the secret has the session");
    let by_header = Socket::open_at(&stack.base, &secret, &format!("{INTENT}&model=whisper-1")).await;
    assert_eq!(by_header.events[0]["type"], "session.created");
    assert_eq!(by_header.events[0]["session"]["audio"]["input"]["transcription"]["model"], "speech-en");
    let token = secret.split('.').next().unwrap();
    stack.refused(stack.anonymous("GET", "/v1/jobs").bearer_auth(token), 403).await;
    let upload = Form::upload(&recording("pa-school.wav").bytes);
    stack
        .refused(
            upload.send_with(stack.anonymous("POST", "/v1/models/speech-recognition").bearer_auth(token)),
            403,
        )
        .await;
    let former = json!({"input_audio_format": "pcm16", "input_audio_transcription": {"model": "gpt-4o-transcribe", "language": "pa"}});
    let made = send(stack.request("POST", "/v1/realtime/transcription_sessions").json(&former)).await.json();
    let socket = Socket::open_at(&stack.base, made["client_secret"]["value"].as_str().unwrap(), INTENT).await;
    assert_eq!(socket.events[0]["type"], "transcription_session.created");
    for (path, body, field) in [
        ("client_secrets", json!({"expires_after": {"seconds": 5}}), "expires_after.seconds"),
        ("client_secrets", json!({"session": {"type": "realtime"}}), "session.type"),
        ("client_secrets", json!({"session": "speech-pa"}), "session"),
        ("transcription_sessions", json!({"input_audio_format": "mp3"}), "session.input_audio_format"),
    ] {
        let request = stack.request("POST", &format!("/v1/realtime/{path}")).json(&body);
        let problem = stack.refused(request, 400).await;
        assert_eq!(problem.json["error"]["param"], field, "{}", problem.json);
    }
    stack.api.signal(Signal::TERM);
    stack.api.ended().await;
    let log = stack.api.log().join("\n");
    assert!(!log.contains(token) && !log.contains(&stack.key), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_an_event_is_said_and_the_session_goes_on() {
    let stack = Stack::start().await;
    let mut socket = Socket::open(&stack, INTENT).await;
    let append =
        |audio: &str| json!({"type": "input_audio_buffer.append", "audio": audio, "event_id": "mine"});
    let update = |input: Value| json!({"type": "session.update", "event_id": "mine", "session": {"audio": {"input": input}}});
    let format = || update(json!({"format": {"type": "audio/pcmu"}}));
    for (event, param, code) in [
        (json!({"type": "response.create", "event_id": "mine"}), "type", "not_a_choice"),
        (append("no base64!"), "audio", "wrong_type"),
        (json!({"type": "input_audio_buffer.commit", "event_id": "mine"}), "audio", "empty"),
        (
            update(json!({"turn_detection": {"threshold": 7}})),
            "session.audio.input.turn_detection.threshold",
            "out_of_range",
        ),
    ] {
        socket.send(event).await;
        let error = socket.until("error").await["error"].clone();
        assert_eq!(
            (&error["param"], &error["code"], &error["event_id"]),
            (&json!(param), &json!(code), &json!("mine")),
            "{error}"
        );
    }
    for wrong in [Message::Binary(vec![0].into()), Message::Text("A".repeat(512 * 1024 + 1).into())] {
        socket.send_message(wrong).await;
        assert_eq!(socket.until("error").await["error"]["param"], "event");
    }
    socket.send(json!({"type": "input_audio_buffer.clear"})).await;
    socket.until("input_audio_buffer.cleared").await;
    socket.update(pcm16()).await;
    socket.append(&sentence()).await;
    socket.send(format()).await;
    assert_eq!(socket.until("error").await["error"]["param"], "session.audio.input.format");
    socket.until(COMPLETED).await;
    assert_eq!(socket.finish().await, 1000);
    let mut socket = Socket::open(&stack, INTENT).await;
    socket.send_message(Message::Frame(Frame::message(vec![0xff], OpCode::Data(Data::Text), true))).await;
    assert_eq!(socket.until("error").await["error"]["type"], "invalid_request_error");
    assert_eq!(socket.closed().await, 1007);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_ends_answers_pings_and_takes_nothing_more() {
    let stack = Stack::start().await;
    let mut socket = Socket::open(&stack, INTENT).await;
    socket.update(pcm16()).await;
    socket.append(&sentence()).await;
    socket.send(json!({"type": "input_audio_buffer.commit", "final": true})).await;
    socket.append(&sentence()).await;
    socket.send_message(Message::Ping(vec![1].into())).await;
    assert_eq!(socket.closed().await, 1000);
    assert_eq!(socket.texts().len(), 1, "{:?}", socket.events);
    assert!(socket.events.iter().any(|event| event["type"] == "pong"), "{:?}", socket.events);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_that_is_wrong_is_refused() {
    let stack = Stack::start().await;
    let problem = stack.refused(stack.request("GET", "/v1/realtime?intent=transcription"), 400).await;
    assert_eq!(problem.json["error"]["param"], "Upgrade", "{}", problem.json);
    let bearer = |key: &str| [("authorization", format!("Bearer {key}"))];
    let refused = async |what: &str, key: &str| match Socket::handshake(
        &format!("{}/v1/realtime{what}", stack.base),
        &bearer(key),
    )
    .await
    {
        Err(Error::Http(response)) => {
            let body: Value = serde_json::from_slice(response.body().as_ref().unwrap()).unwrap();
            (response.status().as_u16(), body["error"]["param"].as_str().unwrap_or_default().to_owned())
        }
        other => panic!("{other:?}"),
    };
    for (query, status, param) in [
        ("", 400, "intent"),
        ("intent=conversation", 400, "intent"),
        ("intent=transcription&model=llama", 400, "model"),
        ("intent=transcription&language=pa", 400, "language"),
        ("intent=transcription&session=x", 400, "session"),
        ("intent=transcription&session=sess_019d0f6e8e527d0ca4f55b2b3f6d3c11", 404, ""),
    ] {
        let refused = refused(&format!("?{query}"), &stack.key).await;
        assert_eq!(refused, (status, param.to_owned()), "{query}");
    }
    assert_eq!(refused(&format!("?{INTENT}"), "ak_x").await.0, 401);
    let digits =
        send(stack.post("digit-recognition", &Form::upload(&akhar_tests::images::fixture_of("੫").bytes)))
            .await;
    let of_other = format!("?{INTENT}&session=sess_{}", digits.header("akhar-job").replace('-', ""));
    assert_eq!(refused(&of_other, &stack.key).await.0, 404, "no session");
    let mut socket = Socket::open(&stack, INTENT).await;
    socket.update(pcm16()).await;
    socket.append(&sentence()).await;
    socket.until(COMPLETED).await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    let session = format!("?{INTENT}&session={}", socket.session_id());
    assert_eq!(refused(&session, &other).await.0, 404, "another account's");
    let of_kind = format!("/translations?model=gpt-realtime-translate&session={}", socket.session_id());
    assert_eq!(refused(&of_kind, &stack.key).await.0, 404, "of the other kind");
    let later = refused(&format!("{session}&starting_after=event_99_0"), &stack.key).await;
    assert_eq!(later, (400, "starting_after".to_owned()), "no event of the session");
    assert_eq!(socket.finish().await, 1000, "nothing has taken the session over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_key_and_with_its_api_but_not_with_its_secret() {
    let mut stack = Stack::start().await;
    let key = stack.keys(&["create", "--name", "caller"]).await;
    let secret = async |key: &str| {
        let request = stack.anonymous("POST", "/v1/realtime/client_secrets").bearer_auth(key);
        send(request.json(&json!({}))).await.json()["value"].as_str().unwrap().to_owned()
    };
    let of_key = Socket::open_at(&stack.base, &key, INTENT).await;
    let of_secret = Socket::open_at(&stack.base, &secret(&key).await, INTENT).await;
    let mut other = Socket::open_at(&stack.base, &secret(&stack.key).await, INTENT).await;
    let expire = "update tokens set expires_at = now() - interval '1 second'";
    sqlx::query(expire).execute(&stack.db).await.unwrap();
    stack.keys(&["revoke", &key[3..11]]).await; // all keys are looked up again
    for mut socket in [of_key, of_secret] {
        assert_eq!(socket.until("error").await["error"]["type"], "authentication_error");
        assert_eq!(socket.closed().await, 1008);
    }
    other.update(pcm16()).await;
    other.append(&sentence()).await;
    other.until(COMPLETED).await;
    stack.api.signal(Signal::TERM);
    assert_eq!(other.until("error").await["error"]["code"], "draining");
    assert_eq!(other.closed().await, 1012);
    assert!(stack.api.ended().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_taken_up_again_where_its_connection_broke() {
    let mut stack = Stack::start().await;
    let sound = [sentence(), sentence(), sentence()].concat();
    let mut whole = Socket::open(&stack, INTENT).await;
    whole.update(pcm16()).await;
    whole.append(&sound).await;
    whole.finish().await;

    let mut socket = Socket::open(&stack, INTENT).await;
    let include = json!({"include": ["akhar.stored"], "audio": pcm16()["audio"]});
    socket.update(include.clone()).await;
    socket.append(&sound[..sound.len() / 2]).await;
    socket.until(COMPLETED).await;
    stack.restart_api().await;
    let mut further = socket.resume(&stack.base, &stack.key).await;
    assert_eq!(further.session_id(), socket.session_id());
    assert_eq!(further.events[0]["session"]["audio"]["input"]["format"]["rate"], 16_000);
    let stored_ms = further.until("akhar.stored").await["audio_end_ms"].as_u64().unwrap();
    let n_stored = usize::try_from(stored_ms).unwrap() * 32;
    assert!(n_stored > 0 && n_stored <= sound.len() / 2, "{n_stored} of {}", sound.len() / 2);
    further.append(&sound[n_stored..]).await;
    assert_eq!(further.finish().await, 1000);
    let events = [socket.events, further.events].concat();
    assert_eq!(texts(&events), whole.texts());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_taken_up_again_becomes_what_its_client_says_then() {
    let stack = Stack::start().await;
    let mut socket = Socket::open(&stack, INTENT).await;
    let script = |script: &str| json!({"audio": {"input": {"transcription": {"script": script}}}, "include": ["akhar.stored"]});
    socket.update(pcm16()).await;
    socket.update(script("gurmukhi")).await;
    socket.append(&sentence()).await;
    let first = socket.until(COMPLETED).await;
    socket.update(script("latin")).await;
    socket.append(&sentence()).await;
    let second = socket.until(COMPLETED).await;
    assert_ne!(first["transcript"], second["transcript"]);
    let mut further = socket.resume(&stack.base, &stack.key).await;
    let begun = &further.events[0]["session"];
    assert_eq!(begun["include"], json!(["akhar.stored"]), "{begun}");
    further.update(script("gurmukhi")).await;
    further.append(&sentence()).await;
    assert_eq!(further.until(COMPLETED).await["transcript"], first["transcript"]);
    assert_eq!(further.finish().await, 1000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_quota_is_used_up_gets_the_text_so_far() {
    let stack = Stack::start().await;
    let key = stack.keys(&["create", "--name", "caller", "--audio-minutes", "1"]).await;
    let mut socket = Socket::open_at(&stack.base, &key, INTENT).await;
    socket.update(pcm16()).await;
    socket.append(&sentence()).await;
    socket.until(COMPLETED).await;
    let silence = pcm(&vec![0; 61 * RATE]);
    socket.append(&silence).await;
    let error = socket.until("error").await;
    assert_eq!(error["error"]["type"], "rate_limit_error", "{error}");
    assert_eq!(socket.closed().await, 1008);
    let job = stack.get(&format!("/v1/jobs/{}", socket.job())).await;
    assert_eq!(job.status, 404, "it is of the other account");
    stack.job_is(socket.job(), "succeeded").await;
    let mut refused = Socket::open_at(&stack.base, &key, INTENT).await;
    refused.append(&sentence()).await;
    assert_eq!(refused.until("error").await["error"]["type"], "rate_limit_error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_another_one_replaces_stores_nothing_more() {
    let stack = Stack::start().await;
    let mut socket = Socket::open(&stack, INTENT).await;
    socket.update(pcm16()).await;
    socket.append(&sentence()).await;
    socket.until(COMPLETED).await;
    let mut other = Socket::open(&stack, &format!("{INTENT}&session={}", socket.session_id())).await;
    socket.append(&sentence()).await;
    assert_eq!(socket.closed().await, 1008);
    assert_eq!(other.finish().await, 1000);
    assert_eq!((other.texts().len(), other.texts()), (1, socket.texts()));
}
