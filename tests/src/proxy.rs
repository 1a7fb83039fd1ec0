//! A proxy that passes bytes between clients and a server, and that breaks, silences, delays and holds connections on demand.

use std::{fs, future::pending, io, path::Path, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy, sink, split},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::watch,
    time::sleep,
};

use crate::Cluster;

/// The name of Postgres's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// How a proxy passes bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Passing {
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
#[derive(Debug, Clone)]
struct State {
    passing: Passing,
    /// The address or the socket of the server.
    target: String,
    /// How often all open connections were broken.
    n_cuts: u64,
    /// How often all open connections were silenced.
    n_silences: u64,
}

/// A running proxy.
#[derive(Debug)]
pub struct Proxy(watch::Sender<State>);

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Cut,
    Silenced,
}

impl Proxy {
    fn to(target: &str) -> (Self, watch::Receiver<State>) {
        let target = target.to_owned();
        let (sender, state) =
            watch::channel(State { passing: Passing::Normal, target, n_cuts: 0, n_silences: 0 });
        (Self(sender), state)
    }

    /// Passes TCP connections on to `target`. Also returns the proxy's own address.
    pub async fn tcp(target: &str) -> io::Result<(Self, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let (proxy, state) = Self::to(target);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let state = state.clone();
                tokio::spawn(async move {
                    let now = state.borrow().clone();
                    if now.passing == Passing::Refused {
                        let _closed_already = client.set_zero_linger();
                        return;
                    }
                    let Ok(mut server) = TcpStream::connect(&now.target).await else { return };
                    if pass(&mut client, &mut server, &now, state).await == End::Cut {
                        // Closing such a connection sends a reset, and drops what was not sent yet.
                        let _closed_already = client.set_zero_linger().and(server.set_zero_linger());
                    }
                });
            }
        });
        Ok((proxy, address))
    }

    /// Makes this folder, and passes connections to Postgres's socket there on to this server.
    pub fn to_postgres(folder: &Path, cluster: &Cluster) -> io::Result<Self> {
        fs::create_dir(folder)?;
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let (proxy, state) = Self::to(&socket(cluster));
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let state = state.clone();
                tokio::spawn(async move {
                    let now = state.borrow().clone();
                    let Ok(mut server) = UnixStream::connect(&now.target).await else { return };
                    pass(&mut client, &mut server, &now, state).await;
                });
            }
        });
        Ok(proxy)
    }

    /// Breaks all connections that are open now.
    pub fn cut(&self) {
        self.0.send_modify(|state| state.n_cuts += 1);
    }

    /// Swallows all further bytes of the connections that are open now, for ever. Nobody is told, and new connections work.
    pub fn silence(&self) {
        self.0.send_modify(|state| state.n_silences += 1);
    }

    /// Connects new connections to another server.
    fn lead_to(&self, target: String) {
        self.0.send_modify(|state| state.target = target);
    }

    /// Closes new connections at once.
    pub fn lead_to_nowhere(&self) {
        self.lead_to(String::new());
    }

    /// Connects new connections to another Postgres.
    pub fn lead_to_postgres(&self, cluster: &Cluster) {
        self.lead_to(socket(cluster));
    }

    /// Passes bytes in this way from now on.
    pub fn pass(&self, passing: Passing) {
        self.0.send_modify(|state| state.passing = passing);
    }

    /// Passes bytes in this way for a time, and normally afterwards.
    pub async fn pass_for(&self, passing: Passing, lasts: Duration) {
        self.pass(passing);
        if passing == Passing::Refused {
            self.cut();
        }
        sleep(lasts).await;
        self.pass(Passing::Normal);
    }
}

fn socket(cluster: &Cluster) -> String {
    cluster.socket().join(SOCKET).to_string_lossy().into_owned()
}

/// Passes bytes both ways until both sides have ended or one is broken. If the connection is silenced, keeps it open until the
/// client closes it.
async fn pass<S>(client: &mut S, server: &mut S, opened: &State, mut state: watch::Receiver<State>) -> End
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let State { n_cuts, n_silences, .. } = *opened;
    let (requests, answers) = (state.clone(), state.clone());
    let (from_client, to_client) = split(&mut *client);
    let (from_server, to_server) = split(server);
    let end = tokio::select! {
        _ended = async { tokio::try_join!(
            pass_one_way(from_client, to_server, n_silences, requests),
            pass_one_way(from_server, to_client, n_silences, answers),
        ) } => End::Closed,
        changed = state.wait_for(|state| (state.n_cuts, state.n_silences) != (n_cuts, n_silences)) => match changed {
            Ok(state) if state.n_cuts == n_cuts => End::Silenced,
            Ok(_) => End::Cut,
            Err(_) => End::Closed,
        },
    };
    if end == End::Silenced {
        let _ = copy(client, &mut sink()).await; // an error means that the client is gone
    }
    end
}

async fn pass_one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    n_silences: u64,
    mut state: watch::Receiver<State>,
) -> io::Result<()> {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let n = from.read(&mut bytes).await?;
        let passing = state.borrow().passing;
        if let Passing::Delayed(delay) = passing {
            sleep(delay).await;
        }
        let is_silenced = match state.wait_for(|state| state.passing != Passing::Held).await {
            Ok(state) => state.n_silences != n_silences,
            Err(_) => return Ok(()),
        };
        if is_silenced {
            pending::<()>().await; // the bytes came after the silence began
        }
        if n == 0 {
            return to.shutdown().await;
        }
        to.write_all(&bytes[..n]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client behind a proxy, and the servers that it may reach.
    async fn connected() -> (Proxy, String, [TcpListener; 2]) {
        let servers = [TcpListener::bind("127.0.0.1:0"), TcpListener::bind("127.0.0.1:0")];
        let [first, second] = servers;
        let servers = [first.await.expect("a port"), second.await.expect("a port")];
        let target = servers[0].local_addr().expect("an address").to_string();
        let (proxy, address) = Proxy::tcp(&target).await.expect("a proxy");
        (proxy, address, servers)
    }

    async fn passes(client: &mut TcpStream, server: &mut TcpStream) {
        client.write_all(b"a").await.expect("a write");
        assert_eq!(server.read_u8().await.expect("a byte"), b'a');
    }

    #[tokio::test]
    async fn a_silenced_connection_passes_nothing_and_stays_open_and_new_ones_work() {
        let (proxy, address, servers) = connected().await;
        let mut silent = TcpStream::connect(&address).await.expect("a connection");
        let (mut silent_server, _) = servers[0].accept().await.expect("a connection");
        passes(&mut silent, &mut silent_server).await;
        proxy.silence();
        proxy.lead_to(servers[1].local_addr().expect("an address").to_string());
        let mut new = TcpStream::connect(&address).await.expect("a connection");
        let (mut new_server, _) = servers[1].accept().await.expect("a connection");
        silent.write_all(b"b").await.expect("a write");
        silent_server.write_all(b"c").await.expect("a write");
        passes(&mut new, &mut new_server).await;
        for side in [&silent, &silent_server] {
            let found = side.try_read(&mut [0]).expect_err("no byte and no end");
            assert_eq!(found.kind(), io::ErrorKind::WouldBlock);
        }
    }
}
