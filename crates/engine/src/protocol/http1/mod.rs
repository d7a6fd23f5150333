//! Replies of HTTP/1.1 (RFC 9112): heads, and the three ways in which a body ends.

mod body;
mod chunks;
mod head;
mod known;
mod replies;
#[cfg(test)]
mod tests;

pub(crate) use body::MAX_SNIPPET;
pub(crate) use head::length;
pub(crate) use replies::{Came, MAX_INTERIM, Replies, Reply};

/// Longest head that is taken, bytes.
const MAX_HEAD: usize = 64 << 10;
/// Longest body that is taken, bytes.
pub(crate) const MAX_BODY: usize = 64 << 20;

/// How a peer broke HTTP/1.1.
pub(crate) type Problem = &'static str;
