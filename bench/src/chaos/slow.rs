//! Clients that write their requests themselves: slow ones, and those that hang up.

use std::{fmt::Write as _, time::Duration};

use akhar_tests::Answer;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::sleep,
};

/// The pieces of a request that is sent slowly.
const PIECES: usize = 8;

/// The most pauses while an answer is read slowly.
const PAUSES: usize = 20;

/// A request, to be sent over a connection of its own.
pub(super) struct Request<'a> {
    pub(super) address: &'a str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: &'a [u8],
}

impl Request<'_> {
    /// The bytes of the request.
    fn bytes(&self) -> Vec<u8> {
        let mut head =
            format!("POST {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", self.path, self.address);
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").expect("a string takes it");
        }
        write!(head, "content-length: {}\r\n\r\n", self.body.len()).expect("a string takes it");
        [head.as_bytes(), self.body].concat()
    }

    /// Sends the request in pieces. `None` if the connection breaks.
    pub(super) async fn send_slowly(self, during: Duration) -> Option<Answer> {
        let bytes = self.bytes();
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        for piece in bytes.chunks(bytes.len().div_ceil(PIECES)) {
            stream.write_all(piece).await.ok()?;
            sleep(during / u32::try_from(PIECES).unwrap_or(u32::MAX)).await;
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        parse(&answer)
    }

    /// Sends the request, and reads the answer with pauses. `None` if the connection breaks.
    pub(super) async fn read_slowly(self, pause: Duration) -> Option<Answer> {
        let mut stream = TcpStream::connect(self.address).await.ok()?;
        stream.write_all(&self.bytes()).await.ok()?;
        let mut answer = Vec::new();
        for _ in 0..PAUSES {
            let mut piece = [0; 256];
            let n = stream.read(&mut piece).await.ok()?;
            answer.extend_from_slice(&piece[..n]);
            if n == 0 {
                break;
            }
            sleep(pause).await;
        }
        stream.read_to_end(&mut answer).await.ok()?;
        parse(&answer)
    }

    /// Sends the request or its first half, and closes the connection.
    pub(super) async fn hang_up(self, after: Duration, whole: bool) {
        let bytes = self.bytes();
        let sent = if whole { &bytes[..] } else { &bytes[..bytes.len() / 2] };
        if let Ok(mut stream) = TcpStream::connect(self.address).await {
            let _broken = stream.write_all(sent).await;
            sleep(after).await;
        }
    }
}

/// The answer in these bytes. `None` if it is not whole.
fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let mut headers = reqwest::header::HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let name = reqwest::header::HeaderName::try_from(name).ok()?;
        headers.append(name, value.trim().parse().ok()?);
    }
    let body = bytes[end + 4..].to_vec();
    let length: usize = headers.get("content-length")?.to_str().ok()?.parse().ok()?;
    (body.len() == length).then(|| Answer { status, headers, body: body.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_parsed_if_it_is_whole() {
        let answer = parse(b"HTTP/1.1 202 Accepted\r\nLocation: /a\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        assert_eq!((answer.status, answer.header("location"), &*answer.body), (202, "/a", &b"{}"[..]));
        assert!(parse(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}").is_none());
        assert!(parse(b"HTTP/1.1 200 OK\r\ncontent-len").is_none());
    }
}
