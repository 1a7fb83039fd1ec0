//! The attacker: where it connects from, its key, and what it counts.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use akhar_tests::{Form, Stack, images::fixture_of};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use tokio::{
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};

/// The attacker's address. It differs from that of the innocent caller, as it does on a network.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The time that the attacker waits for an answer or a connection.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A client with bad intentions.
#[derive(Debug, Clone)]
pub(super) struct Attacker {
    /// The service's address.
    pub(super) service: SocketAddr,
    /// A valid key of an account of its own.
    pub(super) key: String,
    base: String,
    client: reqwest::Client,
}

/// The buffer of a connection of which nothing is read, bytes.
const SMALL_BUFFER: u32 = 4096;

/// What happened to an attacker's requests.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The number of each answer.
    n: BTreeMap<String, usize>,
    /// What the service must not do, whoever asks.
    pub(super) failures: Vec<String>,
}

impl Answers {
    /// Counts `n` requests with this answer.
    pub(super) fn add(&mut self, answer: impl Into<String>, n: usize) {
        *self.n.entry(answer.into()).or_default() += n;
    }

    /// The number of requests with this answer.
    pub(super) fn n(&self, answer: &str) -> usize {
        self.n.get(answer).copied().unwrap_or(0)
    }

    /// Adds these.
    pub(super) fn add_all(&mut self, others: Self) {
        for (answer, n) in others.n {
            self.add(answer, n);
        }
        self.failures.extend(others.failures);
    }

    /// Counts one event.
    pub(super) fn count(&mut self, answer: impl Into<String>) {
        self.add(answer, 1);
    }

    /// Waits for all clients, and counts their answers.
    pub(super) async fn count_all<T: Into<String> + 'static>(&mut self, clients: &mut JoinSet<T>) {
        while let Some(answer) = clients.join_next().await {
            self.count(answer.expect("a client of an attack does not panic"));
        }
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.n.iter().map(|(what, n)| format!("{what} {n}")).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Attacker {
    /// An attacker with a new account.
    pub(super) async fn new(stack: &Stack, name: &str) -> Self {
        Self::with_key(stack, stack.keys(&["create", "--name", name]).await)
    }

    /// An attacker with this key.
    pub(super) fn with_key(stack: &Stack, key: String) -> Self {
        let service = stack.base.trim_start_matches("http://").parse().expect("an address");
        let client = reqwest::Client::builder().local_address(IpAddr::from(ADDRESS)).timeout(TIMEOUT);
        Self { service, key, base: stack.base.clone(), client: client.build().expect("a client") }
    }

    /// The same attacker, whose requests go to this address.
    pub(super) fn through(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Opens a connection. `None` if the service takes none.
    pub(super) async fn connect(&self) -> Option<TcpStream> {
        self.connect_by(TcpSocket::new_v4().expect("a socket")).await
    }

    /// Opens a connection that takes hardly more than is read of it. `None` if the service takes none.
    pub(super) async fn connect_unread(&self) -> Option<TcpStream> {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(SMALL_BUFFER).expect("a small buffer");
        self.connect_by(socket).await
    }

    async fn connect_by(&self, socket: TcpSocket) -> Option<TcpStream> {
        socket.bind((ADDRESS, 0).into()).ok()?;
        timeout(TIMEOUT, socket.connect(self.service)).await.ok()?.ok()
    }

    /// Sends `n` pictures one after another, as an account does that has nothing bad in mind.
    pub(super) async fn use_service(&self, n: usize) {
        let fixture = fixture_of("੫");
        let request = self.post(fixture.operation, &Form::upload(&fixture.bytes));
        for _ in 0..n {
            answer_to(request.try_clone().expect("bytes")).await;
        }
    }

    /// A POST of a form to an operation.
    pub(super) fn post(&self, operation: &str, form: &Form) -> RequestBuilder {
        form.send_with(self.request(Method::POST, &format!("/v1/models/{operation}"), &self.key))
    }

    /// A request with another key.
    pub(super) fn request(&self, method: Method, path: &str, key: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(key)
    }
}

/// A closed loop: until `end`, `n` requests are sent at the same time, each another one. Waits for the last answers.
pub(super) async fn flood(n: usize, end: Instant, request: impl Fn(usize) -> RequestBuilder) -> Answers {
    let mut answers = Answers::default();
    let mut sent = JoinSet::new();
    for nth in 0.. {
        if Instant::now() >= end {
            break;
        }
        if sent.len() >= n
            && let Some(answer) = sent.join_next().await
        {
            answers.count(answer.expect("a client of an attack does not panic"));
        }
        sent.spawn(answer_to(request(nth)));
    }
    answers.count_all(&mut sent).await;
    answers
}

/// Sends a request, and names the answer: its status and its problem, or that there was none.
pub(super) async fn answer_to(request: RequestBuilder) -> String {
    match request.send().await {
        Ok(response) => {
            let status = response.status().as_u16();
            match response.bytes().await {
                Ok(body) if status >= 400 => format!("{status} {}", slug(&body)).trim_end().to_owned(),
                Ok(_) => status.to_string(),
                Err(_) => format!("{status}, cut off"),
            }
        }
        Err(error) if error.is_timeout() => "still waiting".to_owned(),
        Err(_) => "no answer".to_owned(),
    }
}

/// The type of a problem, without its path. Empty if the body is no problem document.
fn slug(body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    problem["type"].as_str().and_then(|kind| kind.rsplit('/').next()).unwrap_or_default().to_owned()
}
