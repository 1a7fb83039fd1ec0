//! A proxy that passes bytes between clients and a server, and that breaks all connections on demand.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, copy_bidirectional},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::watch,
};

/// A running proxy.
#[derive(Debug)]
pub(super) struct Proxy {
    /// Whether connections are refused. Open ones break whenever a value is sent.
    refuses: watch::Sender<bool>,
}

impl Proxy {
    /// Passes TCP connections on to `target`. Also returns the proxy's own address.
    pub(super) async fn tcp(target: String) -> io::Result<(Self, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let (refuses, watched) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, watched) = (target.clone(), watched.clone());
                tokio::spawn(async move {
                    if *watched.borrow() {
                        let _closed_already = client.set_zero_linger();
                        return;
                    }
                    let Ok(mut server) = TcpStream::connect(target).await else { return };
                    if pass(&mut client, &mut server, watched).await {
                        // Closing such a connection sends a reset, and drops what was not sent yet.
                        let _closed_already = client.set_zero_linger().and(server.set_zero_linger());
                    }
                });
            }
        });
        Ok((Self { refuses }, address))
    }

    /// Passes connections to the Unix socket `path` on to the Unix socket `target`.
    pub(super) fn unix(path: &Path, target: PathBuf) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        let (refuses, watched) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, watched) = (target.clone(), watched.clone());
                tokio::spawn(async move {
                    let Ok(mut server) = UnixStream::connect(target).await else { return };
                    pass(&mut client, &mut server, watched).await;
                });
            }
        });
        Ok(Self { refuses })
    }

    /// Breaks all connections that are open now.
    pub(super) fn cut(&self) {
        self.refuse(false);
    }

    /// Breaks all connections that are open now. Then resets each new one at once, or passes it on.
    pub(super) fn refuse(&self, refuses: bool) {
        self.refuses.send_replace(refuses);
    }
}

/// Passes bytes both ways until one side ends. Returns whether the connection was cut.
async fn pass<S>(client: &mut S, server: &mut S, mut cut: watch::Receiver<bool>) -> bool
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    cut.mark_unchanged();
    tokio::select! {
        _ended = copy_bidirectional(client, server) => false,
        changed = cut.changed() => changed.is_ok(),
    }
}
