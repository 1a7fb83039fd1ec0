//! The attacker: where it connects from, its key, and what it counts.

use std::{
    collections::BTreeMap,
    fmt,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use akhar_tests::{Form, Stack};
use tokio::{
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};

/// The attacker's address. It differs from that of the innocent caller, as it does on a network.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// The time that the attacker waits for an answer or a connection.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with bad intentions.
#[derive(Debug)]
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
pub(super) struct Outcome(BTreeMap<String, usize>);

impl Outcome {
    /// Counts one event.
    pub(super) fn count(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    /// Waits for all clients, and adds their numbers.
    pub(super) async fn of_all(mut clients: JoinSet<Self>) -> Self {
        let mut all = Self::default();
        while let Some(outcome) = clients.join_next().await {
            for (what, n) in outcome.expect("a client of an attack does not panic").0 {
                *all.0.entry(what).or_default() += n;
            }
        }
        all
    }
}

impl fmt::Display for Outcome {
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
        let client =
            reqwest::Client::builder().local_address(std::net::IpAddr::from(ADDRESS)).timeout(PATIENCE);
        Self { service, key, base: stack.base.clone(), client: client.build().expect("a client") }
    }

    /// Opens a connection. `None` if the service takes none.
    pub(super) async fn connect(&self) -> Option<TcpStream> {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind((ADDRESS, 0).into()).ok()?;
        timeout(PATIENCE, socket.connect(self.service)).await.ok()?.ok()
    }

    /// A POST of a form to an operation.
    pub(super) fn post(&self, operation: &str, form: &Form) -> reqwest::RequestBuilder {
        let request = self.client.post(format!("{}/v1/models/{operation}", self.base)).bearer_auth(&self.key);
        request.header("content-type", form.content_type()).body(form.body())
    }

    /// A request with another key.
    pub(super) fn request(&self, method: reqwest::Method, path: &str, key: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base)).bearer_auth(key)
    }
}

/// Sends a request, and names the answer: its status, or that there was none.
pub(super) async fn answer_to(request: reqwest::RequestBuilder) -> String {
    match request.send().await {
        Ok(response) => {
            let status = response.status().as_u16();
            match response.bytes().await {
                Ok(_) => status.to_string(),
                Err(_) => format!("{status}, cut off"),
            }
        }
        Err(_) => "no answer".to_owned(),
    }
}
