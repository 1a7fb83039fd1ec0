//! Clients that write their requests themselves, and hang up.

use std::time::Duration;

use akhar_tests::http;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, time::sleep};

/// A request, to be sent over a connection of its own.
pub(super) struct Raw {
    address: String,
    bytes: Vec<u8>,
}

impl Raw {
    /// A request of the service at `base` with this method and path.
    pub(super) fn new(
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

    /// Sends the request or its first half, and closes the connection.
    pub(super) async fn hang_up(self, after: Duration, whole: bool) {
        let sent = if whole { &self.bytes[..] } else { &self.bytes[..self.bytes.len() / 2] };
        if let Ok(mut stream) = TcpStream::connect(&self.address).await {
            let _ = stream.write_all(sent).await; // a fault may have closed the connection
            sleep(after).await;
        }
    }
}
