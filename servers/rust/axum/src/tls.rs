//! TLS for axum's server, by rustls: axum itself has none.

use std::{io, net::SocketAddr, sync::Arc};

use axum::serve::Listener;
use service::Failure;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
    server::TlsStream,
};

/// Connections that have finished their handshake, and wait to be served.
const WAITING: usize = 1024;

/// Connections with TLS. Each handshake is a separate task, so that none waits for another.
pub struct TlsListener {
    open: Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    /// Accepts connections from now on. `protocols`: what ALPN chooses from.
    ///
    /// # Errors
    /// If certificate and key, both in PEM, can't be used.
    pub fn new(
        listener: TcpListener,
        [certificate, key]: &[Vec<u8>; 2],
        protocols: &[&str],
    ) -> Result<Self, Failure> {
        let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>()?;
        // The library's defaults: TLS 1.2 and 1.3, and sessions that can be resumed.
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_slice(key)?)?;
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let address = listener.local_addr()?;
        let (handshaken, open) = channel(WAITING);
        tokio::spawn(accept(listener, TlsAcceptor::from(Arc::new(config)), handshaken));
        Ok(Self { open, address })
    }
}

async fn accept(
    mut listener: TcpListener,
    acceptor: TlsAcceptor,
    handshaken: Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    while !handshaken.is_closed() {
        // axum's own way to accept: it waits and tries again where file descriptors are short.
        let (connection, peer) = Listener::accept(&mut listener).await;
        let (acceptor, handshaken) = (acceptor.clone(), handshaken.clone());
        tokio::spawn(async move {
            let _ = connection.set_nodelay(true);
            // A client that fails has its alert.
            if let Ok(open) = acceptor.accept(connection).await {
                let _ = handshaken.send((open, peer)).await;
            }
        });
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.open.recv().await {
            Some(connection) => connection,
            // The task that accepts ends only with this listener.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
