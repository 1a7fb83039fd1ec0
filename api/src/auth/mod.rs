//! Authentication of requests by API key or token.

pub(crate) mod caller;
pub(crate) mod key_cache;
pub(crate) mod presented;
pub(crate) mod rates;
pub(crate) mod scope;
pub(crate) mod turns;
