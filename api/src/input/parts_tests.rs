//! Tests with bodies in pieces of every length, and with names as clients write them.

use std::convert::Infallible;

use akhar_requests::QUICK;
use axum::{body::Body, extract::Request, http::HeaderMap};
use futures::stream;
use proptest::{prelude::*, sample::select};

use super::*;
use crate::{
    http::chunked::post_in_chunks,
    input::memory::{BodyBudget, tests::plenty},
    problems::ProblemType,
};

/// The names and data of a body's parts, or what is wrong with it.
type Read = Result<Vec<(String, Vec<u8>)>, ProblemType>;

/// The parts of a body that arrives in these pieces.
async fn parts(pieces: Vec<Vec<u8>>) -> Read {
    parts_of(Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, Infallible>)))).await
}

/// The parts of a body that arrives over a connection in chunks of at most this many bytes.
async fn parts_of_chunks(body: &[u8], n_bytes: usize) -> Read {
    let read = async |request: Request| parts_of(request.into_body()).await;
    post_in_chunks("multipart/form-data", body, n_bytes, read).await.unwrap()
}

async fn parts_of(body: Body) -> Read {
    let read = async {
        let body = ArrivingBody::new(&HeaderMap::new(), body, usize::MAX, String::new(), &plenty())?;
        let mut parts = Parts::begin(body, "B-B", &plenty()).await?;
        let mut all = Vec::new();
        while let Some(name) = parts.next().await? {
            let mut data = Vec::new();
            parts
                .data(|bytes| {
                    data.extend_from_slice(bytes);
                    Ok(())
                })
                .await?;
            all.push((name, data));
        }
        Ok(all)
    };
    read.await.map_err(|problem: Problem| problem.problem_type())
}

fn head(name: &str) -> String {
    format!("Content-Disposition: form-data; name=\"{name}\"")
}

fn in_pieces(bytes: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        let (piece, further) = rest.split_at((*length).min(rest.len()));
        pieces.push(piece.to_vec());
        rest = further;
        if rest.is_empty() {
            return pieces;
        }
    }
    pieces
}

proptest! {
    /// Data that nearly is the delimiter arrives as it was sent. The parser panics if its work is not linear.
    #[test]
    fn the_parts_are_the_same_in_whichever_pieces_they_arrive(
        sent in prop::collection::vec(prop::collection::vec(select(b"\r\n-Bx".to_vec()), 0..60), 0..4),
        preamble in "([x-]{0,9}\r\n)?",
        padding in "[ \t]{0,2}",
        lengths in prop::collection::vec(1_usize..20, 1..9),
    ) {
        let is_possible = |data: &Vec<u8>| !data.windows(7).any(|bytes| bytes == b"\r\n--B-B");
        let sent: Vec<_> = sent.into_iter().filter(is_possible).collect();
        let mut body = preamble.into_bytes();
        for data in &sent {
            body.extend(format!("--B-B{padding}\r\n{}\r\n\r\n", head("a")).bytes());
            body.extend(data);
            body.extend(b"\r\n");
        }
        body.extend(b"--B-B--\r\nepilogue");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let expected: Vec<_> = sent.into_iter().map(|data| ("a".to_owned(), data)).collect();
        prop_assert_eq!(&runtime.block_on(parts(in_pieces(&body, &lengths))).unwrap(), &expected);
        prop_assert_eq!(&runtime.block_on(parts_of_chunks(&body, lengths[0])).unwrap(), &expected);
    }
}

/// Its data makes the search for the delimiter begin again as often as possible.
#[tokio::test]
async fn the_work_is_linear_in_small_and_large_bodies() {
    for (n_bytes, n_chunk) in [(1 << 10, 1), (1 << 15, 1), (1 << 20, 32)] {
        for unit in ["x", "\r", "\r\n--B-", "\r\n--B-\r", "\r\n-\r\r\n\r"] {
            let data = unit.repeat(n_bytes / unit.len());
            let body = format!("--B-B\r\n{}\r\n\r\n{data}\r\n--B-B--", head("a"));
            let expected = vec![("a".to_owned(), data.into_bytes())];
            let pieces = in_pieces(body.as_bytes(), &[n_chunk]);
            assert!(parts(pieces).await.as_ref() == Ok(&expected), "{n_bytes} {unit:?}");
            let found = parts_of_chunks(body.as_bytes(), n_chunk).await;
            assert!(found.as_ref() == Ok(&expected), "{n_bytes} {unit:?} in chunks");
        }
    }
}

