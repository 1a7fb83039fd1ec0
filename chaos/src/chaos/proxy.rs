//! A proxy that passes bytes between clients and a server, and that breaks, delays and holds connections on demand.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::watch,
    time::sleep,
};

/// How a proxy passes bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Passing {
    /// At once.
    #[default]
    Normal,
    /// So much later, in each direction.
    Delayed(Duration),
    /// Not at all. Connections stay open, as when a network loses all packets.
    Held,
    /// New connections are reset.
    Refused,
}

/// What the connections of a proxy look at.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    passing: Passing,
    /// How often all open connections were broken.
    n_cuts: u64,
}

/// A running proxy.
#[derive(Debug)]
pub(super) struct Proxy(watch::Sender<State>);

impl Proxy {
    /// Passes TCP connections on to `target`. Also returns the proxy's own address.
    pub(super) async fn tcp(target: String) -> io::Result<(Self, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let (sender, state) = watch::channel(State::default());
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, state) = (target.clone(), state.clone());
                tokio::spawn(async move {
                    if state.borrow().passing == Passing::Refused {
                        let _closed_already = client.set_zero_linger();
                        return;
                    }
                    let Ok(mut server) = TcpStream::connect(target).await else { return };
                    if pass(&mut client, &mut server, state).await {
                        // Closing such a connection sends a reset, and drops what was not sent yet.
                        let _closed_already = client.set_zero_linger().and(server.set_zero_linger());
                    }
                });
            }
        });
        Ok((Self(sender), address))
    }

    /// Passes connections to the Unix socket `path` on to the Unix socket `target`.
    pub(super) fn unix(path: &Path, target: PathBuf) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        let (sender, state) = watch::channel(State::default());
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let (target, state) = (target.clone(), state.clone());
                tokio::spawn(async move {
                    let Ok(mut server) = UnixStream::connect(target).await else { return };
                    pass(&mut client, &mut server, state).await;
                });
            }
        });
        Ok(Self(sender))
    }

    /// Breaks all connections that are open now.
    pub(super) fn cut(&self) {
        self.0.send_modify(|state| state.n_cuts += 1);
    }

    /// Passes bytes in this way for a time, and normally afterwards.
    pub(super) async fn pass_for(&self, passing: Passing, lasts: Duration) {
        self.0.send_modify(|state| state.passing = passing);
        if passing == Passing::Refused {
            self.cut();
        }
        sleep(lasts).await;
        self.0.send_modify(|state| state.passing = Passing::Normal);
    }
}

/// Passes bytes both ways until both sides have ended or one is broken. Returns whether the connection was cut.
async fn pass<S>(client: &mut S, server: &mut S, mut state: watch::Receiver<State>) -> bool
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let n_cuts = state.borrow().n_cuts;
    let (from_client, to_client) = split(client);
    let (from_server, to_server) = split(server);
    let (requests, answers) = (state.clone(), state.clone());
    tokio::select! {
        _ended = async { tokio::try_join!(
            pass_one_way(from_client, to_server, requests),
            pass_one_way(from_server, to_client, answers),
        ) } => false,
        cut = async { state.wait_for(|state| state.n_cuts != n_cuts).await.is_ok() } => cut,
    }
}

async fn pass_one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut state: watch::Receiver<State>,
) -> io::Result<()> {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let n = from.read(&mut bytes).await?;
        let passing = state.borrow().passing;
        if let Passing::Delayed(delay) = passing {
            sleep(delay).await;
        }
        if state.wait_for(|state| state.passing != Passing::Held).await.is_err() {
            return Ok(());
        }
        if n == 0 {
            return to.shutdown().await;
        }
        to.write_all(&bytes[..n]).await?;
    }
}
