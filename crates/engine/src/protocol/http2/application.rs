//! The seam between HTTP/2 and what is sent over it.

use std::fmt::Debug;

use super::hpack::Field;
use super::pieces::{Piece, Pieces};
use crate::clock::Nanos;
use crate::protocol::{Call, End, Events};

/// Why a stream must be aborted.
pub(crate) type Problem = &'static str;

/// A protocol whose calls are streams of HTTP/2: what its requests say, and what replies to them mean.
pub(crate) trait Http2Application: Debug + Sized + 'static {
    /// Header fields of every request, besides its method, scheme, path and authority.
    const FIELDS: &'static [(&'static str, &'static str)];
    /// Bytes before the message in the body of a request.
    const PREFIX: usize;
    /// True if a success ends with trailers; otherwise it ends with its DATA.
    const TRAILERS: bool;

    /// What a block of header fields says.
    type Head: Head;
    /// A call, and what has come for it.
    type Exchange: Exchange<Head = Self::Head>;

    /// Appends what precedes a message of `length` bytes.
    fn put_prefix(_length: usize, _out: &mut Vec<u8>) {}

    /// Appends the header fields that depend on the request, whose body has `length` bytes. None may enter the table.
    fn put_own_fields(_length: usize, _block: &mut Vec<u8>) {}
}

/// What a block of header fields says.
pub(crate) trait Head: Debug + Default + Send {
    /// Takes the next field.
    fn take(&mut self, field: Field<'_>);

    /// True if it is half of a plain success: headers that announce a message, or, if it is the stream's `last` block,
    /// trailers with a status of success.
    fn is_success(&self, last: bool) -> bool;

    /// The message of a plain success with these headers, if `data` is all of its body.
    fn message<'a>(&self, data: &'a [u8]) -> Option<&'a [u8]>;

    /// Room taken for text, bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    fn room(&self) -> usize {
        0
    }
}

/// A call and what has come for it.
pub(crate) trait Exchange: Copy + Debug + Default + Send {
    /// What header blocks say.
    type Head;

    fn new(call: Call) -> Self;

    fn call(&self) -> Call;

    /// The request was given to the kernel.
    fn stamp(&mut self, now: Nanos);

    /// What is kept of an incomplete message.
    fn piece(&self) -> Option<Piece>;

    /// True if nothing has come yet.
    fn is_waiting(&self) -> bool;

    /// Takes the headers of a plain success; false if others came before.
    fn plain_headers(&mut self, head: &Self::Head) -> bool;

    /// Takes DATA of a plain success, the stream's `last` frame or not; false, and nothing is taken, if it does not hold
    /// the whole message.
    fn plain_data(&mut self, data: &[u8], last: bool, events: &mut impl Events) -> bool;

    /// Whether the message is right, if all that a plain success needs before its end has come.
    fn answer(&self) -> Option<bool>;

    /// True if more content changes nothing, though the stream may still say how the call ends.
    fn wants_no_more(&self) -> bool {
        false
    }

    /// Takes headers after which more comes.
    fn headers(&mut self, head: &Self::Head) -> Result<(), Problem>;

    /// Takes a piece of body, which may be the stream's `last` frame.
    fn data(
        &mut self,
        data: &[u8],
        last: bool,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<(), Problem>;

    /// The stream has ended with DATA.
    fn end_of_data(
        &mut self,
        pieces: &mut Pieces,
        events: &mut impl Events,
    ) -> Result<End, Problem>;

    /// Takes the header block that the stream ends with.
    fn end(&mut self, head: &Self::Head, pieces: &mut Pieces, events: &mut impl Events) -> End;
}
