//! HTTP/1.1's applications over HTTP/2 without TLS, with prior knowledge (h2c): as many calls at once as the peer allows.
//! Outcomes are the same as over HTTP/1.1.

mod exchange;
mod head;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use super::http1::{self, Http1Application};
use super::http2::{self, Http2Application, hpack};
#[cfg(any(test, feature = "fuzzing"))]
use super::json::Json;
use exchange::Exchange;
use head::ReplyHead;

/// A connection that carries an application.
pub(crate) type Connection<A> = http2::Connection<OverHttp2<A>>;

/// JSON, as HTTP/2 carries it.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) type JsonH2c = OverHttp2<Json>;

/// An application of HTTP/1.1, as HTTP/2 carries it.
#[derive(Debug)]
pub(crate) struct OverHttp2<A>(PhantomData<A>);

impl<A: Http1Application> Http2Application for OverHttp2<A> {
    const FIELDS: &'static [(&'static str, &'static str)] = A::FIELDS;
    const CODING: [&'static str; 2] = http1::CODING;
    const PREFIX: usize = 0;
    const TRAILERS: bool = false;

    type Head = ReplyHead;
    type Exchange = Exchange;

    fn put_own_fields(length: usize, block: &mut Vec<u8>) {
        hpack::field(block, b"content-length", length.to_string().as_bytes(), false);
    }
}
