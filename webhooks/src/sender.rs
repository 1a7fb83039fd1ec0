//! Sends a webhook over HTTP, only to addresses that webhooks may be sent to.

use std::{sync::Arc, time::Duration};

use akhar_platform::{
    checked_client::CheckedClients,
    http_client::{Limits, cause},
};
use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderName},
};

use crate::caller_urls::{CallerUrl, UrlRules};

/// The time for one attempt, from the resolution of the name to the status of the response.
const LIMIT: Duration = Duration::from_secs(15);
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Bytes of a response's body that are read, so that the connection can be used again. The rest is not read.
const MAX_BODY_BYTES: usize = 16 * 1024;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// Sends webhooks.
#[derive(Debug)]
pub(crate) struct Sender(CheckedClients);

/// A webhook that is signed.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: String,
    /// Seconds since 1970.
    pub(crate) timestamp: i64,
    /// The signatures, separated by spaces.
    pub(crate) signatures: String,
    pub(crate) body: Vec<u8>,
}

impl Sender {
    pub(crate) fn new(rules: Arc<UrlRules>) -> Self {
        let limits = Limits { connect: CONNECT_LIMIT, stall: LIMIT, whole: Some(LIMIT) };
        Self(CheckedClients::new(move |address, has_tls| rules.allow(address, has_tls), limits))
    }

    /// Sends a webhook and returns the status of the response, or why there is none.
    pub(crate) async fn send(&self, url: CallerUrl, message: Message) -> Result<StatusCode, String> {
        let url = Url::from(url);
        let client = self.0.of(&url).await?;
        let request = client
            .post(url)
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
