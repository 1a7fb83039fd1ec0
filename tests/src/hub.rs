//! A model hub of our own: files come in; what the public hub would answer goes out, or what goes wrong when
//! it is told to.
//!
//! Like the public one it answers for large files (`.onnx` here) with a redirect to a store at another
//! address, saying size and SHA-256 in that redirect, and for small ones itself.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// A running hub and its store; gone when dropped.
#[derive(Debug)]
pub struct Hub {
    /// Its address, such as `http://127.0.0.1:41234`.
    pub url: String,
    state: Arc<Mutex<State>>,
    servers: [tokio::task::AbortHandle; 2],
}

/// What goes wrong with one answer.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// The connection closes before this byte of the file.
    BreakAt(usize),
    /// Nothing more comes from this byte of the file on, and the connection stays open.
    HoldAt(usize),
    /// One bit of this byte of the file is another.
    FlipAt(usize),
    /// This status and nothing else.
    Status(u16),
}

/// What one request was, and what it got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether it came to the store.
    pub store: bool,
    /// The file, as `owner/name/path`.
    pub file: String,
    /// Its `Range`.
    pub range: Option<String>,
    /// Its `If-Range`.
    pub if_range: Option<String>,
    /// Its `Authorization`.
    pub authorization: Option<String>,
    /// The answer's status.
    pub status: u16,
    /// Bytes of the file that were sent.
    pub n_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// Only with this token, where there is one.
    token: Option<String>,
    keeps_hashes_secret: bool,
    ignores_ranges: bool,
    /// By file, the next first.
    faults: BTreeMap<String, Vec<Fault>>,
    asked: Vec<Asked>,
    store: String,
}

impl Hub {
    /// Starts one that holds nothing.
    pub async fn start() -> Self {
        let (hub, store) = (listen().await, listen().await);
        let url = |listener: &TcpListener| format!("http://{}", listener.local_addr().expect("an address"));
        let state = State { store: url(&store), ..State::default() };
        let (state, url) = (Arc::new(Mutex::new(state)), url(&hub));
        let serve =
            |listener, at_store| tokio::spawn(serve(listener, at_store, state.clone())).abort_handle();
        let servers = [serve(hub, false), serve(store, true)];
        Self { url, state, servers }
    }

    /// Puts a file there, or another in its place.
    pub fn put(&self, file: &str, bytes: &[u8]) {
        self.state().files.insert(file.to_owned(), bytes.to_vec());
    }

    /// From now on only who shows this token is answered.
    pub fn gate(&self, token: &str) {
        self.state().token = Some(token.to_owned());
    }

    /// From now on it does not say what the SHA-256 of a file is.
    pub fn keep_hashes_secret(&self) {
        self.state().keeps_hashes_secret = true;
    }

    /// From now on it sends whole files, whatever part was asked for.
    pub fn ignore_ranges(&self) {
        self.state().ignores_ranges = true;
    }

    /// Goes wrong with the next answer for a file; told several times, with as many answers.
    pub fn fail(&self, file: &str, fault: Fault) {
        self.state().faults.entry(file.to_owned()).or_default().push(fault);
    }

    /// Requests that were answered so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    /// Those for a file that sent any of it, or would have.
    pub fn sent(&self, file: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.file == file && asked.status != 302).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.servers.iter().for_each(tokio::task::AbortHandle::abort);
    }
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a free port")
}

async fn serve(listener: TcpListener, at_store: bool, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = state.clone();
        // Who hangs up in the middle is not our concern.
        tokio::spawn(async move { answer(stream, at_store, &state).await.unwrap_or_default() });
    }
}

/// An answer's head, the part of the file it sends, and how the connection ends.
struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
    /// What the head says the body's length is.
    length: usize,
    holds: bool,
}

impl Reply {
    fn head(status: u16, headers: impl Into<String>) -> Self {
        Self { status, headers: headers.into(), body: Vec::new(), length: 0, holds: false }
    }
}