#[tokio::test]
async fn a_head_and_what_is_before_the_first_part_may_have_8_kib() {
    let whole = |preamble: usize, filler: usize| {
        let filler = "f".repeat(filler);
        let body =
            format!("{}\r\n--B-B\r\n{}\r\nX: {filler}\r\n\r\nv\r\n--B-B--", "p".repeat(preamble), head("a"));
        parts(in_pieces(body.as_bytes(), &[1000]))
    };
    assert_eq!(whole(8000, 8000).await.unwrap().len(), 1);
    assert_eq!(whole(8193, 0).await, Err(ProblemType::MalformedBody));
    assert_eq!(whole(0, 8193).await, Err(ProblemType::MalformedBody));
    let endless = |start: &'static [u8]| {
        let rest = std::iter::repeat_n(vec![b'x'; 100], 1000);
        parts(std::iter::once(start.to_vec()).chain(rest).collect())
    };
    for start in [&b"-"[..], b"--B-B", b"--B-B\r\nX: "] {
        assert_eq!(endless(start).await, Err(ProblemType::MalformedBody));
    }
}

#[tokio::test]
async fn memory_is_taken_for_a_body_of_unknown_length() {
    let begin = async |n_bytes| {
        let memory = BodyBudget::new(n_bytes).of(QUICK, uuid::Uuid::nil());
        let body = ArrivingBody::new(&HeaderMap::new(), Body::from("--B-B"), 100, String::new(), &memory)?;
        Parts::begin(body, "B-B", &memory).await
    };
    assert!(begin(120_000).await.is_ok());
    assert_eq!(begin(110_000).await.unwrap_err().problem_type(), ProblemType::AccountBusy);
}

#[tokio::test]
async fn lines_that_end_with_lf_alone_are_named() {
    let sent = format!("--B-B\n{}\n\nv\n--B-B--\n", head("a"));
    let body = ArrivingBody::new(&HeaderMap::new(), sent.into(), usize::MAX, String::new(), &plenty());
    let mut parts = Parts::begin(body.unwrap(), "B-B", &plenty()).await.unwrap();
    let problem = parts.next().await.unwrap_err().body("/", "r");
    assert_eq!(problem.detail, "A line of the body ends with LF alone, expected CRLF (RFC 2046, 4.1.1).");
}

#[test]
fn names_are_read_as_clients_write_them() {
    let name_in = |disposition: &[u8]| {
        name(&[b" \r\nX: y\r\ncontent-disposition: ", disposition, b"\r\n\r\n"].concat()).ok()
    };
    let name = |disposition: &str| name_in(disposition.as_bytes());
    let latin_1 = b"form-data; name=\"file\"; filename=\"gar\xe7on.wav\"";
    assert_eq!(name_in(latin_1).as_deref(), Some("file"));
    for (disposition, expected) in [
        ("form-data; name=\"file\"", "file"),
        ("form-data; name=file", "file"),
        ("form-data;NAME = file ; filename=x", "file"),
        ("form-data; filename=\"a; name=b\"; name=\"file\"", "file"),
        ("form-data; filename*=UTF-8''x; name=\"ਫ਼;ਾ\"", "ਫ਼;ਾ"),
        ("form-data; name=\"a\\\"b\\c\"", "a\"b\\c"),
        ("form-data; name=\"\"", ""),
    ] {
        assert_eq!(name(disposition).as_deref(), Some(expected), "{disposition}");
    }
    for none in
        ["form-data", "form-data; filename=\"name=x\"", "form-data; name", "form-data; name=\"x", "; ;"]
    {
        assert_eq!(name(none), None, "{none}");
    }
}
