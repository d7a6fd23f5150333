//! The interface between HTTP/2 and the protocols over it.

use std::fmt::Debug;

use super::hpack::Field;
use super::pieces::{Piece, Pieces};
use crate::protocol::{Call, End, Events};
use rpcbench_clock::Nanos;

/// Why a stream is aborted.
pub(crate) type Problem = &'static str;

/// A protocol whose calls are HTTP/2 streams: the headers of its requests, and the meaning of replies.
pub(crate) trait Http2Application: Debug + Sized + 'static {
    /// Header fields of every request, except method, scheme, path and authority.
    const FIELDS: &'static [(&'static str, &'static str)];
    /// Fields that name the coding of a request's message, and the codings accepted in the reply.
    const CODING: [&'static str; 2];
    /// Bytes before the message in the body of a request.
    const PREFIX: usize;
    /// True if a success ends with trailers; otherwise it ends with its DATA.
    const TRAILERS: bool;

    /// The content of a header block.
    type Head: Head;
    /// A call, and what was received for it.
    type Exchange: Exchange<Head = Self::Head>;

    /// Appends the prefix of a message of `length` bytes, compressed or not.
    fn put_prefix(_compressed: bool, _length: usize, _out: &mut Vec<u8>) {}

    /// Appends the header fields specific to a request whose body has `length` bytes. None may enter the table.
    fn put_own_fields(_length: usize, _block: &mut Vec<u8>) {}
}

/// The content of a header block.
pub(crate) trait Head: Debug + Default + Send {
    /// Takes the next field.
    fn take(&mut self, field: Field<'_>);

    /// True if it belongs to a plain success: headers before a message or, if it is the stream's `last` block, trailers with a
    /// success status.
    fn is_success(&self, last: bool) -> bool;

    /// The message of a plain success with these headers, if `data` is the whole body.
    fn message<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]>;

    /// Memory held for text, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    fn room(&self) -> usize {
        0
    }
}

/// A call and what was received for it.
pub(crate) trait Exchange: Copy + Debug + Default + Send {
    /// The content of header blocks.
    type Head;

    fn new(call: Call) -> Self;

    fn call(&self) -> &Call;

    /// Notes that the request was passed to the kernel.
    fn stamp(&mut self, now: Nanos);

    /// The start of an incomplete message.
    fn piece(&self) -> Option<Piece>;

    /// True if nothing was received yet.
    fn is_waiting(&self) -> bool;

    /// Takes the headers of a plain success. False if headers came before.
    fn plain_headers(&mut self, head: &Self::Head) -> bool;

    /// Takes the DATA of a plain success, the stream's `last` frame or not. If it is not the whole message, takes nothing and
    /// returns false.
    fn plain_data(&mut self, data: &[u8], last: bool, events: &mut impl Events) -> bool;

    /// Whether the message is right, if only the end of a plain success is missing.
    fn answer(&self) -> Option<bool>;

    /// True if more content changes nothing, though the stream may still determine how the call ends.
    fn is_decided(&self) -> bool {
        false
    }

    /// Takes headers that do not end the stream.
    fn headers(&mut self, head: &Self::Head) -> Result<(), Problem>;

    /// Takes a piece of body, which may be the stream's `last` frame.
    fn data(
        &mut self,
        data: &[u8],
        last: bool,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<(), Problem>;

    /// Ends the stream after DATA.
    fn end_of_data(
        &mut self,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<End, Problem>;

    /// Ends the stream with a header block.
    fn end(&mut self, head: &Self::Head, pieces: &mut Pieces, events: &mut impl Events) -> End;
}
