//! The TLS configuration of all requests to other machines.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, crypto::ring};

/// A configuration that trusts Mozilla's root certificates and those of the system.
pub fn config() -> Result<ClientConfig, rustls::Error> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
