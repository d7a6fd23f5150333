//! The client's end of HTTP/2 (RFC 9113): frames, header compression, flow control, streams, and the connection made of
//! them. Protocols over it implement [`Http2Application`].

mod application;
pub(crate) mod code;
mod connection;
mod fields;
pub(crate) mod frame;
mod heads;
pub(crate) mod hpack;
mod peer;
mod pieces;
mod request;
mod sender;
mod streams;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use application::{Exchange, Head, Http2Application, Problem};
pub(crate) use code::error_name;
pub(crate) use connection::Connection;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use connection::Footprint;
pub(crate) use fields::CommonFields;
#[cfg(test)]
pub(crate) use heads::HeadReader;
pub(crate) use hpack::Field;
pub use hpack::HpackError;
pub(crate) use peer::PeerSettings;
pub(crate) use pieces::{Piece, Pieces};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use request::Templates;
pub(crate) use streams::Streams;
