//! The file of a recognition request: its largest size, its first bytes, and files that are not valid
//! pictures.

use akhar_tests::{
    Form, Stack,
    http::{connect, head, send},
    images::{
        MAX_BYTES, blank, fixture_of, jpeg_claiming_size, padded_jpeg, padded_png, plain, plain_jpeg, png,
        png_claiming_size,
    },
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{operations, violations};

#[tokio::test]
async fn a_file_of_15_kib_is_accepted_and_one_byte_more_is_refused() {
    let stack = Stack::start().await;
    for image in operations() {
        let grey = plain(&image);
        let (png, jpeg) = (png(&grey.clone().into()), plain_jpeg(&grey));
        for file in [padded_png(&png, MAX_BYTES), padded_jpeg(&jpeg, MAX_BYTES)] {
            assert_eq!(file.len(), 15_360);
            assert_eq!(stack.recognise(image.operation, &file).await.predictions()[0].0, image.label);
        }
        for file in [padded_png(&png, MAX_BYTES + 1), padded_jpeg(&jpeg, MAX_BYTES + 1), vec![b'x'; 20_000]] {
            let problem = stack.refused(stack.post(image.operation, &Form::upload(&file)), 413).await;
            assert_eq!(problem.errors(), violations([("file", "too_large")]));
            assert!(problem.details().contains("15360"), "the detail names the limit: {}", problem.json);
        }
        for n in [200_000, 1 << 20] {
            stack.refused(stack.post(image.operation, &Form::upload(&vec![0; n])), 413).await;
        }
    }
}

#[tokio::test]
async fn a_file_too_large_is_refused_while_it_arrives() {
    let stack = Stack::start().await;
    let form = Form::upload(&vec![0; 2 * MAX_BYTES]);
    let path = "/v1/models/digit-recognition";
    let headers = [("Content-Type", &*form.content_type()), ("Content-Length", "100000000")];
    let mut stream = connect(&stack.base, &head("POST", path, &stack.key, &headers)).await;
    stream.write_all(&form.unended_body()).await.expect("it takes what it can");
    // The rest of the body is never sent, so the answer must come now.
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 413");
}

/// As proxies do, and clients such as `fetch` of Node.
#[tokio::test]
async fn a_caller_that_sends_everything_before_it_reads_gets_its_refusal() {
    let stack = Stack::with().workers(0).start().await;
    let form = Form::upload(&vec![0; 64 << 20]);
    let body = form.body();
    let headers = [("Content-Type", &*form.content_type()), ("Content-Length", &*body.len().to_string())];
    for (key, status) in [(&*stack.key, b"HTTP/1.1 413"), ("ak_unknown", b"HTTP/1.1 401")] {
        let head = head("POST", "/v1/models/digit-recognition", key, &headers);
        let mut stream = connect(&stack.base, &head).await;
        stream.write_all(&body).await.expect("the server takes all of it");
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, status);
    }
}

#[tokio::test]
async fn the_first_bytes_of_a_file_decide_its_type() {
    let stack = Stack::start().await;
    let others: [&[u8]; 6] = [
        b"GIF89a\x01\0\x01\0\0\0\0;",
        b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0",
        b"%PDF-1.7\n",
        b"BM\x3a\0\0\0\0\0\0\0",
        "ਪੰਜਾਬੀ".as_bytes(),
        b"\x89PNG",
    ];
    for image in operations() {
        for other in others {
            let problem = stack.refused(stack.post(image.operation, &Form::upload(other)), 415).await;
            let fields: Vec<String> = problem.errors().into_iter().map(|(field, _)| field).collect();
            assert_eq!(fields, ["file"], "{}", problem.json);
        }
        // The file name and the part's Content-Type are ignored.
        let head = "name=\"file\"; filename=\"a.gif\"\r\nContent-Type: image/gif";
        let form = Form::default().part(head, &image.bytes);
        assert_eq!(send(stack.post(image.operation, &form)).await.predictions()[0].0, image.label);
    }
}

#[tokio::test]
async fn pictures_that_cannot_be_decoded_are_refused_with_422() {
    let stack = Stack::start().await;
    let grey = plain(&fixture_of("੫"));
    let (png, jpeg) = (png(&grey.clone().into()), plain_jpeg(&grey));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("no bytes", Vec::new(), "empty"),
        ("half a PNG", png[..png.len() / 2].to_vec(), "undecodable"),
        ("a PNG's signature", png[..8].to_vec(), "undecodable"),
        ("a PNG's header", png[..33].to_vec(), "undecodable"),
        ("a third of a JPEG", jpeg[..jpeg.len() / 3].to_vec(), "undecodable"),
        ("a JPEG's start", jpeg[..4].to_vec(), "undecodable"),
        ("one pixel", blank(1), "no_ink"),
        ("a blank page", blank(200), "no_ink"),
    ];
    for image in operations() {
        for (what, file, code) in &cases {
            let problem = stack.refused(stack.post(image.operation, &Form::upload(file)), 422).await;
            assert_eq!(problem.errors(), violations([("file", code)]), "{what}: {}", problem.json);
        }
    }
}

#[tokio::test]
async fn a_small_file_whose_header_claims_a_huge_picture_is_refused() {
    /// The allowed growth of the worker's memory: far less than one byte for each claimed pixel, and far more
    /// than the memory grows in normal operation.
    const GROWTH_KIB: u64 = 64 * 1024;
    let stack = Stack::start().await;
    let grey = plain(&fixture_of("੫"));
    let bombs = [
        png_claiming_size(50_000, 50_000),
        png_claiming_size(u32::MAX >> 1, u32::MAX >> 1),
        jpeg_claiming_size(&grey, 65_500, 65_500),
    ];
    stack.recognise("digit-recognition", &png(&grey.into())).await.predictions();
    let (_, before) = stack.workers[0].memory_kib();
    for image in operations() {
        for bomb in &bombs {
            assert!(bomb.len() < MAX_BYTES);
            let problem = stack.refused(stack.post(image.operation, &Form::upload(bomb)), 422).await;
            assert_eq!(problem.errors(), violations([("file", "too_many_pixels")]), "{}", problem.json);
        }
    }
    let (_, after) = stack.workers[0].memory_kib();
    assert!(after.saturating_sub(before) < GROWTH_KIB, "the worker's peak went from {before} to {after} KiB");
}
