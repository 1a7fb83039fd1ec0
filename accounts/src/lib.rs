//! Accounts, their API keys, their quotas and the idempotency keys of their requests.
//!
//! An account owns jobs and has one or more keys, so that a key can be replaced without losing access to the jobs. A
//! key is `ak_`, a prefix of 8 characters, `_`, and 32 random bytes in base62. Only the SHA-256 of a key is stored.

pub mod idempotency;
pub mod keys;
mod quotas;
mod secret;

pub use keys::{KeyError, KeyInfo, ListedKey, WorkingKey};
pub use quotas::Quotas;
pub use secret::{NewKey, Prefix, PresentedKey, prefix_text};
