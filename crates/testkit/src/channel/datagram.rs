//! A stream over UDP. Datagrams are sent only when the receiver asks for one, since a full buffer would drop them.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};

use super::End;

/// Sends datagrams.
pub(super) struct Sender(pub(super) UdpSocket);

/// Asks for datagrams. The first request is sent before the receiver is created.
pub(super) struct Receiver(pub(super) UdpSocket);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (_, receiver) = self.0.recv_from(&mut [0])?;
        self.0.send_to(bytes, receiver)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Receiver {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, sender) = self.0.recv_from(buffer)?;
        self.0.send_to(&[0], sender)?;
        Ok(read)
    }
}

/// The sockets of a receiver and its sender.
pub(super) fn pair(connected: bool) -> io::Result<End> {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
    let (receiver, sender) = (bind()?, bind()?);
    if connected {
        receiver.connect(sender.local_addr()?)?;
        sender.connect(receiver.local_addr()?)?;
    }
    receiver.send_to(&[0], sender.local_addr()?)?;
    Ok(End { input: receiver.into(), output: sender.into() })
}
