//! Ends connections whose clients take what is sent to them too slowly, so that they do not hold memory for hours.

use std::{
    io::{self, ErrorKind, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

/// How long a client may take nothing of what waits to be sent.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// The bytes with which a client gains another second, up to [`PATIENCE`]. So it is also the least average rate.
const LEAST_RATE: u32 = 2 * 1024;

/// A connection that fails when its client is behind for too long. While nothing waits to be sent, no time passes.
pub(crate) struct SlowReader<S> {
    stream: S,
    patience: Duration,
    /// Since when something waits, and when that is too long.
    behind: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S: AsyncWrite + Unpin> SlowReader<S> {
    pub(crate) const fn new(stream: S) -> Self {
        Self { stream, patience: PATIENCE, behind: None }
    }

    fn judge(&mut self, cx: &mut Context<'_>, sent: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match sent {
            Poll::Ready(Ok(n)) => {
                let waited = self.behind.take().map(|(since, _)| since.elapsed()).unwrap_or_default();
                let gained = Duration::from_secs(n as u64) / LEAST_RATE;
                self.patience = (self.patience.saturating_sub(waited) + gained).min(PATIENCE);
                Poll::Ready(Ok(n))
            }
            Poll::Pending => {
                let patience = self.patience;
                let (_, end) = self.behind.get_or_insert_with(|| (Instant::now(), Box::pin(sleep(patience))));
                let too_slow = || io::Error::new(ErrorKind::TimedOut, "the client reads too slowly");
                end.as_mut().poll(cx).map(|()| Err(too_slow()))
            }
            failed @ Poll::Ready(Err(_)) => failed,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SlowReader<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SlowReader<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.judge(cx, sent)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let sent = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.judge(cx, sent)
    }

    // hyper copies what it sends, unless several parts can be written at once.
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
        time::timeout,
    };

    use super::*;

    /// Whether 100 KiB are sent to a client that reads like this.
    async fn is_sent(read: impl AsyncFnOnce(DuplexStream)) -> bool {
        let (client, server) = duplex(1024);
        let mut server = SlowReader::new(server);
        let write = async move { server.write_all(&vec![0; 100 * 1024]).await.is_ok() };
        let (is_sent, ()) = tokio::join!(write, read(client));
        is_sent
    }

    async fn drip(mut client: DuplexStream, n_bytes: usize, pause: Duration) {
        while client.read_exact(&mut vec![0; n_bytes]).await.is_ok() {
            tokio::time::sleep(pause).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_may_pause_but_not_be_slow_for_long() {
        let second = Duration::from_secs(1);
        assert!(is_sent(async |client| drip(client, 4096, second).await).await);
        assert!(!is_sent(async |client| drip(client, 512, second).await).await);
        assert!(is_sent(async |client| drip(client, 50 * 1024, second * 29).await).await);
        assert!(!is_sent(async |client| drip(client, 50 * 1024, second * 31).await).await);
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_waits_costs_no_patience() {
        let (mut client, server) = duplex(1024);
        let mut server = SlowReader::new(server);
        for _ in 0..10 {
            server.write_all(b"an event").await.unwrap();
            client.read_exact(&mut [0; 8]).await.unwrap();
            tokio::time::sleep(PATIENCE * 2).await;
        }
        assert!(timeout(PATIENCE * 2, server.write_all(&[0; 4096])).await.unwrap().is_err());
    }
}
