//! Clients for requests to URLs that callers choose, which connect only to addresses that a rule allows.
//!
//! A name is resolved here, and the connection is made to one of the addresses that were checked, so a name cannot have
//! another address for the connection than for the check. Redirects are not followed and no proxy is used, because both
//! would choose other addresses.

use std::{
    error::Error,
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use reqwest::{
    Client, ClientBuilder, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};
use tokio::sync::OnceCell;

use crate::{
    blocking::blocking,
    http_client::{self, cause},
};

/// Whether a request may be sent to an address, with TLS or without.
type Rule = Arc<dyn Fn(IpAddr, bool) -> bool + Send + Sync>;

/// Clients that connect only to addresses that a rule allows. An address in a URL is not resolved, so whoever parses the URL
/// must have checked it.
pub struct CheckedClients {
    allow: Rule,
    configure: fn(ClientBuilder) -> ClientBuilder,
    /// Made for the first request, because most processes send none.
    clients: OnceCell<Clients>,
}

struct Clients {
    with_tls: Client,
    without_tls: Client,
}

/// A name has no address to which requests may be sent.
#[derive(Debug, thiserror::Error)]
#[error("the name {name:?} has no address that is {expected}")]
struct NotAllowed {
    name: String,
    expected: &'static str,
}

impl CheckedClients {
    /// Clients that connect to the addresses that `allow` allows with TLS, or without. `configure` sets their time limits.
    pub fn new(
        allow: impl Fn(IpAddr, bool) -> bool + Send + Sync + 'static,
        configure: fn(ClientBuilder) -> ClientBuilder,
    ) -> Self {
        Self { allow: Arc::new(allow), configure, clients: OnceCell::new() }
    }

    /// The client for requests to this URL. The error says why TLS cannot be used.
    pub async fn of(&self, url: &Url) -> Result<&Client, String> {
        let clients = self.clients.get_or_try_init(|| self.make()).await?;
        Ok(if url.scheme() == "https" { &clients.with_tls } else { &clients.without_tls })
    }

    async fn make(&self) -> Result<Clients, String> {
        let client = async |has_tls| {
            let builder = blocking(http_client::builder).await;
            let builder = builder.map_err(|error| format!("TLS cannot be used: {error}"))?;
            let builder = (self.configure)(builder)
                .dns_resolver(CheckedNames { allow: self.allow.clone(), has_tls })
                .redirect(Policy::none())
                .no_proxy();
            builder.build().map_err(|error| cause(&error))
        };
        Ok(Clients { with_tls: client(true).await?, without_tls: client(false).await? })
    }
}

impl fmt::Debug for CheckedClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedClients").finish_non_exhaustive()
    }
}

/// Whether a request failed because the name in its URL has no address to which requests may be sent.
pub fn is_not_allowed(error: &reqwest::Error) -> bool {
    let mut next = error.source();
    while let Some(error) = next {
        if error.is::<NotAllowed>() {
            return true;
        }
        next = error.source();
    }
    false
}

/// Resolves names to the addresses that are allowed.
struct CheckedNames {
    allow: Rule,
    has_tls: bool,
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let allow = self.allow.clone();
        let has_tls = self.has_tls;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let checked: Vec<SocketAddr> = found.filter(|address| allow(address.ip(), has_tls)).collect();
            if checked.is_empty() {
                let expected = if has_tls { "public" } else { "allowed without TLS" };
                return Err(NotAllowed { name: name.as_str().to_owned(), expected }.into());
            }
            Ok(Box::new(checked.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn resolved(allow: fn(IpAddr, bool) -> bool, has_tls: bool) -> Result<Vec<SocketAddr>, String> {
        let names = CheckedNames { allow: Arc::new(allow), has_tls };
        let addresses = names.resolve("localhost".parse().unwrap()).await;
        addresses.map(Iterator::collect).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_name_is_resolved_to_allowed_addresses_only() {
        let refused = resolved(|_, _| false, true).await.unwrap_err();
        assert!(refused.contains("\"localhost\" has no address that is public"), "{refused}");
        assert!(resolved(|_, has_tls| has_tls, false).await.is_err());
        let allowed = resolved(|address, _| address.is_ipv4(), false).await.unwrap();
        assert!(!allowed.is_empty() && allowed.iter().all(|a| a.ip().to_string() == "127.0.0.1"));
    }

    #[tokio::test]
    async fn a_request_to_a_name_that_is_not_allowed_fails_and_says_so() {
        let clients = CheckedClients::new(|_, _| false, |builder| builder.timeout(Duration::from_secs(5)));
        let url = Url::parse("http://localhost:9/").unwrap();
        let error = clients.of(&url).await.unwrap().get(url).send().await.unwrap_err();
        assert!(is_not_allowed(&error), "{error:?}");
    }
}
