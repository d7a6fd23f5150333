//! A connection while it is opened, with or without TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::{ClientConfig, ClientConnection, StreamOwned};

use super::Records;

pub(in crate::floor) enum Stream {
    Plain(TcpStream),
    Secure(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    pub fn new(socket: TcpStream, tls: Option<&Arc<ClientConfig>>) -> anyhow::Result<Self> {
        Ok(match tls {
            None => Self::Plain(socket),
            Some(config) => {
                Self::Secure(Box::new(StreamOwned::new(super::session(config)?, socket)))
            }
        })
    }

    /// The socket, and the keys of its records.
    pub fn into_parts(self) -> anyhow::Result<(TcpStream, Option<Records>)> {
        match self {
            Self::Plain(socket) => Ok((socket, None)),
            Self::Secure(stream) => {
                let StreamOwned { conn, sock } = *stream;
                Ok((sock, Some(Records::new(conn.dangerous_extract_secrets()?)?)))
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(bytes),
            Self::Secure(stream) => stream.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Secure(stream) => stream.flush(),
        }
    }
}
