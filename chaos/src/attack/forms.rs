//! Forms that arrive in chunks: one with a head of a part that does not end, and one in chunks of a byte.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_tests::http;
use tokio::{
    io::AsyncWriteExt as _,
    net::TcpStream,
    task::JoinSet,
    time::{sleep_until, timeout_at},
};

use super::attacker::{Answers, Attacker};

/// Connections that send a head of a part at the same time.
const N_HEADS: usize = 160;
/// Connections that send small chunks at the same time.
const N_CHUNKED: usize = 20;
/// The bytes of a recording that they send before.
const N_BEFORE: usize = 20 * 1024 * 1024;
/// The small chunks that they send.
const N_SMALL: usize = 60_000;
/// The small chunks that are written to a connection at once.
const N_AT_ONCE: usize = 100;
/// How long they stay before they disconnect.
const STAY: Duration = Duration::from_secs(12);
/// The most bytes of a chunk.
const CHUNK: usize = 64 * 1024;

/// The bytes of a request that is not finished.
struct Unfinished {
    start: Vec<u8>,
    /// Sent again and again after that.
    more: Vec<u8>,
    n_more: usize,
}

/// Forms whose first part has a head that goes on until the connection is closed.
pub(super) async fn endless_heads(attacker: &Attacker, end: Instant) -> Answers {
    let start = [head(attacker), chunk(b"--b\r\nContent-Disposition: form-data; x=\"")].concat();
    let request = Unfinished { start, more: chunk(&vec![b'x'; CHUNK]), n_more: usize::MAX };
    send(attacker, end, N_HEADS, request).await
}

/// Forms with a large recording and then one byte in each chunk, whose senders disconnect.
pub(super) async fn small_chunks(attacker: &Attacker, end: Instant) -> Answers {
    let part = chunk(b"--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nID3");
    let start = [head(attacker), part, chunk(&vec![b'x'; CHUNK]).repeat(N_BEFORE / CHUNK)].concat();
    let request = Unfinished { start, more: chunk(b"x").repeat(N_AT_ONCE), n_more: N_SMALL / N_AT_ONCE };
    send(attacker, end, N_CHUNKED, request).await
}

fn head(attacker: &Attacker) -> Vec<u8> {
    let headers = [("content-type", "multipart/form-data; boundary=b"), ("transfer-encoding", "chunked")];
    http::head("POST", "/v1/audio/transcriptions", &attacker.key, &headers)
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Keeps `n` connections with this request open until `end`. Each is closed after [`STAY`], and another one opened.
async fn send(attacker: &Attacker, end: Instant, n: usize, request: Unfinished) -> Answers {
    let request = Arc::new(request);
    let mut answers = Answers::default();
    let mut open = JoinSet::new();
    while Instant::now() < end {
        if open.len() == n {
            if let Ok(Some(ended)) = timeout_at(end.into(), open.join_next()).await {
                answers.count(ended.expect("a client of an attack does not panic"));
            }
        } else if let Some(stream) = attacker.connect().await {
            open.spawn(send_on(stream, request.clone(), end.min(Instant::now() + STAY)));
        } else {
            answers.count("no connection");
        }
    }
    answers.count_all(&mut open).await;
    answers
}

async fn send_on(mut stream: TcpStream, request: Arc<Unfinished>, end: Instant) -> &'static str {
    let sent = async {
        stream.write_all(&request.start).await?;
        for _ in 0..request.n_more {
            stream.write_all(&request.more).await?;
        }
        sleep_until(end.into()).await;
        Ok::<_, io::Error>(())
    };
    match timeout_at(end.into(), sent).await {
        Ok(Err(_)) => "closed by the service",
        Ok(Ok(())) | Err(_) => "disconnected",
    }
}
