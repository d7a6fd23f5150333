//! JSON over HTTP/1.1.

#[cfg(test)]
mod tests;

use rpcbench_record::Protocol;

use super::http1::{self, Http1Application};

/// A connection that carries JSON.
pub(crate) type Connection = http1::Connection<Json>;

/// JSON, as HTTP/1.1 carries it.
#[derive(Debug)]
pub(crate) struct Json;

impl Http1Application for Json {
    const PROTOCOL: Protocol = Protocol::Json;
    const FIELDS: &[(&str, &str)] = &[("Content-Type", "application/json")];
}
