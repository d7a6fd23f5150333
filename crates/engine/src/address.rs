//! Where a server listens.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The address of a server: a TCP port or a Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// IP address and port.
    Tcp(SocketAddr),
    /// Path of a Unix socket; at most 107 bytes.
    Unix(PathBuf),
}

impl ServerAddress {
    /// True if the server is known to be on this machine.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// Host that requests name: the address, or `localhost` for a Unix socket, as in gRPC and HTTP clients.
    pub fn authority(&self) -> String {
        match self {
            Self::Tcp(address) => address.to_string(),
            Self::Unix(_) => "localhost".to_owned(),
        }
    }
}

impl From<SocketAddr> for ServerAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
