//! The connection that a request came from.

use std::net::IpAddr;

/// The address of the client's end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);
