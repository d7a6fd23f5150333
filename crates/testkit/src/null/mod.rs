//! Null servers do the minimum work for a correct answer, so that a client's own speed can be measured.
//!
//! They use the reference server's connections, but decode unusual requests. In gRPC the message is sent back with its tag
//! changed from field 1 to field 2; request headers are not decoded, so every call counts as a text. In JSON a text is sent back
//! under another key, in Thrift as another field, in tcp-echo unchanged.

mod json;
mod message;
mod secure;
mod tcp_echo;
mod thrift;

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicU64;

use rpcbench_record::Protocol;
use rpcbench_reference::{Counts, Grpc, Http1, Session};

use crate::serve::Counters;
use crate::thrift::Form;
use crate::tls::Secured;

/// Serves the protocol until the other end of `stop` is closed. Uses TLS if it is secured.
pub(crate) fn serve(
    protocol: Protocol,
    tls: Option<&Secured>,
    listener: &TcpListener,
    stop: &UnixStream,
    counters: &Counters,
) -> io::Result<()> {
    let Counters { calls, connections, open, .. } = counters;
    let counts = Counts { calls, connections, open, most_open: &AtomicU64::default() };
    match (protocol, Form::of(protocol)) {
        (Protocol::Grpc, _) => attend(tls, listener, stop, counts, || Grpc::new(message::reply)),
        (Protocol::Json, _) => attend(tls, listener, stop, counts, || Http1::new(&json::DECODED)),
        (Protocol::TcpEcho, _) => attend(tls, listener, stop, counts, tcp_echo::TcpEcho::default),
        (_, Some(form)) => attend(tls, listener, stop, counts, || thrift::Thrift::new(form)),
        (_, None) => Err(io::Error::other(format!("no null server speaks {protocol}"))),
    }
}

fn attend<S: Session>(
    tls: Option<&Secured>,
    listener: &TcpListener,
    stop: &UnixStream,
    counts: Counts<'_>,
    session: impl Fn() -> S,
) -> io::Result<()> {
    let Some(tls) = tls else {
        return rpcbench_reference::attend(listener, stop, counts, session);
    };
    let secure = || secure::Secure::new(tls, session());
    rpcbench_reference::attend(listener, stop, counts, secure)
}
