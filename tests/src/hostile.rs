//! A proxy in front of an HTTP server that makes its answers bad, as a broken server or network does.

use std::{collections::VecDeque, io, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, copy, sink},
    net::{
        TcpListener, TcpStream,
        tcp::{ReadHalf, WriteHalf},
    },
    sync::watch,
    time::sleep,
};

/// What is wrong with the first answer on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hostility {
    /// It has this status and no body. The server does not get the request.
    Status(u16),
    /// It is a redirect to an address at which nobody listens. The server does not get the request.
    Redirect,
    /// The connection closes in the middle of its body.
    Truncated,
    /// The first part of its body arrives in eight pieces, with this pause after each.
    Slow(Duration),
    /// A bit in the middle of its body is flipped.
    Flipped,
}

/// A running proxy. It stops when the value is dropped.
#[derive(Debug)]
pub struct HostileProxy {
    /// The proxy's address, such as `http://127.0.0.1:41234`.
    pub address: String,
    turns: Arc<Mutex<VecDeque<Hostility>>>,
    /// Open connections break whenever a value is sent.
    cut: watch::Sender<()>,
    server: tokio::task::AbortHandle,
}

impl HostileProxy {
    /// Starts a proxy in front of the server with this address, such as `http://127.0.0.1:41234`. It passes everything on.
    pub async fn start(server: &str) -> Self {
        let target = server.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let turns: Arc<Mutex<VecDeque<Hostility>>> = Arc::default();
        let (cut, watched) = watch::channel(());
        let of_connections = Arc::clone(&turns);
        let server = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let hostility = next(&of_connections);
                let (target, mut watched) = (target.clone(), watched.clone());
                watched.mark_unchanged();
                tokio::spawn(async move {
                    tokio::select! {
                        // An error means that one side closed the connection.
                        ended = serve(client, target, hostility) => ended.unwrap_or_default(),
                        _cut = watched.changed() => (),
                    }
                });
            }
        });
        Self { address, turns, cut, server: server.abort_handle() }
    }

    /// Breaks all open connections. Those that are opened from now on have these in turns, again and again. None of them:
    /// everything is passed on.
    pub fn turn_to(&self, hostilities: &[Hostility]) {
        *self.turns.lock() = hostilities.iter().copied().collect();
        self.cut.send_replace(());
    }
}

impl Drop for HostileProxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn next(turns: &Mutex<VecDeque<Hostility>>) -> Option<Hostility> {
    let mut turns = turns.lock();
    let next = turns.pop_front()?;
    turns.push_back(next);
    Some(next)
}

async fn serve(mut client: TcpStream, target: String, hostility: Option<Hostility>) -> io::Result<()> {
    match hostility {
        Some(Hostility::Status(status)) => refuse(client, &format!("{status} Status")).await,
        Some(Hostility::Redirect) => refuse(client, "307 Redirect\r\nLocation: http://127.0.0.1:1/").await,
        _ => {
            let mut server = TcpStream::connect(target).await?;
            let (mut requests, to_client) = client.split();
            let (answers, mut to_server) = server.split();
            tokio::select! {
                sent = copy(&mut requests, &mut to_server) => sent.map(drop),
                answered = pass(answers, to_client, hostility) => answered,
            }
        }
    }
}

/// Reads a request, and answers it with this status and header.
async fn refuse(client: TcpStream, head: &str) -> io::Result<()> {
    let mut client = BufReader::new(client);
    let mut length = 0;
    let mut line = String::new();
    while client.read_line(&mut line).await? > 0 && line != "\r\n" {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or_default();
        }
        line.clear();
    }
    copy(&mut (&mut client).take(length), &mut sink()).await?;
    let answer = format!("HTTP/1.1 {head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await
}

/// Passes answers on. The first one that has a body is made bad.
async fn pass(
    answers: ReadHalf<'_>,
    mut to_client: WriteHalf<'_>,
    hostility: Option<Hostility>,
) -> io::Result<()> {
    let mut answers = BufReader::new(answers);
    if let Some(hostility) = hostility {
        while !pass_head(&mut answers, &mut to_client).await? {}
        let mut body = vec![0; 64 * 1024];
        let n = answers.read(&mut body).await?;
        match hostility {
            Hostility::Truncated => return to_client.write_all(&body[..n / 2]).await,
            Hostility::Slow(pause) => {
                for piece in body[..n].chunks(n.div_ceil(8).max(1)) {
                    to_client.write_all(piece).await?;
                    sleep(pause).await;
                }
            }
            _ => {
                if hostility == Hostility::Flipped {
                    body[n / 2] ^= 1;
                }
                to_client.write_all(&body[..n]).await?;
            }
        }
    }
    copy(&mut answers, &mut to_client).await.map(drop)
}

/// Passes the head of an answer on. Returns whether a body follows.
async fn pass_head(answers: &mut BufReader<ReadHalf<'_>>, to_client: &mut WriteHalf<'_>) -> io::Result<bool> {
    let mut has_body = true;
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if answers.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        to_client.write_all(line.as_bytes()).await?;
        let lower = line.to_ascii_lowercase();
        has_body &= !lower.starts_with("http/1.1 204") && lower.trim_end() != "content-length: 0";
    }
    Ok(has_body)
}
