//! The secret that signs an account's webhooks, and the signature, both as <https://www.standardwebhooks.com> defines
//! them.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretSlice};

/// What the text of a secret starts with.
const SECRET_START: &str = "whsec_";
/// The bytes of a new secret. The specification allows 24 to 64.
const SECRET_LEN: usize = 32;

/// A secret, which its account's receivers have too.
#[derive(Debug, Clone)]
pub struct WebhookSecret(SecretSlice<u8>);

impl WebhookSecret {
    /// Creates a random secret.
    pub fn random() -> Self {
        Self::from(rand::random::<[u8; SECRET_LEN]>().to_vec())
    }

    /// The secret as receivers configure it: `whsec_` and the bytes in base64.
    pub fn text(&self) -> String {
        format!("{SECRET_START}{}", STANDARD.encode(self.bytes()))
    }

    /// The signature of a webhook: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. The timestamp is that of
    /// the attempt, in seconds since 1970.
    pub fn sign(&self, id: impl fmt::Display, timestamp: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, self.bytes()));
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.expose_secret()
    }
}

impl From<Vec<u8>> for WebhookSecret {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with version 1.1.0 of the reference library, `standardwebhooks` on `PyPI`: `Webhook(secret).sign(...)`.
    #[test]
    fn signatures_are_those_of_the_reference_library() {
        let secret = |bytes: &[u8]| WebhookSecret::from(bytes.to_vec());
        let (short, long) = (secret(&[7; 24]), secret(&(0..32).collect::<Vec<u8>>()));
        assert_eq!(short.text(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH");
        assert_eq!(long.text(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        let id = "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";
        let body = r#"{"text":"ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}"#;
        assert_eq!(
            short.sign(id, 1_795_000_000, body.as_bytes()),
            "v1,3LXPnpuW3NlJaIwuFzLuxM+w0BBKHHWe9F9qAdN+fb8="
        );
        assert_eq!(long.sign("msg_1", 0, b""), "v1,7KQKbkrcYd5b9ynRqa9UF2RsXI3TOQ1Thl++uYFdWNs=");
    }

    #[test]
    fn a_secret_is_random_and_not_in_its_debug_text() {
        let (one, other) = (WebhookSecret::random(), WebhookSecret::random());
        assert_eq!(one.bytes().len(), SECRET_LEN);
        assert_ne!(one.text(), other.text());
        assert!(!format!("{one:?}").contains(&one.text()[SECRET_START.len()..]));
        assert!(!format!("{one:?}").contains(&format!("{:?}", one.bytes())));
    }
}
