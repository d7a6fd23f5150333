//! TLS 1.3: rustls does the handshake; after it, only records are handled.

mod records;
mod stream;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

pub(super) use records::Records;
pub(super) use stream::Stream;

/// The host name in the server's certificate.
const HOST: &str = "localhost";

/// What to offer a server whose certificate was issued by an authority in this file.
pub(super) fn config(authorities: &Path, resume: bool) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(authorities)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("certificates of {}", authorities.display()))?;
    let (usable, _) = roots.add_parsable_certificates(certificates);
    ensure!(usable > 0, "{} has no usable certificate", authorities.display());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_secret_extraction = true;
    if !resume {
        config.resumption = Resumption::disabled();
    }
    Ok(config)
}

/// A new session, before the handshake.
pub(super) fn session(config: &Arc<ClientConfig>) -> anyhow::Result<ClientConnection> {
    Ok(ClientConnection::new(Arc::clone(config), HOST.try_into()?)?)
}
