//! HTTP/1.1 (RFC 9112), for any application: connections, requests, and replies with their three kinds of body.

mod body;
mod chunks;
mod connection;
mod head;
mod known;
mod replies;
#[cfg(test)]
mod tests;

use rpcbench_record::printable;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use connection::Templates;
pub(crate) use connection::{Connection, Http1Application};
pub(crate) use head::length;
#[cfg(test)]
use replies::Kept;
use replies::{Came, Replies};
pub(crate) use replies::{MAX_INTERIM, Reply};

/// Longest head accepted, bytes.
const MAX_HEAD: usize = 64 << 10;
/// Longest body accepted, bytes.
pub(crate) const MAX_BODY: usize = 64 << 20;

/// How a peer broke HTTP/1.1.
pub(crate) type Problem = &'static str;

/// Bytes shown of an error page.
pub(crate) const MAX_SNIPPET: usize = 200;

/// The start of an error page, in one line.
#[cold]
pub(crate) fn error_snippet(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_SNIPPET)]);
    // The cut may split a character.
    printable(text.trim_end_matches('\u{fffd}').trim()).into_owned()
}
