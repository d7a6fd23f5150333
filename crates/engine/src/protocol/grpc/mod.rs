//! gRPC over HTTP/2: unary calls.

pub(crate) mod details;
mod exchange;
mod response;
mod status;
#[cfg(test)]
mod tests;

use super::http2::{self, Http2Application};
use exchange::Exchange;
use response::ResponseHead;
pub(super) use status::from_http as status_from_http;

/// A connection that carries gRPC.
pub(crate) type Connection = http2::Connection<Grpc>;

/// gRPC, as HTTP/2 carries it.
#[derive(Debug)]
pub(crate) struct Grpc;

impl Http2Application for Grpc {
    const FIELDS: &'static [(&'static str, &'static str)] =
        &[("content-type", "application/grpc"), ("te", "trailers")];
    const CODING: [&'static str; 2] = ["grpc-encoding", "grpc-accept-encoding"];
    /// Compression flag and length.
    const PREFIX: usize = 5;
    const TRAILERS: bool = true;

    type Head = ResponseHead;
    type Exchange = Exchange;

    fn put_prefix(compressed: bool, length: usize, out: &mut Vec<u8>) {
        out.push(compressed.into());
        out.extend_from_slice(&(length as u32).to_be_bytes());
    }
}
