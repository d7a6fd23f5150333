//! Where a server listens.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

/// Where a server listens: a port of a network address, or a socket in this machine's file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// A port.
    Tcp(SocketAddr),
    /// The path of a socket; at most 107 bytes.
    Unix(PathBuf),
}

impl ServerAddress {
    /// Whether the server is known to be on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }

    /// What requests name as their host: the address, and `localhost` where there is none, as gRPC's and HTTP's clients
    /// do.
    #[must_use]
    pub fn authority(&self) -> String {
        match self {
            Self::Tcp(address) => address.to_string(),
            Self::Unix(_) => "localhost".to_owned(),
        }
    }

    /// A connection that blocks.
    ///
    /// # Errors
    /// If it is not open in time, or refused.
    pub fn connect(&self, within: Duration) -> io::Result<Socket> {
        let address = match self {
            Self::Tcp(address) => SockAddr::from(*address),
            Self::Unix(path) => SockAddr::unix(path)?,
        };
        let socket = Socket::new(address.domain(), Type::STREAM, None)?;
        if address.domain() != Domain::UNIX {
            socket.set_tcp_nodelay(true)?;
        }
        socket.connect_timeout(&address, within)?;
        Ok(socket)
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
