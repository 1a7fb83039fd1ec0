//! Clients for requests to other machines.

use std::{error::Error, io, sync::Arc};

use reqwest::ClientBuilder;
use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// A client that names this program, and trusts Mozilla's root certificates and those of the system, which it reads here.
pub fn builder() -> io::Result<ClientBuilder> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let user_agent = concat!("akhar/", env!("CARGO_PKG_VERSION"));
    Ok(reqwest::Client::builder().tls_backend_preconfigured(tls).user_agent(user_agent))
}

/// The text of the innermost error, which names the actual cause.
pub fn cause(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
