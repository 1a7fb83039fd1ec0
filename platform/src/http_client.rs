//! Clients for requests to other machines. Each has time limits, because nothing else makes one (`.cargo/clippy.toml`).

use std::{error::Error, io, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use reqwest::{ClientBuilder, Response};
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// How long a client waits for another machine.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Until a name is resolved and the connection made.
    pub connect: Duration,
    /// From the request to the head of its response, and from each part of the body to the next one.
    pub stall: Duration,
    /// For a request and its response. `None` for responses of any size, whose reader keeps a [`Pace`](crate::pace::Pace).
    pub whole: Option<Duration>,
}

/// A client that names this program, and trusts Mozilla's root certificates and those of the system, which it reads here.
pub fn builder(limits: Limits) -> io::Result<ClientBuilder> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let user_agent = concat!("akhar/", env!("CARGO_PKG_VERSION"));
    #[expect(clippy::disallowed_methods, reason = "here it gets its limits")]
    let client = reqwest::Client::builder();
    let client = client.connect_timeout(limits.connect).read_timeout(limits.stall);
    let client = if let Some(whole) = limits.whole { client.timeout(whole) } else { client };
    Ok(client.tls_backend_preconfigured(tls).user_agent(user_agent))
}

/// The body of a response. Fails if it has more than `max_bytes`, as one without an end has.
pub async fn body(response: Response, max_bytes: usize) -> Result<Bytes, Box<dyn Error + Send + Sync>> {
    let body = Limited::new(reqwest::Body::from(response), max_bytes);
    Ok(body.collect().await?.to_bytes())
}

/// The text of the innermost error, which names the actual cause.
pub fn cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
        time::{Instant, sleep},
    };

    use super::*;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    /// The address of a server that answers with one byte after each pause, or never.
    async fn slow(pause: Option<Duration>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let _request = stream.read(&mut [0; 1024]).await;
                    let Some(pause) = pause else { return pending().await };
                    for byte in b"HTTP/1.1 200 OK\r\n\r\n".iter().chain([b'x'; 10_000].iter()) {
                        if stream.write_all(&[*byte]).await.is_err() {
                            return; // the client has gone
                        }
                        sleep(pause).await;
                    }
                });
            }
        });
        address
    }

    #[tokio::test]
    async fn a_server_that_swallows_or_sends_single_bytes_is_given_up() {
        let swallows = Limits { connect: LONG, stall: SHORT, whole: None };
        let drips = Limits { connect: LONG, stall: LONG, whole: Some(SHORT) };
        for (limits, pause) in [(swallows, None), (drips, Some(SHORT / 10))] {
            let began = Instant::now();
            let client = builder(limits).unwrap().no_proxy().build().unwrap();
            let answer = async { body(client.get(slow(pause).await).send().await?, usize::MAX).await };
            let error = answer.await.unwrap_err();
            assert!(error.downcast_ref().is_some_and(reqwest::Error::is_timeout), "{error:?}");
            assert!(began.elapsed() < LONG / 2);
        }
    }
}
