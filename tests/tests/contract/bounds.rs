//! The bounds of one process: memory for uploads, heads of parts, connections of one address.

use akhar_tests::{
    Form, Stack,
    http::{connect, head, send, to_end},
    monitor::{metrics, value},
    realtime::{INTENT, Socket},
    until,
};
use tokio::io::AsyncReadExt as _;
use tokio_tungstenite::tungstenite::Error;

use crate::operations;

const SPEECH: &str = "speech-recognition";

#[tokio::test]
async fn recordings_that_fill_the_memory_for_uploads_do_not_keep_images_out() {
    let stack = Stack::with().set("AKHAR_MAX_UPLOAD_BYTES", 4_000_000).start().await;
    let image = &operations()[0];
    // It has no accepted type, so it is answered with 415 as long as there is memory for it.
    let large = Form::upload(&vec![b'x'; 2_000_000]);
    let path = format!("/v1/models/{SPEECH}");
    let length = large.body().len().to_string();
    let headers = [("Content-Type", &*large.content_type()), ("Content-Length", &*length)];
    let arriving = connect(&stack.base, &head("POST", &path, &stack.key, &headers)).await;
    let refused = until("there is no memory left", async || {
        let answer = send(stack.post(SPEECH, &large)).await;
        (answer.status != 415).then_some(answer)
    })
    .await;
    assert_eq!(refused.problem(429).slug, "account-busy");
    assert!(refused.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds > 0));
    assert_eq!(stack.recognise(image.operation, &image.bytes).await.predictions()[0].0, image.label);
    drop(arriving);
    until("the memory is free again", async || {
        (send(stack.post(SPEECH, &large)).await.status == 415).then_some(())
    })
    .await;
}

#[tokio::test]
async fn sockets_do_not_keep_recordings_out() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_UPLOAD_BYTES", 4_000_000).start().await;
    let _socket = Socket::open(&stack, INTENT).await;
    let bearer = [("authorization", format!("Bearer {}", stack.key))];
    let second = Socket::handshake(&format!("{}/v1/realtime?{INTENT}", stack.base), &bearer).await;
    assert!(matches!(second, Err(Error::Http(response)) if response.status() == 429));
    let large = Form::upload(&vec![b'x'; 2_000_000]);
    assert_eq!(send(stack.post(SPEECH, &large)).await.status, 415, "there is memory for it");
}

#[tokio::test]
async fn recordings_of_one_account_leave_memory_for_those_of_others() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_UPLOAD_BYTES", 4_000_000).start().await;
    let other = stack.keys(&["create", "--name", "other"]).await;
    // It has no accepted type, so it is answered with 415 as long as there is memory for it.
    let (large, small) = (Form::upload(&vec![b'x'; 1_400_000]), Form::upload(&vec![b'x'; 700_000]));
    let path = format!("/v1/models/{SPEECH}");
    let length = large.body().len().to_string();
    let headers = [("Content-Type", &*large.content_type()), ("Content-Length", &*length)];
    let _arriving = connect(&stack.base, &head("POST", &path, &stack.key, &headers)).await;
    until("the account has no memory left", async || {
        (send(stack.post(SPEECH, &large)).await.status == 429).then_some(())
    })
    .await;
    assert_eq!(send(stack.post(SPEECH, &small)).await.status, 415, "it fits beside the large one");
    assert_eq!(
        send(stack.post_as(&other, SPEECH, &large)).await.status,
        415,
        "another account has its own part"
    );
}

/// The head of a request whose body arrives in chunks, and the chunk of these bytes.
fn chunked(stack: &Stack, bytes: &str) -> Vec<u8> {
    let headers = [
        ("Content-Type", "multipart/form-data; boundary=b"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "close"),
    ];
    let head = head("POST", "/v1/audio/transcriptions", &stack.key, &headers);
    [head, format!("{:x}\r\n{bytes}\r\n", bytes.len()).into_bytes()].concat()
}

#[tokio::test]
async fn a_body_of_unknown_length_takes_memory_as_long_as_it_arrives() {
    let stack = Stack::with().workers(0).with_metrics().start().await;
    let takes = async |n_bodies: f64| {
        until("as many bodies as are open take memory", async || {
            let taken = value(&metrics(&stack.api).await, "akhar_upload_memory_bytes", &[])?;
            ((taken - n_bodies * f64::from(64 * 1024 + 8 * 1024)).abs() < 1.0).then_some(())
        })
        .await;
    };
    let mut arriving = Vec::new();
    for _ in 0..5 {
        arriving.push(connect(&stack.base, &chunked(&stack, "--b\r\nX: y")).await);
    }
    takes(5.0).await;
    arriving.truncate(3);
    takes(3.0).await;
}

#[tokio::test]
async fn a_head_of_a_part_that_does_not_end_is_refused() {
    let stack = Stack::with().workers(0).start().await;
    let filler = "f".repeat(100_000);
    for start in ["", "--b\r\nX: ", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n--b "] {
        let body = [&*chunked(&stack, &format!("{start}{filler}")), b"0\r\n\r\n"].concat();
        let answer = to_end(connect(&stack.base, &body).await).await;
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("8192 bytes"), "{start}: {answer}");
    }
}

#[tokio::test]
async fn connections_of_one_address_are_limited() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_CONNECTIONS", 4).start().await;
    let request = b"GET /health/live HTTP/1.1\r\nHost: akhar\r\n\r\n";
    let mut open = Vec::new();
    let mut answer = [0; 12];
    for _ in 0..2 {
        let mut connection = connect(&stack.base, request).await;
        connection.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        open.push(connection);
    }
    let mut third = connect(&stack.base, b"").await;
    assert_eq!(third.read(&mut answer).await.expect("an end"), 0, "it is closed");
    drop(open);
    until("there is a place again", async || {
        let mut connection = connect(&stack.base, request).await;
        connection.read_exact(&mut answer).await.ok()
    })
    .await;
}
