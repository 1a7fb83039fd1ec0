//! The attacker: where it connects from, its key, and what it counts.

use std::{
    collections::BTreeMap,
    fmt,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use akhar_tests::{Form, Stack, images::fixture_of};
use reqwest::{Method, RequestBuilder};
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

/// What happened to an attacker's requests: the number of each answer.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<String, usize>);

impl Answers {
    /// Counts `n` requests with this answer.
    pub(super) fn add(&mut self, answer: impl Into<String>, n: usize) {
        *self.0.entry(answer.into()).or_default() += n;
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
        let parts: Vec<String> = self.0.iter().map(|(what, n)| format!("{what} {n}")).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Attacker {
    /// An attacker with a new account.
    pub(super) async fn new(stack: &Stack, name: &str) -> Self {
        let service = stack.base.trim_start_matches("http://").parse().expect("an address");
        let key = stack.keys(&["create", "--name", name]).await;
        let client = reqwest::Client::builder().local_address(IpAddr::from(ADDRESS)).timeout(TIMEOUT);
        Self { service, key, base: stack.base.clone(), client: client.build().expect("a client") }
    }

    /// The same attacker, whose requests go to this address.
    pub(super) fn through(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    /// Opens a connection. `None` if the service takes none.
    pub(super) async fn connect(&self) -> Option<TcpStream> {
        let socket = TcpSocket::new_v4().expect("a socket");
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

/// Sends a request, and names the answer: its status, or that there was none.
pub(super) async fn answer_to(request: RequestBuilder) -> String {
    match request.send().await {
        Ok(response) => {
            let status = response.status().as_u16();
            match response.bytes().await {
                Ok(_) => status.to_string(),
                Err(_) => format!("{status}, cut off"),
            }
        }
        Err(error) if error.is_timeout() => "still waiting".to_owned(),
        Err(_) => "no answer".to_owned(),
    }
}
