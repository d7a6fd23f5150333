//! Any requests of HTTP: what they carry is the user's.

use rpcbench_record::Protocol;

use super::http1::{self, Http1Application};

/// A connection that carries them over HTTP/1.1.
pub(crate) type Connection = http1::Connection<Plain>;

/// Requests without header fields of their own.
#[derive(Debug)]
pub(crate) struct Plain;

impl Http1Application for Plain {
    const PROTOCOL: Protocol = Protocol::Http;
    const FIELDS: &[(&str, &str)] = &[];
}
