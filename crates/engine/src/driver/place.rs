//! A TLS connection and its handshake.

use std::io;

use super::{Driver, Handshake, Ready};
use crate::tls::{Session, TlsClient, TlsError};

/// A TLS connection.
pub(super) struct Place {
    pub session: Session,
    pub stage: Stage,
    pub handshake: Handshake,
    /// An event kept for a later step.
    pub postponed: Option<Ready>,
    /// Plaintext that arrived with the end of the handshake.
    pub early: Vec<u8>,
}

pub(super) enum Stage {
    /// The socket is connecting.
    Connecting,
    Handshaking,
    Open,
    Failed(Option<io::Error>),
}

impl Place {
    pub fn new(session: Session) -> Self {
        Self {
            session,
            stage: Stage::Connecting,
            handshake: Handshake::default(),
            postponed: None,
            early: Vec::new(),
        }
    }

    /// Keeps an event for a later step. True if it is the first.
    pub fn postpone(&mut self, event: &Ready) -> bool {
        let before = self.postponed.replace(*event);
        if let (Some(before), Some(now)) = (before, &mut self.postponed) {
            now.readable |= before.readable;
            now.writable |= before.writable;
        }
        before.is_none()
    }

    /// Advances the handshake as far as it can. True once it is done.
    pub fn handshake(
        &mut self,
        inner: &mut impl Driver,
        client: &TlsClient,
        event: &Ready,
    ) -> io::Result<bool> {
        let connection = event.connection;
        if matches!(self.stage, Stage::Connecting) {
            if !event.writable {
                return Ok(false);
            }
            inner.connected(connection)?;
            self.handshake.begin = inner.now();
            self.stage = Stage::Handshaking;
            self.session.open(&mut [], &mut self.early)?;
        }
        loop {
            let sent = flush(inner, connection, &mut self.session);
            let blocked = matches!(&sent, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
            if !blocked {
                sent?;
            }
            if self.session.is_open && !blocked {
                client.check_alpn(self.session.alpn())?;
                return Ok(true);
            }
            match inner.receive(connection) {
                Ok(received) if received.bytes.is_empty() => {
                    return Err(TlsError::Closed.into());
                }
                Ok(received) => {
                    let result = self.session.open(received.bytes, &mut self.early);
                    if let Err(problem) = result {
                        // An alert may be pending, but the problem is what counts.
                        let _ = flush(inner, connection, &mut self.session);
                        return Err(problem.into());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Passes pending records to the kernel; see [`Session::flush`].
#[inline]
pub(super) fn flush(
    inner: &mut impl Driver,
    connection: usize,
    session: &mut Session,
) -> io::Result<()> {
    session.flush(|records| inner.send(connection, records))
}
