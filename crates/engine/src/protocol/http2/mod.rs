//! The pieces of HTTP/2 (RFC 9113) that are the same for whatever is sent over it.

pub(crate) mod code;
pub(crate) mod frame;
pub(crate) mod hpack;
mod peer;
mod streams;

pub(crate) use code::error_name;
pub use hpack::HpackError;
pub(crate) use peer::PeerSettings;
pub(crate) use streams::Streams;
