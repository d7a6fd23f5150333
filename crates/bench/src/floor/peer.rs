//! A connection while it is opened: reads and writes block.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use anyhow::Context as _;
use rpcbench_testkit::http2::{Frame, Head};
use rustls::ClientConfig;

use super::tls::{Records, Stream};

pub(super) struct Peer(BufReader<Stream>);

impl Peer {
    pub fn connect(address: SocketAddr, tls: Option<&Arc<ClientConfig>>) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)
            .with_context(|| format!("can't connect to {address}; is the server running?"))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(Stream::new(stream, tls)?)))
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)?;
        self.0.get_mut().flush()
    }

    pub fn read(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn read_array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// The next line, including its end.
    pub fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line)
    }

    pub fn read_frame(&mut self) -> io::Result<Frame> {
        let head = Head::from_bytes(self.read_array()?);
        Ok(head.frame(self.read(head.length)?))
    }

    /// The socket, now non-blocking, and the keys of its records. Everything received must have been read.
    pub fn into_parts(self) -> anyhow::Result<(TcpStream, Option<Records>)> {
        let unread = self.0.buffer().len();
        anyhow::ensure!(unread == 0, "{unread} bytes after the last reply");
        let (socket, records) = self.0.into_inner().into_parts()?;
        socket.set_nonblocking(true)?;
        Ok((socket, records))
    }
}
