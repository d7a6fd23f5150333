//! HTTP/2 (RFC 9113), the client's end, whatever is sent over it: frames, header compression, flow control, streams, and
//! the connection that is made of them. What is sent is a [`Carried`].

#[cfg(test)]
pub(crate) mod bench;
mod carried;
pub(crate) mod code;
mod connection;
pub(crate) mod frame;
mod heads;
pub(crate) mod hpack;
mod peer;
mod pieces;
mod request;
mod sender;
mod streams;

pub(crate) use carried::{Carried, Exchange, Head, Problem};
pub(crate) use code::error_name;
pub(crate) use connection::Connection;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use connection::Footprint;
#[cfg(test)]
pub(crate) use heads::HeadReader;
pub(crate) use hpack::Field;
pub use hpack::HpackError;
pub(crate) use peer::PeerSettings;
pub(crate) use pieces::{Piece, Pieces};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use request::Templates;
pub(crate) use streams::Streams;
