//! gRPC over HTTP/2: unary calls.

mod connection;
mod exchange;
mod request;
mod response;
mod sender;
mod status;
#[cfg(test)]
mod tests;

pub(crate) use connection::Connection;
pub(crate) use request::Templates;
