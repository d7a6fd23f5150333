//! Any HTTP requests: their content is up to the user.

use rpcbench_record::Protocol;

use super::http1::{self, Http1Application};

/// A connection that carries these requests over HTTP/1.1.
pub(crate) type Connection = http1::Connection<Plain>;

/// Requests to which the protocol adds no header fields.
#[derive(Debug)]
pub(crate) struct Plain;

impl Http1Application for Plain {
    const PROTOCOL: Protocol = Protocol::Http;
    const FIELDS: &[(&str, &str)] = &[];
}
