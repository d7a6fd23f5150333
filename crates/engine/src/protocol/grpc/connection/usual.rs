//! The reply that nearly every call gets, taken in one step instead of three.
//!
//! ```text
//! HEADERS(block of the last success) DATA(one whole message) HEADERS(trailers of the last success, END_STREAM)
//! ```
//! All of it on one stream, one after another, in bytes that are there. Whatever differs is left, untouched,
//! to the way frame by frame in `receive`.

use super::receive::WINDOW_REFILL;
use super::{Connection, Expect};
use crate::protocol::grpc::exchange::{Exchange, whole_message};
use crate::protocol::http2::frame::{self, Head};
use crate::protocol::{End, Events};

impl Connection {
    /// Takes a usual reply that `bytes` begin with, and tells its length.
    #[inline]
    pub fn usual_reply(&mut self, bytes: &[u8], events: &mut impl Events) -> Option<usize> {
        let (headers, trailers) = self.heads.success()?;
        let (stream, rest) = header_frame(bytes, frame::END_HEADERS, headers)?;
        let (data, rest) = data_frame(rest, stream)?;
        let message = whole_message(data)?;
        let last = frame::END_HEADERS | frame::END_STREAM;
        let (ending, rest) = header_frame(rest, last, trailers)?;
        let received = self.received + data.len() as u32;
        let plain = ending == stream
            && self.expect == Expect::Any
            && received < WINDOW_REFILL
            && !self.sender.holds_back(stream);
        if !plain {
            return None;
        }
        let exchange = self.streams.remove_if(stream, Exchange::is_waiting)?;
        self.received = received;
        let right = events.verify(exchange.call.entry, message);
        events.ended(exchange.call, End::Answered { right });
        Some(bytes.len() - rest.len())
    }
}

/// The stream of a HEADERS frame that `bytes` begin with, if it has these flags and this block, and what follows.
#[inline]
fn header_frame<'a>(bytes: &'a [u8], flags: u8, block: &[u8]) -> Option<(u32, &'a [u8])> {
    let head = Head::parse(bytes)?;
    let alike = head.kind == frame::HEADERS && head.flags == flags && head.length == block.len();
    let (found, rest) = bytes[frame::HEADER..].split_at_checked(block.len())?;
    (alike && found == block).then_some((head.stream, rest))
}

/// The content of a DATA frame without flags that `bytes` begin with, and what follows.
#[inline]
fn data_frame(bytes: &[u8], stream: u32) -> Option<(&[u8], &[u8])> {
    let head = Head::parse(bytes)?;
    let plain = head.kind == frame::DATA && head.flags == 0 && head.stream == stream;
    let fits = head.length <= frame::MAX_PAYLOAD;
    (plain && fits).then(|| bytes[frame::HEADER..].split_at_checked(head.length)).flatten()
}
