//! Sends a webhook over HTTP, only to addresses that webhooks may be sent to.
//!
//! A name is resolved here, and the connection is made to one of the addresses that were checked, so a name cannot have
//! another address for the connection than for the check. Redirects are not followed and no proxy is used, because both
//! would choose other addresses.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use akhar_accounts::{WebhookTargets, WebhookUrl};
use akhar_platform::{
    blocking::blocking,
    http_client::{self, cause},
};
use reqwest::{
    Client, Response, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, HeaderName},
    redirect::Policy,
};
use tokio::sync::OnceCell;

/// The time for one attempt, from the resolution of the name to the status of the response.
const LIMIT: Duration = Duration::from_secs(15);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of a response's body that are read, so that the connection can be used again. The rest is not read.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// How long a connection is kept for the next webhook.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Sends webhooks.
#[derive(Debug)]
pub(super) struct Sender {
    targets: Arc<WebhookTargets>,
    /// Made for the first webhook, because most processes send none.
    clients: OnceCell<Clients>,
}

#[derive(Debug)]
struct Clients {
    with_tls: Client,
    without_tls: Client,
}

/// A webhook that is signed.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: String,
    /// Seconds since 1970.
    pub(super) timestamp: i64,
    /// The signatures, separated by spaces.
    pub(super) signatures: String,
    pub(super) body: Vec<u8>,
}

impl Sender {
    pub(super) fn new(targets: Arc<WebhookTargets>) -> Self {
        Self { targets, clients: OnceCell::new() }
    }

    /// Sends a webhook and returns the status of the response, or why there is none.
    pub(super) async fn send(&self, url: WebhookUrl, message: Message) -> Result<StatusCode, String> {
        let clients = self.clients.get_or_try_init(|| Clients::new(&self.targets)).await?;
        let client = if url.has_tls() { &clients.with_tls } else { &clients.without_tls };
        let request = client
            .post(Url::from(url))
            .header(CONTENT_TYPE, "application/json")
            .header(WEBHOOK_ID, message.id)
            .header(WEBHOOK_TIMESTAMP, message.timestamp)
            .header(WEBHOOK_SIGNATURE, message.signatures)
            .body(message.body);
        let response = request.send().await.map_err(|error| described(&error))?;
        let status = response.status();
        discard_body(response).await;
        Ok(status)
    }
}

impl Clients {
    async fn new(targets: &Arc<WebhookTargets>) -> Result<Self, String> {
        let client = async |has_tls| {
            let builder = blocking(http_client::builder).await;
            builder
                .map_err(|error| format!("TLS cannot be used: {error}"))?
                .dns_resolver(CheckedNames { targets: targets.clone(), has_tls })
                .redirect(Policy::none())
                .no_proxy()
                .timeout(LIMIT)
                .connect_timeout(CONNECT_LIMIT)
                .pool_idle_timeout(IDLE_LIMIT)
                .build()
                .map_err(|error| described(&error))
        };
        Ok(Self { with_tls: client(true).await?, without_tls: client(false).await? })
    }
}

/// Resolves names to the addresses that webhooks may be sent to. An address in a URL is not resolved: it is checked when
/// the URL is parsed.
#[derive(Debug)]
struct CheckedNames {
    targets: Arc<WebhookTargets>,
    has_tls: bool,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let targets = self.targets.clone();
        let has_tls = self.has_tls;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let checked: Vec<SocketAddr> = found.filter(|a| targets.allow(a.ip(), has_tls)).collect();
            if checked.is_empty() {
                let expected = if has_tls { "public" } else { "allowed without TLS" };
                return Err(format!("the name {:?} has no address that is {expected}", name.as_str()).into());
            }
            Ok(Box::new(checked.into_iter()) as Addrs)
        })
    }
}

/// Reads the body of a response up to a limit. An error of the body does not matter: the status is known.
async fn discard_body(mut response: Response) {
    let mut n_left = MAX_BODY_BYTES;
    while let Ok(Some(chunk)) = response.chunk().await {
        n_left = n_left.saturating_sub(chunk.len());
        if n_left == 0 {
            return;
        }
    }
}

/// Why there is no response. The innermost error names the cause.
fn described(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no response within {} s", LIMIT.as_secs());
    }
    cause(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolved(name: &str, allowed: &[&str], has_tls: bool) -> Result<Vec<SocketAddr>, String> {
        let allowed = allowed.iter().map(|network| network.parse().unwrap()).collect();
        let names = CheckedNames { targets: Arc::new(WebhookTargets::new(allowed)), has_tls };
        let addresses = names.resolve(name.parse().unwrap()).await;
        addresses.map(Iterator::collect).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_name_is_resolved_to_allowed_addresses_only() {
        let refused = resolved("localhost", &[], true).await.unwrap_err();
        assert!(refused.contains("\"localhost\" has no address that is public"), "{refused}");
        assert!(resolved("localhost", &["10.0.0.0/8"], false).await.is_err());
        let allowed = resolved("localhost", &["127.0.0.0/8"], false).await.unwrap();
        assert!(!allowed.is_empty() && allowed.iter().all(|a| a.ip().to_string() == "127.0.0.1"));
    }
}
