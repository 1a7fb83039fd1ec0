//! Clients that write their requests themselves: slow ones, and those that hang up.

use std::time::Duration;

use akhar_tests::{Answer, http};
use reqwest::header::{HeaderMap, HeaderName};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::sleep,
};

/// The pieces of a request that is sent slowly.
const PIECES: u32 = 8;

/// The most pauses while an answer is read slowly.
const PAUSES: usize = 20;

/// A request, to be sent over a connection of its own.
pub(super) struct Request {
    address: String,
    bytes: Vec<u8>,
}

impl Request {
    /// A POST of this body to an operation of the service at `base`.
    pub(super) fn new(base: &str, operation: &str, key: &str, headers: &[(&str, &str)], body: &[u8]) -> Self {
        Self::to(base, ("POST", &format!("/v1/models/{operation}")), key, headers, body)
    }

    /// A request with this method and path.
    pub(super) fn to(
        base: &str,
        (method, path): (&str, &str),
        key: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Self {
        let length = body.len().to_string();
        let headers = [headers, &[("connection", "close"), ("content-length", &length)]].concat();
        let head = http::head(method, path, key, &headers);
        Self { address: base.trim_start_matches("http://").to_owned(), bytes: [&head, body].concat() }
    }

    /// Sends the request in pieces. `None` if the connection breaks.
    pub(super) async fn send_slowly(self, during: Duration) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).await.ok()?;
        for piece in self.bytes.chunks(self.bytes.len().div_ceil(PIECES as usize)) {
            stream.write_all(piece).await.ok()?;
            sleep(during / PIECES).await;
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        parse(&answer)
    }

    /// Sends the request, and reads the answer with pauses. `None` if the connection breaks.
    pub(super) async fn read_slowly(self, pause: Duration) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).await.ok()?;
        stream.write_all(&self.bytes).await.ok()?;
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
        let sent = if whole { &self.bytes[..] } else { &self.bytes[..self.bytes.len() / 2] };
        if let Ok(mut stream) = TcpStream::connect(&self.address).await {
            let _ = stream.write_all(sent).await; // a fault may have closed the connection
            sleep(after).await;
        }
    }
}

/// The answer in these bytes. `None` if it is not whole.
fn parse(bytes: &[u8]) -> Option<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let body = &bytes[response.parse(bytes).ok().filter(httparse::Status::is_complete)?.unwrap()..];
    let status = response.code?;
    let header = |header: &httparse::Header<'_>| {
        Some((HeaderName::try_from(header.name).ok()?, header.value.try_into().ok()?))
    };
    let headers: HeaderMap = response.headers.iter().filter_map(header).collect();
    let length: usize = headers.get("content-length")?.to_str().ok()?.parse().ok()?;
    (body.len() == length).then(|| Answer { status, headers, body: body.to_vec().into() })
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
