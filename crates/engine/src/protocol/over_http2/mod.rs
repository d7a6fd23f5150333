//! JSON over HTTP/2 without TLS, with prior knowledge (h2c): a POST for each call, as many at once as the peer allows.
//! Calls end with the same outcomes as over HTTP/1.1.

mod exchange;
mod head;
#[cfg(test)]
mod tests;

use super::http2::{self, Http2Application, hpack};
use exchange::Exchange;
use head::ReplyHead;

/// A connection that carries JSON.
pub(crate) type Connection = http2::Connection<JsonH2c>;

/// JSON, as HTTP/2 carries it.
#[derive(Debug)]
pub(crate) struct JsonH2c;

impl Http2Application for JsonH2c {
    const FIELDS: &'static [(&'static str, &'static str)] = &[("content-type", "application/json")];
    const PREFIX: usize = 0;
    const TRAILERS: bool = false;

    type Head = ReplyHead;
    type Exchange = Exchange;

    fn put_own_fields(length: usize, block: &mut Vec<u8>) {
        hpack::field(block, b"content-length", length.to_string().as_bytes(), false);
    }
}
