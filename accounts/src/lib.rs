//! Accounts and their API keys: a name comes in and an account with a key goes out; later the key comes in and the
//! account it belongs to goes out.
//!
//! An account owns jobs and has one key or more, so that a key can be replaced without losing the jobs. A key is
//! `ak_` + 8 characters of prefix + `_` + 32 random bytes in base62. Only its SHA-256 is stored.

pub mod keys;
mod secret;

pub use keys::{KeyError, KeyInfo, WorkingKey};
pub use secret::{NewKey, Prefix, PresentedKey, prefix_text};
