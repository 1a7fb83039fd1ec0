//! Tests of connections: a client that disconnects, and a server that shuts down. The database cannot be reached, so
//! a request stays in progress while its submission is retried.

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

use std::time::Instant;

use akhar_accounts::NewKey;
use akhar_platform::shutdown::Shutdown;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    task::JoinHandle,
};

use super::*;
use crate::{http::slow_reader::PATIENCE, router::tests::app_until};

fn place() -> Place {
    let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
    Place::new(permit, None)
}

/// Limits of connections: of all, and of one address.
fn limits(total: usize, per_address: usize) -> ConnectionLimits {
    ConnectionLimits { total, addresses: Budget::new(usize::MAX, per_address), proxies: Networks::default() }
}
const BODY: &str = "--B\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n\x01PNG\r\n--B--\r\n";

fn request(key: &NewKey, is_chunked: bool) -> Vec<u8> {
    let mut body = BODY.as_bytes().to_vec();
    let jpeg = body.windows(4).position(|w| w == b"\x01PNG").unwrap();
    body.splice(jpeg..jpeg + 4, *b"\xff\xd8\xff\xe0");
    let length = if is_chunked {
        "Transfer-Encoding: chunked".into()
    } else {
        format!("Content-Length: {}", body.len())
    };
    let mut request = format!(
        "POST /v1/models/digit-recognition HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=B\r\n{length}\r\n\r\n",
        key.expose()
    )
    .into_bytes();
    if is_chunked {
        request.extend(format!("{:x}\r\n", body.len()).bytes());
        request.extend(body);
        request.extend(b"\r\n0\r\n\r\n");
    } else {
        request.extend(body);
    }
    request
}

/// A client's connection, and the task that serves it.
async fn connected(app: App, shutdown: Shutdown) -> (TcpStream, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (stream, _) = listener.accept().await.unwrap();
    let service = TowerToHyperService::new(router(app));
    let peer = Peer([127, 0, 0, 1].into());
    (caller, tokio::spawn(serve_connection(stream, service, (peer, place()), shutdown)))
}

/// Polls until the condition holds, because another task makes it true. The limit is well below the 5 s of
/// `retry_transient`.
async fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !holds() && started.elapsed() < Duration::from_secs(3) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    holds()
}

#[tokio::test]
async fn a_client_that_disconnects_is_no_longer_counted() {
    for is_chunked in [false, true] {
        let shutdown = Shutdown::default();
        let app = app_until(&shutdown);
        let key = NewKey::random();
        app.auth.keys.insert(&key).await;
        let (mut caller, _) = connected(app.clone(), shutdown).await;
        caller.write_all(&request(&key, is_chunked)).await.unwrap();
        assert!(eventually(|| app.auth.requests.taken() == 1).await, "it is held");
        drop(caller);
        assert!(eventually(|| app.auth.requests.taken() == 0).await, "chunked: {is_chunked}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_disconnected() {
    let shutdown = Shutdown::default();
    let (mut caller, connection) = connected(app_until(&shutdown), shutdown).await;
    // The answers are larger than what the sockets buffer.
    caller.write_all(&b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(500)).await.unwrap();
    assert!(tokio::time::timeout(PATIENCE * 3, connection).await.is_ok(), "the connection has ended");
}

#[tokio::test]
async fn a_head_that_is_too_large_is_answered_with_431() {
    let shutdown = Shutdown::default();
    let (mut caller, _) = connected(app_until(&shutdown), shutdown).await;
    // The head has no end, so the server has read all of it when it answers.
    let head = format!("GET /health/live HTTP/1.1\r\nHost: x\r\nX-Filler: {}", "a".repeat(MAX_PIECE_BYTES));
    caller.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    caller.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 431");
}

/// A request that needs no key.
const LIVE: &[u8] = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n";

/// A server with these limits, and an open connection whose request it has answered.
async fn one_served(limits: ConnectionLimits) -> (SocketAddr, TcpStream) {
    let shutdown = Shutdown::default();
    let app = app_until(&shutdown);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_app(listener, app, limits, shutdown));
    let mut first = TcpStream::connect(address).await.unwrap();
    first.write_all(LIVE).await.unwrap();
    first.read_exact(&mut [0; 12]).await.unwrap();
    (address, first)
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_until_another_ends() {
    let (address, first) = one_served(limits(1, 9)).await;
    let mut second = TcpStream::connect(address).await.unwrap();
    let mut answer = [0; 12];
    second.write_all(LIVE).await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(100), second.read_exact(&mut answer)).await;
    assert!(early.is_err(), "it waits");
    drop(first);
    second.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[tokio::test]
async fn an_address_with_too_many_connections_gets_no_further_one() {
    let (address, _first) = one_served(limits(9, 1)).await;
    let mut second = TcpStream::connect(address).await.unwrap();
    let mut answer = [0; 12];
    assert_eq!(second.read(&mut answer).await.unwrap(), 0, "it is closed");
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(address).await.unwrap();
    other.write_all(LIVE).await.unwrap();
    other.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200", "another address is served");
}

#[test]
fn an_address_of_ipv6_counts_as_its_network() {
    let of = |address: &str| network(address.parse().unwrap()).to_string();
    assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    assert_eq!(of("::ffff:192.0.2.7"), "192.0.2.7");
    assert_eq!(of("192.0.2.7"), "192.0.2.7");
}

#[tokio::test]
async fn a_soft_shutdown_finishes_the_requests_in_progress() {
    let shutdown = Shutdown::default();
    let app = app_until(&shutdown);
    let key = NewKey::random();
    app.auth.keys.insert(&key).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(serve_app(listener, app.clone(), limits(9, 9), shutdown.clone()));
    let mut idle = TcpStream::connect(address).await.unwrap();
    let mut kept = TcpStream::connect(address).await.unwrap();
    let mut caller = TcpStream::connect(address).await.unwrap();
    caller.write_all(&request(&key, false)).await.unwrap();
    assert!(eventually(|| app.auth.requests.taken() == 1).await, "it is held");
    shutdown.stop();
    // It arrives before the server runs again, so no delay of this process makes it too late.
    kept.write_all(b"GET /v1/jobs/x HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    while TcpStream::connect(address).await.is_ok() {} // until the listener is closed
    let [mut late, mut answer, mut nothing] = [const { String::new() }; 3];
    kept.read_to_string(&mut late).await.unwrap();
    assert!(late.starts_with("HTTP/1.1 401") && late.contains("connection: close"), "{late}");
    idle.read_to_string(&mut nothing).await.unwrap();
    assert_eq!(nothing, "", "an idle connection is closed");
    caller.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("/problems/unavailable"), "{answer}");
    assert!(server.await.unwrap().is_ok());
}

#[tokio::test]
async fn a_hard_shutdown_aborts_connections() {
    let shutdown = Shutdown::default();
    let app = app_until(&shutdown);
    let key = NewKey::random();
    app.auth.keys.insert(&key).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let server = tokio::spawn(serve_app(listener, app.clone(), limits(9, 9), shutdown.clone()));
    caller.write_all(&request(&key, false)).await.unwrap();
    assert!(eventually(|| app.auth.requests.taken() == 1).await, "it is held");
    shutdown.stop();
    shutdown.hard.cancel();
    assert!(matches!(server.await.unwrap(), Err(ServeError::Unfinished(1))));
}
