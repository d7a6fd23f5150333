//! gRPC over HTTP/2: unary calls.

mod connection;
mod exchange;
mod pieces;
mod request;
mod response;
mod sender;
mod status;
#[cfg(test)]
mod tests;

pub(crate) use connection::Connection;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use connection::Footprint;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use request::Templates;