async fn answer(stream: TcpStream, at_store: bool, state: &Mutex<State>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut asked = read(&mut stream).await?;
    asked.store = at_store;
    let reply = lock(state).reply(&asked);
    (asked.status, asked.n_bytes) = (reply.status, reply.body.len());
    lock(state).asked.push(asked);
    let head = format!(
        "HTTP/1.1 {} Told\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n",
        reply.status, reply.length, reply.headers
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&reply.body).await?;
    stream.flush().await?;
    if reply.holds {
        // Ends when the other side hangs up.
        stream.read_to_end(&mut Vec::new()).await?;
    }
    Ok(())
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let target = line.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().trim_start_matches('/');
    // `owner/name/resolve/revision/path` at the hub.
    let names: Vec<&str> = path.split('/').collect();
    let file = match names[..] {
        [owner, name, "resolve", _, ref rest @ ..] => format!("{owner}/{name}/{}", rest.join("/")),
        _ => path.to_owned(),
    };
    let mut asked = Asked { file, ..Asked::default() };
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { return Ok(asked) };
        let field = match name.to_ascii_lowercase().as_str() {
            "range" => &mut asked.range,
            "if-range" => &mut asked.if_range,
            "authorization" => &mut asked.authorization,
            _ => continue,
        };
        *field = Some(value.to_owned());
    }
}

impl State {
    fn reply(&mut self, asked: &Asked) -> Reply {
        let shown = asked.authorization.as_deref().and_then(|a| a.strip_prefix("Bearer "));
        if !asked.store && self.token.is_some() && self.token.as_deref() != shown {
            return Reply::head(401, "X-Error-Message: Access to this model is restricted.\r\n");
        }
        let Some(bytes) = self.files.get(&asked.file) else {
            return Reply::head(404, "X-Error-Code: EntryNotFound\r\n");
        };
        let sha256 = sha256(bytes);
        let large = Path::new(&asked.file).extension().is_some_and(|ending| ending == "onnx");
        if large && !asked.store {
            let linked = if self.keeps_hashes_secret {
                String::new()
            } else {
                format!("X-Linked-Etag: \"{sha256}\"\r\nX-Linked-Size: {}\r\n", bytes.len())
            };
            let headers = format!("Location: {}/{}?signature=secret\r\n{linked}", self.store, asked.file);
            return Reply::head(302, headers);
        }
        let faults = self.faults.get_mut(&asked.file).filter(|faults| !faults.is_empty());
        let fault = faults.map(|faults| faults.remove(0));
        if let Some(Fault::Status(status)) = fault {
            return Reply::head(status, "");
        }
        // As at the public hub, the store's tag is not the file's SHA-256.
        let etag = format!("\"{}\"", &sha256[..32]);
        let range = asked.range.as_deref().filter(|_| !self.ignores_ranges);
        let range = range.filter(|_| asked.if_range.as_ref().is_none_or(|tag| *tag == etag));
        let from = range.and_then(|r| r.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
        part(bytes, from, &etag, fault)
    }
}

fn part(bytes: &[u8], from: Option<usize>, etag: &str, fault: Option<Fault>) -> Reply {
    let etag = format!("ETag: {etag}\r\n");
    let n = bytes.len();
    let (status, start, headers) = match from {
        Some(from) if from >= n => return Reply::head(416, format!("Content-Range: bytes */{n}\r\n")),
        Some(from) => (206, from, format!("{etag}Content-Range: bytes {from}-{}/{n}\r\n", n - 1)),
        None => (200, 0, etag),
    };
    let mut body = bytes[start..].to_vec();
    let length = body.len();
    match fault {
        Some(Fault::BreakAt(at) | Fault::HoldAt(at)) => body.truncate(at.saturating_sub(start)),
        Some(Fault::FlipAt(at)) if at >= start => body[at - start] ^= 1,
        _ => (),
    }
    Reply { status, headers, body, length, holds: matches!(fault, Some(Fault::HoldAt(_))) }
}
