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

use crate::gzip;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use connection::Templates;
pub(crate) use connection::{Connection, Http1Application};
pub(crate) use head::length;
#[cfg(test)]
use replies::Kept;
pub(crate) use replies::{MAX_INTERIM, MAX_START, Reply};
use replies::{Replies, ReplyEvent};

/// Longest head accepted, bytes.
const MAX_HEAD: usize = 64 << 10;
/// Longest body that a head or a chunk may announce, bytes. Fewer are accepted: see [`Allowance::max_message`].
///
/// [`Allowance::max_message`]: crate::protocol::Allowance::max_message
const MAX_LENGTH: usize = u32::MAX as usize;

/// Fields that name the coding of a request's body, and the codings accepted in the reply.
pub(crate) const CODING: [&str; 2] = ["Content-Encoding", "Accept-Encoding"];

/// How a peer broke HTTP/1.1.
pub(crate) type Problem = &'static str;

/// Bytes shown of an error page.
pub(crate) const MAX_SNIPPET: usize = 200;

/// The start of an error page, in one line.
#[cold]
pub(crate) fn error_snippet(body: &[u8]) -> String {
    let body = gzip::start(body, MAX_SNIPPET);
    let text = String::from_utf8_lossy(&body[..body.len().min(MAX_SNIPPET)]);
    // The cut may split a character.
    printable(text.trim_end_matches('\u{fffd}').trim()).into_owned()
}
