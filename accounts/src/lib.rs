//! Accounts, their API keys and quotas, and the idempotency keys of their requests.
//!
//! An account owns jobs and has one or more keys, so that a key can be replaced without losing access to the jobs. A
//! key is `ak_`, a prefix of 8 characters, `_`, and 32 random bytes in base62. Only the SHA-256 of a key is stored. A key can
//! have tokens, which begin with `at_`: short-lived keys for web pages.

pub mod idempotency;
pub mod keys;
mod name;
mod quotas;
mod role;
mod secret;
pub mod tokens;

pub use keys::{AccountWebhook, WorkingKey};
pub use name::{NameError, check_name, is_hidden};
pub use quotas::{Quotas, Retention, set as set_quotas};
pub use role::Role;
pub use secret::{NewKey, Prefix, PresentedKey, prefix_text};
