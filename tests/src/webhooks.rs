//! A receiver of webhooks, `tests/webhook_receiver.py`, which checks them with the reference library.

use serde_json::Value;
use tokio::process::Command;

use crate::{Process, root, until};

/// A running receiver.
#[derive(Debug)]
pub struct Receiver {
    process: Process,
    /// Its address, such as `http://127.0.0.1:41234`.
    pub base: String,
}

impl Receiver {
    /// Starts a receiver. A webhook that is not signed with each of the secrets is not received.
    pub async fn start(secrets: &[&str]) -> Self {
        let mut command = Command::new(root().join(".cache/schemathesis/bin/python"));
        command.arg(root().join("tests/webhook_receiver.py")).args(secrets).kill_on_drop(true);
        let mut process = Process::spawn("receiver", command);
        let port = process.first_line().await;
        Self { process, base: format!("http://127.0.0.1:{port}") }
    }

    /// The requests that were received so far and whose path is this.
    pub fn received(&self, path: &str) -> Vec<Value> {
        let requests = self.process.lines().into_iter().skip(1);
        let requests = requests.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
        requests.filter(|request| request["path"] == path).collect()
    }

    /// Waits until `n` requests with this path were received, and returns them.
    pub async fn receives(&self, n: usize, path: &str) -> Vec<Value> {
        until(&format!("{n} webhooks are received at {path}"), async || {
            Some(self.received(path)).filter(|received| received.len() >= n)
        })
        .await
    }
}
