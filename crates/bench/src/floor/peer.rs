//! A connection while it is opened: reads and writes block.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use rpcbench_testkit::http2::{Frame, Head};

pub(super) struct Peer(BufReader<TcpStream>);

impl Peer {
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)
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

    /// The next line with its end.
    pub fn read_line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        Ok(line)
    }

    pub fn read_frame(&mut self) -> io::Result<Frame> {
        let head = Head::from_bytes(self.read_array()?);
        Ok(head.frame(self.read(head.length)?))
    }

    /// The socket, now non-blocking. All that came must have been read.
    pub fn into_stream(self) -> anyhow::Result<TcpStream> {
        let unread = self.0.buffer().len();
        anyhow::ensure!(unread == 0, "{unread} bytes after the last reply");
        let stream = self.0.into_inner();
        stream.set_nonblocking(true)?;
        Ok(stream)
    }
}
