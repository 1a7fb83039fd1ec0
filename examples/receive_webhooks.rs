//! Receives webhooks on port 8000, checks their signatures, and prints which jobs and groups have ended.

use std::{
    env,
    error::Error,
    time::{Duration, SystemTime},
};

use akhar_client::{GroupWebhookBody, WebhookBody};
use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode},
    routing::post,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use serde::Deserialize;
use tokio::net::TcpListener;

/// A webhook whose time is further away is refused, so that nobody can send an old one again.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

#[derive(Deserialize)]
#[serde(untagged)]
enum Webhook {
    Job(Box<WebhookBody>),
    Group(GroupWebhookBody),
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let secret = secret(&env::var("WEBHOOK_SECRET")?)?;
    let listener = TcpListener::bind(("0.0.0.0", 8000)).await?;
    Ok(axum::serve(listener, Router::new().route("/", post(receive)).with_state(secret)).await?)
}

/// Answers at once. Work that takes long is done afterwards, once for each `webhook-id`: a webhook can come again.
async fn receive(State(secret): State<hmac::Key>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !is_signed(&secret, &headers, &body, SystemTime::now()) {
        return StatusCode::UNAUTHORIZED;
    }
    match serde_json::from_slice(&body) {
        Ok(Webhook::Job(webhook)) => println!("{:?} {}", webhook.event, webhook.data.id),
        Ok(Webhook::Group(webhook)) => println!("{:?} {}", webhook.event, webhook.data.name),
        Err(error) => println!("a webhook of another kind: {error}"),
    }
    StatusCode::NO_CONTENT
}

/// The secret that the operator has made, such as `whsec_…`.
fn secret(text: &str) -> Result<hmac::Key, base64::DecodeError> {
    let bytes = STANDARD.decode(text.strip_prefix("whsec_").unwrap_or(text))?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// Whether a webhook was signed with the secret, now or some minutes ago.
fn is_signed(secret: &hmac::Key, headers: &HeaderMap, body: &[u8], now: SystemTime) -> bool {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let timestamp = header("webhook-timestamp");
    let sent =
        timestamp.parse().ok().and_then(|s| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(s)));
    let is_recent = sent
        .is_some_and(|sent| now.duration_since(sent).unwrap_or_else(|later| later.duration()) <= TOLERANCE);
    let signed = [format!("{}.{timestamp}.", header("webhook-id")).as_bytes(), body].concat();
    let is_of_secret = |signature: &str| {
        let bytes = signature.strip_prefix("v1,").and_then(|text| STANDARD.decode(text).ok());
        bytes.is_some_and(|bytes| hmac::verify(secret, &signed, &bytes).is_ok())
    };
    is_recent && header("webhook-signature").split(' ').any(is_of_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Signed by version 1.1.0 of the reference library, `standardwebhooks` on `PyPI`.
    #[test]
    fn only_recent_webhooks_with_the_signature_of_the_secret_are_received() {
        let secret = secret("whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH").unwrap();
        let body = r#"{"text":"ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}"#;
        let good = "v1,3LXPnpuW3NlJaIwuFzLuxM+w0BBKHHWe9F9qAdN+fb8=";
        let is_received = |signature: &str, body: &str, seconds_later: i64| {
            let headers = [
                ("webhook-id", "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11"),
                ("webhook-timestamp", "1795000000"),
                ("webhook-signature", signature),
            ];
            let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            let now = Duration::from_secs(1_795_000_000u64.saturating_add_signed(seconds_later));
            is_signed(&secret, &HeaderMap::from_iter(headers), body.as_bytes(), SystemTime::UNIX_EPOCH + now)
        };
        assert!(is_received(good, body, 0));
        assert!(is_received(&format!("v1,AAAA {good}"), body, 300));
        assert!(is_received(good, body, -300));
        assert!(!is_received(good, body, 301));
        assert!(!is_received(good, body, -301));
        assert!(!is_received(good, "{}", 0));
        assert!(!is_received("v1,AAAA", body, 0));
        assert!(!is_received(good.trim_start_matches("v1,"), body, 0));
        assert!(!is_received("", body, 0));
    }
}
