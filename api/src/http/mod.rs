//! What every request has in common, whatever it asks for: headers come in, how to answer goes out.

pub(crate) mod accept;
pub(crate) mod context;
pub(crate) mod middleware;
pub(crate) mod prefer;
pub(crate) mod representation;
pub(crate) mod unread_body;
