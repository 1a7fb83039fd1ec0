//! Clients for requests to URLs that callers choose, which connect only to addresses that a rule allows.
//!
//! A name is resolved here, and the connection is made to one of the addresses that were checked, so a name cannot have
//! another address for the connection than for the check. Redirects are not followed and no proxy is used, because both
//! would choose other addresses.

use std::{
    error::Error,
    fmt, io,
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};
use tokio::sync::{OnceCell, Semaphore};

use crate::{
    blocking::blocking,
    http_client::{self, Limits, cause},
};

/// The most names that are resolved at a time. The system's resolver waits for a server that does not answer for longer than any
/// client, on a thread that cannot be stopped. So this is half of the threads that may block, and the rest is for other work.
const MAX_LOOKUPS: usize = 256;

/// How long a connection is kept for the next request.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

/// Whether a request may be sent to an address, with TLS or without.
type Rule = Arc<dyn Fn(IpAddr, bool) -> bool + Send + Sync>;

/// Clients that connect only to addresses that a rule allows. An address in a URL is not resolved, so whoever parses the URL
/// must have checked it.
pub struct CheckedClients {
    allow: Rule,
    limits: Limits,
    lookups: Lookups,
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
    /// Clients that connect to the addresses that `allow` allows with TLS, or without.
    pub fn new(allow: impl Fn(IpAddr, bool) -> bool + Send + Sync + 'static, limits: Limits) -> Self {
        let lookups = Lookups { places: Arc::new(Semaphore::new(MAX_LOOKUPS)), resolve };
        Self { allow: Arc::new(allow), limits, lookups, clients: OnceCell::new() }
    }

    /// The client for requests to this URL. The error says why TLS cannot be used.
    pub async fn of(&self, url: &Url) -> Result<&Client, String> {
        let clients = self.clients.get_or_try_init(|| self.make()).await?;
        Ok(if url.scheme() == "https" { &clients.with_tls } else { &clients.without_tls })
    }

    async fn make(&self) -> Result<Clients, String> {
        let limits = self.limits;
        let client = async |has_tls| {
            let builder = blocking(move || http_client::builder(limits)).await;
            let builder = builder.map_err(|error| format!("TLS cannot be used: {error}"))?;
            let names = CheckedNames { allow: self.allow.clone(), has_tls, lookups: self.lookups.clone() };
            let builder =
                builder.dns_resolver(names).pool_idle_timeout(IDLE_LIMIT).redirect(Policy::none()).no_proxy();
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
    lookups: Lookups,
}

/// Resolves at most so many names at a time.
#[derive(Clone)]
struct Lookups {
    places: Arc<Semaphore>,
    resolve: fn(&str) -> io::Result<Vec<SocketAddr>>,
}

impl Lookups {
    /// Whoever drops the future leaves the name to the resolver, which keeps the place until it ends.
    async fn find(self, name: String) -> io::Result<Vec<SocketAddr>> {
        let place = self.places.acquire_owned().await.map_err(io::Error::other)?;
        blocking(move || {
            let _place = place;
            (self.resolve)(&name)
        })
        .await
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the limit of the connection holds for it, and `Lookups` bounds its threads"
)]
fn resolve(name: &str) -> io::Result<Vec<SocketAddr>> {
    Ok((name, 0).to_socket_addrs()?.collect())
}

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let allow = self.allow.clone();
        let has_tls = self.has_tls;
        let lookups = self.lookups.clone();
        let name = name.as_str().to_owned();
        Box::pin(async move {
            let mut found = lookups.find(name.clone()).await?;
            found.retain(|address| allow(address.ip(), has_tls));
            if found.is_empty() {
                let expected = if has_tls { "public" } else { "allowed without TLS" };
                return Err(NotAllowed { name, expected }.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(5);
    const LIMITS: Limits = Limits { connect: LIMIT, stall: LIMIT, whole: Some(LIMIT) };

    fn lookups(places: usize, resolve: fn(&str) -> io::Result<Vec<SocketAddr>>) -> Lookups {
        Lookups { places: Arc::new(Semaphore::new(places)), resolve }
    }

    async fn resolved(allow: fn(IpAddr, bool) -> bool, has_tls: bool) -> Result<Vec<SocketAddr>, String> {
        let names = CheckedNames { allow: Arc::new(allow), has_tls, lookups: lookups(1, resolve) };
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
        let clients = CheckedClients::new(|_, _| false, LIMITS);
        let url = Url::parse("http://localhost:9/").unwrap();
        let error = clients.of(&url).await.unwrap().get(url).send().await.unwrap_err();
        assert!(is_not_allowed(&error), "{error:?}");
    }

    /// Two meet here: a resolver that does not answer, and the test that lets it end.
    static SILENCE: Barrier = Barrier::new(2);

    fn silent(_: &str) -> io::Result<Vec<SocketAddr>> {
        SILENCE.wait();
        Err(io::ErrorKind::TimedOut.into())
    }

    #[tokio::test]
    async fn a_resolver_that_does_not_answer_holds_no_request_and_few_threads() {
        let limits = Limits { connect: Duration::from_millis(20), ..LIMITS };
        let clients =
            CheckedClients { lookups: lookups(1, silent), ..CheckedClients::new(|_, _| true, limits) };
        let url = Url::parse("http://silent.example/").unwrap();
        for _ in 0..3 {
            let error = clients.of(&url).await.unwrap().get(url.clone()).send().await.unwrap_err();
            assert!(error.is_timeout(), "{error:?}");
        }
        assert_eq!(
            clients.lookups.places.available_permits(),
            0,
            "the thread of the first one has the only place"
        );
        SILENCE.wait();
        drop(clients.lookups.places.acquire().await.unwrap());
    }
}
