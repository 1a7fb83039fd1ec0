//! Authentication of requests by API key.

pub(crate) mod caller;
pub(crate) mod key_cache;
pub(crate) mod rates;
