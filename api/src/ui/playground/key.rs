//! `POST /playground/key`: gives the page the demo key, if the request comes from a page of this server in a browser on this
//! machine.

use std::time::Instant;

use axum::{
    Json, RequestExt as _,
    extract::{Request, State, rejection::JsonRejection},
    http::{HeaderMap, header},
};
use serde::{Deserialize, Serialize};

use super::demo_key::DemoKey;
use crate::{
    http::{host::Host, peer::Peer},
    problems::{Problem, ProblemType},
};

/// Headers that a proxy adds. A request that has one comes from elsewhere.
const FORWARDED: [&str; 4] = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

/// The body of the request.
#[derive(Deserialize)]
pub(super) struct TokenBody {
    token: String,
}

/// The body of the response.
#[derive(Serialize)]
pub(super) struct KeyBody {
    key: String,
}

/// Answers with the key. Everything that is not right about the request has the same answer.
pub(super) async fn handle(
    State(demo_key): State<DemoKey>,
    request: Request,
) -> Result<Json<KeyBody>, Problem> {
    let refused = || Problem::of(ProblemType::NotFound);
    let peer = request.extensions().get::<Peer>().copied();
    if !peer.is_some_and(|Peer(address)| address.to_canonical().is_loopback()) || !is_local(request.headers())
    {
        return Err(refused());
    }
    let body: Result<Json<TokenBody>, JsonRejection> = request.extract().await;
    let Json(TokenBody { token }) = body.map_err(|_| refused())?;
    let key = demo_key.take(&token, Instant::now()).ok_or_else(refused)?;
    tracing::info!("the demo key was handed to the playground");
    Ok(Json(KeyBody { key }))
}

/// Whether the request comes from a page of this server in a browser on this machine: the page's origin is the server, which
/// has the name of this machine, and no proxy is between them. Another site that gives this machine a name of its own (DNS
/// rebinding) is refused.
fn is_local(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(host), Some(origin)) = (text(header::HOST.as_str()), text(header::ORIGIN.as_str())) else {
        return false;
    };
    let is_same_site = text("sec-fetch-site").is_none_or(|site| site == "same-origin");
    let is_direct = FORWARDED.iter().all(|name| !headers.contains_key(*name));
    is_direct && is_same_site && origin.strip_prefix("http://") == Some(host) && names_this_machine(host)
}

fn names_this_machine(host: &str) -> bool {
    match Host::parse(host) {
        Some(Host::Name(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Address(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "127.0.0.1:8080";

    #[test]
    fn only_a_page_of_this_machine_is_answered() {
        let local = |headers: &[(&'static str, &str)]| {
            let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            is_local(&headers.collect())
        };
        for host in [HERE, "localhost:8080", "[::1]:8080", "localhost"] {
            assert!(local(&[("host", host), ("origin", &format!("http://{host}"))]), "{host}");
        }
        for refused in [
            &[("host", HERE)][..],
            &[("host", HERE), ("origin", "null")],
            &[("host", HERE), ("origin", "http://evil.example")],
            &[("host", "evil.example"), ("origin", "http://evil.example")],
            &[("host", "127.0.0.1.evil.example"), ("origin", "http://127.0.0.1.evil.example")],
            &[("host", "[127.0.0.1]:8080"), ("origin", "http://[127.0.0.1]:8080")],
            &[("host", HERE), ("origin", "http://127.0.0.1:8080"), ("x-forwarded-for", "192.0.2.1")],
            &[("host", HERE), ("origin", "http://127.0.0.1:8080"), ("sec-fetch-site", "same-site")],
        ] {
            assert!(!local(refused), "{refused:?}");
        }
    }
}
