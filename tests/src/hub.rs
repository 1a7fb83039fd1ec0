//! A model hub for tests. It answers as the public hub does, and a test can make it fail.
//!
//! Like the public hub, it redirects requests for large files (here `.onnx`) to a store at another address.
//! The redirect has the file's size and SHA-256. The hub itself sends small files.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use parking_lot::{Mutex, MutexGuard};
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::hostile::HostileProxy;

/// A running hub and its store. Both stop when the value is dropped.
#[derive(Debug)]
pub struct Hub {
    /// The hub's address, such as `http://127.0.0.1:41234`.
    pub url: String,
    state: Arc<Mutex<State>>,
    servers: [tokio::task::AbortHandle; 2],
}

/// A fault in one answer.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// The connection closes before this byte of the file.
    BreakAt(usize),
    /// The hub stops sending before this byte of the file and keeps the connection open.
    HoldAt(usize),
    /// One bit of this byte of the file is flipped.
    FlipAt(usize),
    /// The answer has this status and no body.
    Status(u16),
}

/// A request that the hub or the store received, and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// Whether the store received it.
    pub store: bool,
    /// The file, as `owner/name/path`.
    pub file: String,
    /// The request's `Range`.
    pub range: Option<String>,
    /// The request's `If-Range`.
    pub if_range: Option<String>,
    /// The request's `Authorization`.
    pub authorization: Option<String>,
    /// The answer's status.
    pub status: u16,
    /// The number of bytes of the file in the answer.
    pub n_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, Vec<u8>>,
    /// The token that requests to the hub must have, if any.
    token: Option<String>,
    hides_hashes: bool,
    ignores_ranges: bool,
    /// The faults of the next answers for each file.
    faults: BTreeMap<String, Vec<Fault>>,
    requests: Vec<Request>,
    /// The store's address.
    store: String,
}

impl Hub {
    /// Starts a hub without files.
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

    /// Starts a proxy in front of the hub and one in front of its store. From now on, the hub redirects to the latter.
    pub async fn behind_proxies(&self) -> [HostileProxy; 2] {
        let store = self.state().store.clone();
        let proxies = [HostileProxy::start(&self.url).await, HostileProxy::start(&store).await];
        self.state().store.clone_from(&proxies[1].address);
        proxies
    }

    /// Adds or replaces a file.
    pub fn put(&self, file: &str, bytes: &[u8]) {
        self.state().files.insert(file.to_owned(), bytes.to_vec());
    }

    /// Requires this token in all further requests.
    pub fn require_token(&self, token: &str) {
        self.state().token = Some(token.to_owned());
    }

    /// Leaves the SHA-256 of files out of all further redirects.
    pub fn hide_hashes(&self) {
        self.state().hides_hashes = true;
    }

    /// Sends whole files from now on, also when a request has a `Range`.
    pub fn ignore_ranges(&self) {
        self.state().ignores_ranges = true;
    }

    /// Makes the next answer for a file fail. Several calls make as many answers fail.
    pub fn fail(&self, file: &str, fault: Fault) {
        self.state().faults.entry(file.to_owned()).or_default().push(fault);
    }

    /// All requests that were answered so far.
    pub fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    /// The requests for a file that were not answered with a redirect.
    pub fn sent(&self, file: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.file == file && request.status != 302).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.servers.iter().for_each(tokio::task::AbortHandle::abort);
    }
}

/// SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a free port")
}

async fn serve(listener: TcpListener, at_store: bool, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = state.clone();
        // An error means that the client closed the connection, which a test may do.
        tokio::spawn(async move { answer(stream, at_store, &state).await.unwrap_or_default() });
    }
}

/// An answer.
struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
    /// The value of `Content-Length`. It is larger than the body if the transfer is to break off.
    length: usize,
    /// Whether the connection stays open after the body.
    holds: bool,
}

impl Reply {
    fn head(status: u16, headers: impl Into<String>) -> Self {
        Self { status, headers: headers.into(), body: Vec::new(), length: 0, holds: false }
    }
}

async fn answer(stream: TcpStream, at_store: bool, state: &Mutex<State>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut request = read(&mut stream).await?;
    request.store = at_store;
    let reply = state.lock().reply(&request);
    (request.status, request.n_bytes) = (reply.status, reply.body.len());
    state.lock().requests.push(request);
    let head = format!(
        "HTTP/1.1 {} Status\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n",
        reply.status, reply.length, reply.headers
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&reply.body).await?;
    stream.flush().await?;
    if reply.holds {
        // This returns when the client closes the connection.
        stream.read_to_end(&mut Vec::new()).await?;
    }
    Ok(())
}

async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let target = line.split(' ').nth(1).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().trim_start_matches('/');
    // The path is `owner/name/resolve/revision/path` at the hub, and `owner/name/path` at the store.
    let names: Vec<&str> = path.split('/').collect();
    let file = match names[..] {
        [owner, name, "resolve", _, ref rest @ ..] => format!("{owner}/{name}/{}", rest.join("/")),
        _ => path.to_owned(),
    };
    let mut request = Request { file, ..Request::default() };
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { return Ok(request) };
        let field = match name.to_ascii_lowercase().as_str() {
            "range" => &mut request.range,
            "if-range" => &mut request.if_range,
            "authorization" => &mut request.authorization,
            _ => continue,
        };
        *field = Some(value.to_owned());
    }
}

impl State {
    fn reply(&mut self, request: &Request) -> Reply {
        let token = request.authorization.as_deref().and_then(|a| a.strip_prefix("Bearer "));
        if !request.store && self.token.is_some() && self.token.as_deref() != token {
            return Reply::head(401, "X-Error-Message: Access to this model is restricted.\r\n");
        }
        let Some(bytes) = self.files.get(&request.file) else {
            return Reply::head(404, "X-Error-Code: EntryNotFound\r\n");
        };
        let sha256 = sha256(bytes);
        let large = Path::new(&request.file).extension().is_some_and(|ending| ending == "onnx");
        if large && !request.store {
            let linked = if self.hides_hashes {
                String::new()
            } else {
                format!("X-Linked-Etag: \"{sha256}\"\r\nX-Linked-Size: {}\r\n", bytes.len())
            };
            let headers = format!("Location: {}/{}?signature=secret\r\n{linked}", self.store, request.file);
            return Reply::head(302, headers);
        }
        let faults = self.faults.get_mut(&request.file).filter(|faults| !faults.is_empty());
        let fault = faults.map(|faults| faults.remove(0));
        if let Some(Fault::Status(status)) = fault {
            return Reply::head(status, "");
        }
        // The store's ETag is not the file's SHA-256, as at the public hub.
        let etag = format!("\"{}\"", &sha256[..32]);
        let range = request.range.as_deref().filter(|_| !self.ignores_ranges);
        let range = range.filter(|_| request.if_range.as_ref().is_none_or(|tag| *tag == etag));
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
