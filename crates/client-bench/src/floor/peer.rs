//! The other end of a connection, while it is opened: every read and write waits.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::FloorError;

pub(super) struct Peer(BufReader<TcpStream>);

impl Peer {
    pub fn connect(address: SocketAddr) -> Result<Self, FloorError> {
        let refused = |source| FloorError::Connect { address, source };
        let stream = TcpStream::connect(address).map_err(refused)?;
        stream.set_nodelay(true).map_err(refused)?;
        Ok(Self(BufReader::new(stream)))
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FloorError> {
        let written = self.0.get_mut().write_all(bytes);
        written.map_err(|source| FloorError::Kernel { call: "send", source })
    }

    pub fn read(&mut self, length: usize) -> Result<Vec<u8>, FloorError> {
        let mut bytes = vec![0; length];
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    pub fn read_array<const N: usize>(&mut self) -> Result<[u8; N], FloorError> {
        let mut bytes = [0; N];
        self.read_into(&mut bytes)?;
        Ok(bytes)
    }

    /// The next line with its end.
    pub fn read_line(&mut self) -> Result<String, FloorError> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(_) => Ok(line),
            Err(source) => Err(FloorError::Kernel { call: "recv", source }),
        }
    }

    fn read_into(&mut self, bytes: &mut [u8]) -> Result<(), FloorError> {
        let read = self.0.read_exact(bytes);
        read.map_err(|source| FloorError::Kernel { call: "recv", source })
    }

    /// The socket, which waits for nothing any more. It must have said nothing that was not read.
    pub fn into_stream(self) -> Result<TcpStream, FloorError> {
        let unread = self.0.buffer().len();
        if unread > 0 {
            return Err(FloorError::Opening(format!("{unread} bytes behind the last reply")));
        }
        let stream = self.0.into_inner();
        let freed = stream.set_nonblocking(true);
        freed.map_err(|source| FloorError::Kernel { call: "ioctl", source })?;
        Ok(stream)
    }
}
