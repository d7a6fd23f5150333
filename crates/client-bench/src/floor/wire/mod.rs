//! Requests and replies as bytes: everything in which one protocol differs from another.

pub(super) mod frame;
mod grpc;
mod json;
mod thrift;

use std::net::SocketAddr;

use rpcbench_contract::Method;

use super::FloorError;
use super::peer::Peer;
use crate::protocol::Protocol;

/// How a protocol writes requests and reads replies. The calls of a connection are counted from 0.
pub(super) trait Wire {
    /// Says what comes before the first call.
    fn greet(&self, _peer: &mut Peer) -> Result<(), FloorError> {
        Ok(())
    }

    /// A whole request.
    fn request(&self, call: u32, message: &[u8]) -> Vec<u8>;

    /// The numbers in requests other than a connection's first.
    fn numbers(&self) -> Numbers;

    /// Reads the reply to a call.
    fn reply(&self, peer: &mut Peer, call: u32) -> Result<Reply, FloorError>;

    /// Bytes of a request that count against HTTP/2's windows; `None` without such windows.
    fn windowed(&self, _message: &[u8]) -> Option<u64> {
        None
    }
}

/// The numbers by which replies are told apart: `first + call * step`, in four bytes each, the greatest first.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub first: u64,
    pub step: u64,
    /// Where a request has its number.
    pub places: Vec<usize>,
}

impl Numbers {
    pub fn of(&self, call: u64) -> u64 {
        self.first + call * self.step
    }
}

/// A whole reply.
pub(super) struct Reply {
    /// Bytes, with all that is around the message.
    pub size: usize,
    pub message: Vec<u8>,
}

/// How `protocol` calls a method of the server at `address`.
pub(super) fn of(protocol: Protocol, method: Method, address: SocketAddr) -> Box<dyn Wire> {
    let path = format!("/{}/{}", method.service(), method.name());
    let authority = address.to_string();
    match protocol {
        Protocol::Grpc => Box::new(grpc::Grpc::new(&path, &authority)),
        Protocol::Json => Box::new(json::Json::new(&path, &authority)),
        Protocol::Thrift => Box::new(thrift::Thrift::new(method.name())),
    }
}

const USER_AGENT: &str = concat!("rpcbench/", env!("CARGO_PKG_VERSION"));
