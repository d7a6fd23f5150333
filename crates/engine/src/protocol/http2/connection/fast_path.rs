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

/// Flags of trailers.
const LAST: u8 = frame::END_HEADERS | frame::END_STREAM;

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
        let rest = match (head.kind, head.flags) {
            (frame::HEADERS, frame::END_HEADERS) => self.fast_headers(head, bytes, events),
            (frame::DATA, 0) => self.fast_data(head, bytes, events),
            (frame::DATA, frame::END_STREAM) if !C::TRAILERS => {
                self.fast_last_data(head, bytes, events)
            }
            (frame::HEADERS, LAST) if C::TRAILERS => self.fast_trailers(head, bytes, events),
            _ => None,
        };
        Some(bytes.len() - rest?.len())
    }

    #[inline]
    fn fast_headers<'a>(
        &mut self,
        head: Head,
        bytes: &'a [u8],
        events: &mut impl Events,
    ) -> Option<&'a [u8]> {
        let plain = self.heads.plain()?;
        let rest = after_block(head, bytes, plain.headers)?;
        let trailers = C::TRAILERS.then_some(plain.trailers);
        if let Some((data, end)) = rest_of_reply(head.stream, rest, trailers)
            && let Some(message) = plain.head.message(data)
            && let Some(received) = self.room_for(data)
            && !self.sender.holds_back(head.stream)
        {
            let exchange = self.streams.remove_if(head.stream, Exchange::is_waiting)?;
            self.received = received;
            let right = events.verify(exchange.call(), message);
            events.ended(exchange.call(), End::Answered { right });
            return Some(end);
        }
        self.streams.get_mut(head.stream)?.plain_headers(plain.head).then_some(rest)
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
        let plain = self.heads.plain()?;
        let rest = after_block(head, bytes, plain.trailers)?;
        if self.sender.holds_back(head.stream) {
            return None;
        }
        let exchange = self.streams.remove_if(head.stream, |it| it.answer().is_some())?;
        let right = exchange.answer()?;
        events.ended(exchange.call(), End::Answered { right });
        Some(rest)
    }

    /// Bytes received with this content of a DATA frame. `None` if the window must be opened then.
    #[inline]
    fn room_for(&self, data: &[u8]) -> Option<u32> {
        let received = self.received + data.len() as u32;
        (received < WINDOW_REFILL).then_some(received)
    }
}

/// The bytes after the first frame, if its payload is `block`.
#[inline]
fn after_block<'a>(head: Head, bytes: &'a [u8], block: &[u8]) -> Option<&'a [u8]> {
    if head.length != block.len() {
        return None;
    }
    let (found, rest) = bytes[frame::HEADER..].split_at_checked(block.len())?;
    equal(found, block).then_some(rest)
}

/// The content of the DATA frame at the start of `bytes`, and the bytes after it.
#[inline]
fn content(head: Head, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let fits = head.length <= frame::MAX_PAYLOAD;
    fits.then(|| bytes[frame::HEADER..].split_at_checked(head.length)).flatten()
}

/// If `bytes` begin with a DATA frame, and with the trailers of `stream` if any: the content of DATA, and the bytes after.
#[inline]
fn rest_of_reply<'a>(
    stream: u32,
    bytes: &'a [u8],
    trailers: Option<&[u8]>,
) -> Option<(&'a [u8], &'a [u8])> {
    let head = Head::parse(bytes).filter(|head| head.stream == stream)?;
    let flags = if trailers.is_some() { 0 } else { frame::END_STREAM };
    if (head.kind, head.flags) != (frame::DATA, flags) {
        return None;
    }
    let (data, rest) = content(head, bytes)?;
    let Some(trailers) = trailers else { return Some((data, rest)) };
    let last = Head::parse(rest).filter(|last| last.stream == stream)?;
    if (last.kind, last.flags) != (frame::HEADERS, LAST) {
        return None;
    }
    Some((data, after_block(last, rest, trailers)?))
}

/// True if two blocks of the same length are equal. Most are short, and calling `memcmp` costs more than comparing here.
#[inline]
fn equal(a: &[u8], b: &[u8]) -> bool {
    match (a.split_first_chunk::<8>(), b.split_first_chunk::<8>()) {
        (Some((first, rest)), Some((second, other))) => {
            u64::from_ne_bytes(*first) == u64::from_ne_bytes(*second)
                && (rest.is_empty() || rest == other)
        }
        _ => a.iter().zip(b).all(|(a, b)| a == b),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_blocks_and_no_others_are_equal(a in prop::collection::vec(any::<u8>(), 0..40), at in 0_usize..40, bit in 0..8_u32) {
            let mut other = a.clone();
            prop_assert!(equal(&a, &other));
            if let Some(byte) = other.get_mut(at) {
                *byte ^= 1_u8 << bit;
                prop_assert!(!equal(&a, &other));
            }
        }
    }
}
