//! Apache Thrift: the framed and the buffered transport, each with the binary and the compact protocol. Replies come in
//! the order of the requests; nothing is sent to open or end a connection.
//!
//! Sources: `thrift-rpc.md`, `thrift-binary-protocol.md` and `thrift-compact-protocol.md` of Apache Thrift.

mod connection;
mod encoding;
mod exception;
mod scanner;
mod sequence;
mod templates;
#[cfg(test)]
mod tests;
mod transport;

use super::messages::{MAX_MESSAGE, Problem};
pub(crate) use connection::Connection;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use encoding::Encoding;
pub(crate) use encoding::{Binary, Compact};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use sequence::id as sequence_id;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use transport::Transport;
pub(crate) use transport::{Buffered, Framed};
