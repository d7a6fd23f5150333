//! Requests and replies as bytes: all differences between protocols.

mod grpc;
mod json;
mod thrift;

use std::io;
use std::net::SocketAddr;

use rpcbench_contract::{Corpus, Encoding, Shape};
use rpcbench_record::Protocol;

use super::peer::Peer;

/// How a protocol writes requests and reads replies. The calls of a connection are counted from 0.
pub(super) trait Wire {
    /// Exchanges everything that precedes the first call.
    fn greet(&self, _peer: &mut Peer) -> io::Result<()> {
        Ok(())
    }

    fn request(&self, call: u32, message: &[u8]) -> Vec<u8>;

    /// The numbers in requests, except for a connection's first.
    fn numbers(&self) -> Numbers;

    fn reply(&self, peer: &mut Peer, call: u32) -> anyhow::Result<Reply>;

    /// Bytes of a request that count against HTTP/2's windows. `None` without windows.
    fn windowed(&self, _message: &[u8]) -> Option<u64> {
        None
    }
}

/// The numbers that match replies to calls: `first + call * step`, each in four bytes, big-endian.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub first: u64,
    pub step: u64,
    /// Offsets of the number in a request.
    pub offsets: Vec<usize>,
}

impl Numbers {
    pub fn of(&self, call: u64) -> u64 {
        self.first + call * self.step
    }
}

pub(super) struct Reply {
    /// Total bytes, including those around the message.
    pub size: usize,
    pub message: Vec<u8>,
}

/// How to call the method of `shape` on the server at `address`, and the requests.
pub(super) fn of(
    protocol: Protocol,
    shape: &Shape,
    address: SocketAddr,
) -> anyhow::Result<(Box<dyn Wire>, Corpus)> {
    let method = shape.method();
    let path = format!("/{}/{}", method.service(), method.name());
    let authority = address.to_string();
    let (wire, encoding): (Box<dyn Wire>, _) = match protocol {
        Protocol::Grpc => (Box::new(grpc::Grpc::new(&path, &authority)), Encoding::Protobuf),
        Protocol::Json => (Box::new(json::Json::new(&path, &authority)), Encoding::Json),
        Protocol::Thrift => (Box::new(thrift::Thrift::new(method.name())), Encoding::ThriftBinary),
        other => anyhow::bail!("the floor does not speak {other}; expected grpc, json or thrift"),
    };
    Ok((wire, Corpus::canonical(shape, 1, encoding)))
}

const USER_AGENT: &str = concat!("rpcbench/", env!("CARGO_PKG_VERSION"));
