//! A server of files for tests, from whose URLs a service fetches recordings.

use std::{collections::BTreeMap, io, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// A running server. It stops when the value is dropped.
#[derive(Debug)]
pub struct FileServer {
    /// Its address, such as `http://127.0.0.1:41234`.
    pub base: String,
    state: Arc<Mutex<State>>,
    server: tokio::task::AbortHandle,
}

/// How a request is answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// With this file.
    File(Vec<u8>),
    /// With this status and no body.
    Status(u16),
    /// With a redirect to this URL.
    Redirect(String),
    /// With zeros that never end, and no length.
    Endless,
    /// With half of a file, and then nothing for as long as the client waits.
    HalfOf(Vec<u8>),
    /// Not: the connection is closed.
    Close,
}

#[derive(Debug, Default)]
struct State {
    /// The next replies for each path. The last one is repeated.
    replies: BTreeMap<String, Vec<Reply>>,
    /// The targets of the requests, with their queries.
    requests: Vec<String>,
}

impl FileServer {
    /// Starts a server that answers 404.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::<Mutex<State>>::default();
        let server = tokio::spawn(serve(listener, state.clone())).abort_handle();
        Self { base, state, server }
    }

    /// Sets the replies to the next requests for a path, and returns the path's URL. The last reply is repeated.
    pub fn put(&self, path: &str, replies: impl IntoIterator<Item = Reply>) -> String {
        self.state.lock().replies.insert(path.to_owned(), replies.into_iter().collect());
        format!("{}{path}", self.base)
    }

    /// How many requests there were for this path, whatever the query.
    pub fn n_requests(&self, path: &str) -> usize {
        self.state.lock().requests.iter().filter(|target| target.split('?').next() == Some(path)).count()
    }

    /// The targets of all requests, with their queries.
    pub fn requests(&self) -> Vec<String> {
        self.state.lock().requests.clone()
    }
}

impl Drop for FileServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let state = state.clone();
        // An error means that the client closed the connection, which a test may do.
        tokio::spawn(async move { answer(stream, &state).await.unwrap_or_default() });
    }
}

async fn answer(stream: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if stream.read_line(&mut request).await? == 0 {
            return Ok(());
        }
    }
    let target = request.split(' ').nth(1).unwrap_or_default();
    let reply = state.lock().reply(target);
    let (status, header, body) = match &reply {
        Reply::File(file) => (200, format!("Content-Length: {}", file.len()), &file[..]),
        Reply::Status(status) => (*status, "Content-Length: 0".to_owned(), &[][..]),
        Reply::Redirect(url) => (302, format!("Content-Length: 0\r\nLocation: {url}"), &[][..]),
        Reply::Endless => (200, "Content-Type: audio/wav".to_owned(), &[0; 8192][..]),
        Reply::HalfOf(file) => (200, format!("Content-Length: {}", file.len()), &file[..file.len() / 2]),
        Reply::Close => return Ok(()),
    };
    let head = format!("HTTP/1.1 {status} Status\r\nConnection: close\r\n{header}\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.flush().await?;
    if matches!(reply, Reply::Endless) {
        loop {
            stream.write_all(body).await?;
        }
    }
    if matches!(reply, Reply::HalfOf(_)) {
        stream.read_to_end(&mut Vec::new()).await?;
    }
    Ok(())
}

impl State {
    fn reply(&mut self, target: &str) -> Reply {
        self.requests.push(target.to_owned());
        let path = target.split('?').next().unwrap_or_default();
        match self.replies.get_mut(path) {
            None => Reply::Status(404),
            Some(replies) if replies.len() > 1 => replies.remove(0),
            Some(replies) => replies[0].clone(),
        }
    }
}
