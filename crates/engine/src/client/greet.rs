//! Tests a server before a load: is anything listening, and does it speak the protocol?

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::Single;
use super::link::{Answer, Link};
use crate::plan::ConnectionOptions;
use crate::protocol::{Connection, ProtocolVisitor, dispatch};
use crate::target::Target;
use crate::tls::TlsError;
use rpcbench_clock::{self as clock, Nanos};

/// Bytes kept of what a server sends instead of its handshake.
const MAX_SNIPPET: usize = 1024;

/// The result of a handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// The handshake succeeded; in a protocol without one, the connection is open.
    Complete,
    /// The server sent something else, which begins with these bytes.
    Other(Vec<u8>),
    /// It closed the connection without sending anything.
    Closed,
    /// It sent nothing in time.
    Silent,
}

/// Connects to a server and does the handshake of its protocol, if it has one; `within` bounds each step.
///
/// # Errors
/// If the connection can't be made, or TLS reports what is wrong with it: over TLS 1.3, servers refuse a client's certificate
/// after the handshake.
pub fn greet(server: &ConnectionOptions, within: Duration) -> io::Result<Greeting> {
    dispatch(server.protocol, Greet { server, within: within.into() })
}

struct Greet<'a> {
    server: &'a ConnectionOptions,
    within: Nanos,
}

impl ProtocolVisitor for Greet<'_> {
    type Output = io::Result<Greeting>;

    fn visit<C: Connection + Send + 'static>(self) -> Self::Output {
        let target = Target::new("/");
        let nothing = Single { target: &target, message: &[] };
        let templates = Arc::new(C::templates(&nothing, &self.server.authority));
        let link = Link::<C>::connect(
            self.server,
            templates,
            &Arc::default(),
            clock::now() + self.within,
        )?;
        handshake(link, clock::now() + self.within)
    }
}

fn handshake<C: Connection>(mut link: Link<C>, deadline: Nanos) -> io::Result<Greeting> {
    let mut said = Vec::new();
    let ended = loop {
        if let Err(error) = link.flush(deadline) {
            break error;
        }
        if !link.connection.is_handshaking() {
            return Ok(Greeting::Complete);
        }
        let Link { socket, connection, out } = &mut link;
        let received = socket.receive(deadline, |bytes| {
            said.extend(bytes.iter().take(MAX_SNIPPET - said.len()));
            !bytes.is_empty() && connection.receive(bytes, out, &mut Answer::default()).is_ok()
        });
        match received {
            Ok(true) => {}
            Ok(false) => break io::ErrorKind::UnexpectedEof.into(),
            Err(error) => break error,
        }
    };
    match ended.kind() {
        _ if !said.is_empty() => Ok(Greeting::Other(said)),
        _ if TlsError::is_in(&ended) => Err(ended),
        io::ErrorKind::TimedOut => Ok(Greeting::Silent),
        _ => Ok(Greeting::Closed),
    }
}
