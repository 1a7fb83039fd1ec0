//! Very many connections, slow ones, and requests that break the rules of HTTP.

use std::time::{Duration, Instant};

use akhar_tests::http;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::{sleep_until, timeout},
};
use uuid::Uuid;

use super::attacker::{Answers, Attacker};

/// Connections that never read.
const N_SILENT: usize = 1015;
/// Connections with slow or large requests.
const N_SLOW: usize = 1000;
/// Connections without a request.
const N_IDLE: usize = 5000;
/// Connections that ask for a large result.
const N_UNREAD: usize = 2800;
/// How long they stay open, until others ask again.
const STAY: Duration = Duration::from_secs(12);

/// The bytes of requests that break a rule of RFC 9112 or ask for something that does not exist.
const MALFORMED: [&[u8]; 24] = [
    b"\r\n\r\n\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://other/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nExpect: the-unexpected\r\nContent-Length: 1\r\n\r\na",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

/// Connections with 30 requests for the largest document each, which read nothing.
pub(super) async fn never_read(attacker: &Attacker, end: Instant) -> Answers {
    let request = b"GET /openapi.json HTTP/1.1\r\nHost: akhar\r\n\r\n".repeat(30);
    hold(attacker, end, N_SILENT, |_| request.clone()).await
}

/// Connections that ask for the large result of this job, and read nothing.
pub(super) async fn unread_answers(attacker: &Attacker, job: Uuid, end: Instant) -> Answers {
    let request = http::head("GET", &format!("/v1/jobs/{job}/result"), &attacker.key, &[]);
    let mut answers = Answers::default();
    while Instant::now() < end {
        answers.add_all(hold(attacker, end.min(Instant::now() + STAY), N_UNREAD, |_| request.clone()).await);
    }
    answers
}

/// Requests without a key whose headers have 400 kB.
pub(super) async fn large_heads(attacker: &Attacker, end: Instant) -> Answers {
    let line = format!("x-filler: {}\r\n", "f".repeat(1000));
    let head = format!("GET / HTTP/1.1\r\nHost: akhar\r\n{}", line.repeat(400));
    hold(attacker, end, N_SLOW, |_| head.clone().into_bytes()).await
}

/// Connections that do not send anything.
pub(super) async fn idle(attacker: &Attacker, end: Instant) -> Answers {
    hold(attacker, end, N_IDLE, |_| Vec::new()).await
}

/// Opens connections, sends these bytes on each, and keeps all of them open until `end`.
async fn hold(attacker: &Attacker, end: Instant, n: usize, bytes: impl Fn(usize) -> Vec<u8>) -> Answers {
    let mut answers = Answers::default();
    let mut open = JoinSet::new();
    for nth in 0..n {
        if Instant::now() >= end {
            break;
        }
        let Some(mut stream) = attacker.connect_unread().await else {
            answers.count("no connection");
            continue;
        };
        let bytes = bytes(nth);
        open.spawn(async move {
            let sent = tokio::time::timeout_at(end.into(), stream.write_all(&bytes)).await;
            sleep_until(end.into()).await;
            match sent {
                Ok(Ok(())) => "sent",
                Ok(Err(_)) => "closed by the service",
                Err(_) => "not read by the service",
            }
        });
    }
    answers.count_all(&mut open).await;
    answers
}

/// Requests whose headers arrive one byte a second.
pub(super) async fn slow_heads(attacker: &Attacker, end: Instant) -> Answers {
    drip(attacker, end, b"GET / HTTP/1.1\r\nHost: akhar\r\nX-Slow: ", N_SLOW).await
}

/// Requests whose body of 2 MiB arrives one byte a second.
pub(super) async fn slow_bodies(attacker: &Attacker, end: Instant) -> Answers {
    let headers = [("content-type", "multipart/form-data; boundary=b"), ("content-length", "2000000")];
    let head = http::head("POST", "/v1/models/speech-recognition", &attacker.key, &headers);
    let start =
        [head, b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nRIFF".into()];
    drip(attacker, end, &start.concat(), N_SLOW).await
}

async fn drip(attacker: &Attacker, end: Instant, start: &[u8], n: usize) -> Answers {
    let mut answers = Answers::default();
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..n {
        let Some(mut stream) = attacker.connect().await else {
            answers.count("no connection");
            continue;
        };
        match stream.write_all(start).await {
            Ok(()) => open.push(stream),
            Err(_) => answers.count("closed by the service"),
        }
    }
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut still = Vec::new();
        for mut stream in open {
            match stream.write_all(b"x").await {
                Ok(()) => still.push(stream),
                Err(_) => answers.count("closed by the service"),
            }
        }
        open = still;
    }
    answers.add("open at the end", open.len());
    answers
}

/// Requests that are no HTTP, or not by its rules, 16 at a time.
pub(super) async fn malformed(attacker: &Attacker, end: Instant) -> Answers {
    let mut answers = Answers::default();
    while Instant::now() < end {
        let mut exchanges = JoinSet::new();
        for bytes in MALFORMED {
            let Some(stream) = attacker.connect().await else {
                answers.count("no connection");
                continue;
            };
            exchanges.spawn(exchange(stream, bytes));
        }
        answers.count_all(&mut exchanges).await;
    }
    answers
}

/// Sends the bytes and names the answer.
async fn exchange(mut stream: TcpStream, bytes: &'static [u8]) -> String {
    if stream.write_all(bytes).await.is_err() {
        return "closed by the service".to_owned();
    }
    let mut answer = [0; 12];
    match timeout(Duration::from_secs(2), stream.read_exact(&mut answer)).await {
        Ok(Ok(_)) => String::from_utf8_lossy(&answer[9..]).into_owned(),
        Ok(Err(_)) => "closed without an answer".to_owned(),
        Err(_) => "no answer within 2 s".to_owned(),
    }
}
