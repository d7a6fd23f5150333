//! gRPC over HTTP/2: unary calls.

mod connection;
mod exchange;
mod request;
mod response;
mod status;

pub(crate) use connection::Connection;
pub(crate) use request::Templates;
pub use status::status_name;
