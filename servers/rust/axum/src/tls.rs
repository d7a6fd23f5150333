//! TLS for axum's server, which leaves it to a listener.

use std::{io, net::SocketAddr};

use axum::serve::Listener;
use service::{
    Failure,
    tls::{self, TlsStream},
};
use tokio::net::{TcpListener, TcpStream};

pub struct TlsListener(tls::TlsListener);

impl TlsListener {
    /// Starts to accept connections. `protocols`: those that ALPN chooses from.
    ///
    /// # Errors
    /// If certificate and key, both in PEM, can't be used.
    pub fn new(
        listener: TcpListener,
        pem: &[Vec<u8>; 2],
        protocols: &[&str],
    ) -> Result<Self, Failure> {
        Ok(Self(tls::TlsListener::new(listener, tls::config(pem, protocols)?)?))
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        self.0.accept().await
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.0.local_addr())
    }
}
