//! Who calls: an Authorization header comes in, the caller behind its API key goes out.

pub(crate) mod caller;
pub(crate) mod key_cache;
