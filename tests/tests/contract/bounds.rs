//! The bounds of one process: memory for uploads, connections of one address.

use akhar_tests::{
    Form, Stack,
    http::{connect, head, send},
    until,
};
use tokio::io::AsyncReadExt as _;

use crate::operations;

const SPEECH: &str = "speech-recognition";

#[tokio::test]
async fn recordings_that_fill_the_memory_for_uploads_do_not_keep_images_out() {
    let stack = Stack::with().set("AKHAR_MAX_UPLOAD_BYTES", 3_000_000).start().await;
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
    assert_eq!(refused.problem(503).slug, "busy");
    assert!(refused.header("retry-after").parse::<u32>().is_ok_and(|seconds| seconds > 0));
    assert_eq!(stack.recognise(image.operation, &image.bytes).await.predictions()[0].0, image.label);
    drop(arriving);
    until("the memory is free again", async || {
        (send(stack.post(SPEECH, &large)).await.status == 415).then_some(())
    })
    .await;
}

#[tokio::test]
async fn connections_of_one_address_are_limited() {
    let stack = Stack::with().workers(0).set("AKHAR_MAX_CONNECTIONS_PER_ADDRESS", 2).start().await;
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
