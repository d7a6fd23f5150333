//! TLS by rustls, for libraries that leave it to a listener or take rustls's configuration. Servers choose the provider of cryptography.

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

/// Connections that have finished their handshake, and wait to be served.
const WAITING: usize = 1024;

/// How long a listener without free file descriptors waits.
const RETRY: Duration = Duration::from_secs(1);

/// rustls's defaults: TLS 1.2 and 1.3, and sessions that can be resumed. `protocols`: what ALPN chooses from.
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

/// Connections with TLS. Each handshake is a separate task, so that none waits for another.
#[derive(Debug)]
pub struct TlsListener {
    open: Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Accepts connections from now on.
    ///
    /// # Errors
    /// If the listener has no address.
    pub fn new(listener: TcpListener, config: ServerConfig) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (handshaken, open) = channel(WAITING);
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), handshaken));
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
    handshaken: Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    while !handshaken.is_closed() {
        let Ok((connection, peer)) = listener.accept().await else {
            sleep(RETRY).await;
            continue;
        };
        let (acceptor, handshaken) = (acceptor.clone(), handshaken.clone());
        tokio::spawn(async move {
            // If TCP_NODELAY can't be set the connection is about to end, as its first read shows.
            let _ = connection.set_nodelay(true);
            // A client that fails has its alert.
            if let Ok(open) = acceptor.accept(connection).await {
                let _ = handshaken.send((open, peer)).await;
            }
        });
    }
}
