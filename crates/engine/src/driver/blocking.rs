//! One connection, with blocking calls.

use std::io;

use super::{Driver, EpollDriver, Handshake, Ready, Sources, TlsDriver, Waker};
use crate::address::ServerAddress;
use crate::tls::{TlsClient, TlsError};
use rpcbench_clock::Nanos;
use rpcbench_record::Tls;

/// The only connection's number on its driver.
const CONNECTION: usize = 0;

/// A driver with one connection. Each step waits until a deadline at most, then fails with [`io::ErrorKind::TimedOut`].
pub(crate) struct Blocking<D> {
    driver: D,
    ready: Vec<Ready>,
}

impl Blocking<TlsDriver<EpollDriver>> {
    /// Connects to `address`, with TLS if there is a client, whose tickets it uses.
    pub fn connect(
        address: &ServerAddress,
        tls: Option<&TlsClient>,
        deadline: Nanos,
    ) -> io::Result<Self> {
        let sockets = EpollDriver::new(1, Waker::new()?, Sources::any())?;
        Self::on(TlsDriver::sharing(sockets, tls.cloned()), address, deadline)
    }
}

impl<D: Driver> Blocking<D> {
    fn on(driver: D, address: &ServerAddress, deadline: Nanos) -> io::Result<Self> {
        let mut connection = Self { driver, ready: Vec::new() };
        connection.driver.connect(CONNECTION, address)?;
        while !connection.ready.iter().any(|ready| ready.writable) {
            connection.wait(deadline).map_err(|error| connection.in_handshake(error))?;
        }
        connection.driver.connected(CONNECTION)?;
        Ok(connection)
    }

    /// Converts a timeout during the TLS handshake to [`TlsError::Unfinished`]; returns other errors unchanged.
    fn in_handshake(&self, error: io::Error) -> io::Error {
        let is_pending = self.driver.handshake(CONNECTION).is_some_and(Handshake::is_pending);
        match error.kind() {
            io::ErrorKind::TimedOut if is_pending => TlsError::Unfinished.into(),
            _ => error,
        }
    }

    /// What the TLS handshake agreed on. `None` without TLS.
    pub fn tls(&self) -> Option<&Tls> {
        self.driver.tls()
    }

    pub fn now(&self) -> Nanos {
        self.driver.now()
    }

    /// Sends all of `bytes`.
    pub fn send(&mut self, mut bytes: &[u8], deadline: Nanos) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.driver.send(CONNECTION, bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(deadline)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Passes the next bytes to `take`; an empty slice at the end of the stream. With a deadline in the past, only bytes that
    /// have already arrived.
    pub fn receive<T>(&mut self, deadline: Nanos, take: impl FnOnce(&[u8]) -> T) -> io::Result<T> {
        loop {
            match self.driver.receive(CONNECTION) {
                Ok(received) => return Ok(take(received.bytes)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            self.wait(deadline)?;
        }
    }

    /// Closes the sending side.
    pub fn finish(&mut self) -> io::Result<()> {
        self.driver.finish(CONNECTION)
    }

    fn wait(&mut self, deadline: Nanos) -> io::Result<()> {
        if self.driver.now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.driver.wait(deadline, &mut self.ready)
    }
}
