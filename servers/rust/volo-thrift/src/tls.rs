//! TLS for volo-thrift's server, which takes connections with TLS but makes no handshakes.

use std::io;

use service::{
    Failure,
    tls::{self, TlsListener},
};
use tokio::net::TcpListener;
use tokio_rustls::TlsStream;
use volo::net::{
    conn::Conn,
    incoming::{Incoming, MakeIncoming},
};

#[derive(Debug)]
pub struct TlsIncoming(TlsListener);

impl TlsIncoming {
    /// Starts to accept connections. Thrift has no name in ALPN.
    ///
    /// # Errors
    /// If certificate and key, both in PEM, can't be used.
    pub fn new(listener: TcpListener, pem: &[Vec<u8>; 2]) -> Result<Self, Failure> {
        Ok(Self(TlsListener::new(listener, tls::config(pem, &[])?)?))
    }
}

impl MakeIncoming for TlsIncoming {
    type Incoming = Self;

    async fn make_incoming(self) -> io::Result<Self> {
        Ok(self)
    }
}

impl Incoming for TlsIncoming {
    async fn accept(&mut self) -> io::Result<Option<Conn>> {
        let (connection, _) = self.0.accept().await;
        Ok(Some(TlsStream::from(connection).into()))
    }
}
