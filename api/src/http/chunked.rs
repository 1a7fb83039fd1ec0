//! Sends a request in chunks over a connection and gives it to a handler, as the server does, for tests and fuzz targets.

use std::{cell::RefCell, convert::Infallible};

use axum::{body::Body, extract::Request, response::Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::input::body::MAX_PIECE_BYTES;

/// What `handle` returns for a POST of this body, which is sent in chunks of at most `n_bytes`.
pub(crate) async fn post_in_chunks<T>(
    content_type: &str,
    body: &[u8],
    n_bytes: usize,
    handle: impl AsyncFn(Request) -> T,
) -> Option<T> {
    let mut sent = format!(
        "POST /v1/models/x?y=1 HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    .into_bytes();
    for chunk in body.chunks(n_bytes) {
        sent.extend(format!("{:x}\r\n", chunk.len()).bytes());
        sent.extend(chunk);
        sent.extend(b"\r\n");
    }
    sent.extend(b"0\r\n\r\n");
    let (mut client, server) = tokio::io::duplex(MAX_PIECE_BYTES);
    let handled = RefCell::new(None);
    let service = service_fn(|request: Request<Incoming>| {
        let handling = handle(request.map(Body::new));
        let handled = &handled;
        async move {
            handled.replace(Some(handling.await));
            Ok::<_, Infallible>(Response::new(Body::empty()))
        }
    });
    let mut http = http1::Builder::new();
    let connection =
        http.keep_alive(false).max_buf_size(MAX_PIECE_BYTES).serve_connection(TokioIo::new(server), service);
    let talk = async {
        // A server that refuses a body ends the connection before it has all of it.
        let _ = client.write_all(&sent).await;
        let _ = client.read_to_end(&mut Vec::new()).await;
    };
    let _ = tokio::join!(connection, talk); // as above
    handled.into_inner()
}
