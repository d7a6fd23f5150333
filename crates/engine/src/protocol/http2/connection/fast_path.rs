//! The usual reply, recognized by comparing bytes.
//!
//! ```text
//! HEADERS(block of the last success) DATA(one whole message) HEADERS(trailers of the last success, END_STREAM)
//! HEADERS(block of the last success) DATA(one whole message, END_STREAM)
//! ```
//! The first form is for protocols whose success ends with trailers, the second for others. Some servers write it in one
//! piece: then it is one step. Others write the HEADERS of all finished calls, then the DATA of all, then the trailers:
//! each frame is a step. Anything else is left to `receive`.

use super::receive::WINDOW_REFILL;
use super::{Connection, Expect};
use crate::protocol::http2::application::{Exchange, Head as _, Http2Application};
use crate::protocol::http2::frame::{self, Head};
use crate::protocol::{End, Events};

impl<C: Http2Application> Connection<C> {
    /// Takes the plain reply at the start of `bytes`, or its first frame, and returns its length. `head` is the head of that
    /// frame.
    #[inline]
    pub fn fast_path(
        &mut self,
        head: Head,
        bytes: &[u8],
        events: &mut impl Events,
    ) -> Option<usize> {
        if self.expect != Expect::Any {
            return None;
        }
        if let Some(rest) = self.heads.after_headers(head, bytes) {
            return self.fast_headers(head.stream, rest, events).map(|end| bytes.len() - end.len());
        }
        let rest = match (head.kind(), head.flags()) {
            (frame::DATA, 0) => self.fast_data(head, bytes, events),
            (frame::DATA, frame::END_STREAM) if !C::TRAILERS => {
                self.fast_last_data(head, bytes, events)
            }
            (frame::HEADERS, frame::LAST_HEADERS) if C::TRAILERS => {
                self.fast_trailers(head, bytes, events)
            }
            _ => None,
        };
        Some(bytes.len() - rest?.len())
    }

    /// Takes the whole reply if its `rest` follows the headers; otherwise only the headers.
    #[inline]
    fn fast_headers<'a>(
        &mut self,
        stream: u32,
        rest: &'a [u8],
        events: &mut impl Events,
    ) -> Option<&'a [u8]> {
        if let Some((data, end)) = self.rest_of_reply(stream, rest)
            && let Some(message) = self.heads.last_headers().message(data)
            && let Some(received) = self.room_for(data)
            && !self.sender.holds_back(stream)
        {
            let call = self.streams.close_if(stream, Exchange::is_waiting)?.call();
            self.received = received;
            let right = events.verify(call, message);
            events.ended(call, End::Answered { right });
            return Some(end);
        }
        let exchange = self.streams.get_mut(stream)?;
        exchange.plain_headers(self.heads.last_headers()).then_some(rest)
    }

    /// If `bytes` begin with a DATA frame and, where required, the trailers of `stream`: the content of DATA, and the bytes
    /// after.
    #[inline]
    fn rest_of_reply<'a>(&self, stream: u32, bytes: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let head = Head::parse(bytes).filter(|head| head.stream == stream)?;
        let flags = if C::TRAILERS { 0 } else { frame::END_STREAM };
        if (head.kind(), head.flags()) != (frame::DATA, flags) {
            return None;
        }
        let (data, rest) = content(head, bytes)?;
        if !C::TRAILERS {
            return Some((data, rest));
        }
        let last = Head::parse(rest).filter(|last| last.stream == stream)?;
        Some((data, self.heads.after_trailers(last, rest)?))
    }

    #[inline]
    fn fast_data<'a>(
        &mut self,
        head: Head,
        bytes: &'a [u8],
        events: &mut impl Events,
    ) -> Option<&'a [u8]> {
        let (data, rest) = content(head, bytes)?;
        let received = self.room_for(data)?;
        let taken = self.streams.get_mut(head.stream)?.plain_data(data, false, events);
        if taken {
            self.received = received;
        }
        taken.then_some(rest)
    }

    #[inline]
    fn fast_last_data<'a>(
        &mut self,
        head: Head,
        bytes: &'a [u8],
        events: &mut impl Events,
    ) -> Option<&'a [u8]> {
        let (data, rest) = content(head, bytes)?;
        let received = self.room_for(data)?;
        if self.sender.holds_back(head.stream)
            || !self.streams.get_mut(head.stream)?.plain_data(data, true, events)
        {
            return None;
        }
        self.received = received;
        let exchange = self.streams.remove(head.stream)?;
        events.ended(exchange.call(), End::Answered { right: exchange.answer() == Some(true) });
        Some(rest)
    }

    #[inline]
    fn fast_trailers<'a>(
        &mut self,
        head: Head,
        bytes: &'a [u8],
        events: &mut impl Events,
    ) -> Option<&'a [u8]> {
        let rest = self.heads.after_trailers(head, bytes)?;
        if self.sender.holds_back(head.stream) {
            return None;
        }
        let exchange = self.streams.close_if(head.stream, |it| it.answer().is_some())?;
        let right = exchange.answer() == Some(true);
        events.ended(exchange.call(), End::Answered { right });
        Some(rest)
    }

    /// Bytes received, including this content of a DATA frame. `None` if the window must be opened now.
    #[inline]
    fn room_for(&self, data: &[u8]) -> Option<u32> {
        let received = self.received + data.len() as u32;
        (received < WINDOW_REFILL).then_some(received)
    }
}

/// The content of the DATA frame at the start of `bytes`, and the bytes after it.
#[inline]
fn content(head: Head, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let fits = head.length() <= frame::MAX_PAYLOAD;
    fits.then(|| bytes[frame::HEADER..].split_at_checked(head.length())).flatten()
}
