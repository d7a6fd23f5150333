//! TLS by rustls, for libraries that leave it to a listener or take rustls's configuration. Servers choose the cryptography provider.

use std::{future::pending, io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    time::sleep,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
pub use tokio_rustls::{rustls::ServerConfig, server::TlsStream};

use crate::Failure;

/// Maximum number of connections that have finished their handshake and wait to be served.
const MAX_WAITING: usize = 1024;

/// Delay before accepting again after an error, such as no free file descriptors.
const RETRY: Duration = Duration::from_secs(1);

/// rustls's defaults: TLS 1.2 and 1.3, with resumption. `protocols`: those that ALPN chooses from.
///
/// # Errors
/// If certificate and key, both in PEM, can't be used.
pub fn config(
    [certificate, key]: &[Vec<u8>; 2],
    protocols: &[&str],
) -> Result<ServerConfig, Failure> {
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>()?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_slice(key)?)?;
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok(config)
}

/// Accepts connections with TLS. Each handshake is a separate task, so that none waits for another.
#[derive(Debug)]
pub struct TlsListener {
    open: Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Starts to accept connections.
    ///
    /// # Errors
    /// If the listener has no address.
    pub fn new(listener: TcpListener, config: ServerConfig) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (ready, open) = channel(MAX_WAITING);
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), ready));
        Ok(Self { open, address })
    }

    /// The next connection that has finished its handshake.
    pub async fn accept(&mut self) -> (TlsStream<TcpStream>, SocketAddr) {
        match self.open.recv().await {
            Some(connection) => connection,
            // The task that accepts ends only with this listener.
            None => pending().await,
        }
    }

    /// The address that it listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    ready: Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    while !ready.is_closed() {
        let Ok((connection, peer)) = listener.accept().await else {
            sleep(RETRY).await;
            continue;
        };
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            // If TCP_NODELAY can't be set, the connection is gone, as its first read will report.
            let _ = connection.set_nodelay(true);
            // A client whose handshake fails gets an alert.
            if let Ok(open) = acceptor.accept(connection).await {
                let _ = ready.send((open, peer)).await;
            }
        });
    }
}
