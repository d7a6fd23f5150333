//! What calls carry, and the memory that makes checking every reply cheap.

use std::ops::Range;

use rpcbench_contract::{Corpus, Method, Nonce};

use crate::protocol::Call;

/// Requests of one method, and the judge of their replies.
pub trait Payload: Send + Sync {
    /// The method that takes them.
    fn method(&self) -> Method;

    /// How many requests there are; at least one.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Request number `index`, encoded.
    fn request(&self, index: usize) -> &[u8];

    /// The bytes of request number `index` over which each call writes its nonce; at most [`Nonce::DIGITS`].
    fn nonce(&self, _index: usize) -> Range<usize> {
        0..0
    }

    /// Decodes a reply to request number `index` with `nonce` in it, and compares it field by field.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    fn verify(&self, index: usize, nonce: Nonce, reply: &[u8]) -> Result<(), String>;
}

impl Payload for Corpus {
    fn method(&self) -> Method {
        Self::method(self)
    }

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn request(&self, index: usize) -> &[u8] {
        Self::request(self, index)
    }

    fn nonce(&self, index: usize) -> Range<usize> {
        Self::nonce(self, index)
    }

    fn verify(&self, index: usize, nonce: Nonce, reply: &[u8]) -> Result<(), String> {
        Self::verify(self, index, Some(nonce), reply).map_err(|mismatch| mismatch.to_string())
    }
}

/// A right reply that is longer is not remembered: bytes beyond the length of its request.
const MOST_LONGER: usize = 1024;

/// Checks replies: the first to each request by decoding it, the same bytes again by comparing them.
#[derive(Debug)]
pub(crate) struct Checker {
    right: Vec<Right>,
    /// The nonce that was looked for last, and its digits. Most calls have that of the call before: it is another once in
    /// as many calls as there are requests.
    nonce: Nonce,
    digits: Digits,
}

/// All digits of a nonce.
type Digits = [u8; Nonce::DIGITS];

/// The last right reply to a request; empty before there is one.
#[derive(Clone, Debug, Default)]
struct Right {
    bytes: Box<[u8]>,
    /// Where its call's nonce is in it, and any other call's would be.
    nonce_at: u32,
    nonce_length: u32,
}

impl Right {
    fn new(reply: &[u8], nonce: &Range<usize>) -> Self {
        Self { bytes: reply.into(), nonce_at: nonce.start as u32, nonce_length: nonce.len() as u32 }
    }

    /// Whether it is the reply to the call whose nonce has those digits. They are compared by themselves: written into the
    /// bytes they would still be on their way to memory when these are read.
    #[inline]
    fn is(&self, digits: &Digits, reply: &[u8]) -> bool {
        let start = self.nonce_at as usize;
        let end = start + self.nonce_length as usize;
        self.bytes.len() == reply.len()
            && !reply.is_empty()
            && end_with(digits, &reply[start..end])
            && begin_alike(&self.bytes, reply, start)
            && self.bytes[end..] == reply[end..]
    }
}

/// Whether `place` has the last digits.
#[inline]
fn end_with(digits: &Digits, place: &[u8]) -> bool {
    match <&Digits>::try_from(place) {
        Ok(place) => place == digits,
        Err(_) => *place == digits[Nonce::DIGITS - place.len()..],
    }
}

/// Whether the first `length` bytes of two slices of one length are the same; by one word where they are few, as they are
/// before the nonce.
#[inline]
fn begin_alike(one: &[u8], other: &[u8], length: usize) -> bool {
    match (one.first_chunk(), other.first_chunk()) {
        (Some(one), Some(other)) if length < size_of::<u64>() => {
            let differing = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
            differing & ((1 << (8 * length)) - 1) == 0
        }
        _ => one[..length] == other[..length],
    }
}

impl Checker {
    pub fn new(payload: &dyn Payload) -> Self {
        let nonce = Nonce::default();
        Self { right: vec![Right::default(); payload.len()], nonce, digits: nonce.digits() }
    }

    #[inline(always)]
    pub fn check(&mut self, payload: &dyn Payload, call: Call, reply: &[u8]) -> Result<(), String> {
        if self.nonce != call.nonce {
            (self.nonce, self.digits) = (call.nonce, call.nonce.digits());
        }
        if self.right[call.request as usize].is(&self.digits, reply) {
            return Ok(());
        }
        self.decode(payload, call, reply)
    }

    #[cold]
    #[inline(never)]
    fn decode(&mut self, payload: &dyn Payload, call: Call, reply: &[u8]) -> Result<(), String> {
        let index = call.request as usize;
        payload.verify(index, call.nonce, reply)?;
        let short = reply.len() <= payload.request(index).len() + MOST_LONGER;
        let place = find_nonce(call.nonce, payload.nonce(index).len(), reply);
        if let Some(nonce) = place.filter(|_| short) {
            self.right[index] = Right::new(reply, &nonce);
        }
        Ok(())
    }
}

/// Where the last `length` digits of a nonce are in a right reply. `None` unless there is just one such place: which of
/// several would be another call's is not known.
fn find_nonce(nonce: Nonce, length: usize, reply: &[u8]) -> Option<Range<usize>> {
    if length == 0 {
        return Some(0..0);
    }
    let digits = &nonce.digits()[Nonce::DIGITS - length..];
    let mut places = reply.windows(length).enumerate().filter(|(_, bytes)| *bytes == digits);
    let (at, _) = places.next()?;
    places.next().is_none().then(|| at..at + length)
}

#[cfg(test)]
mod tests {
    use rpcbench_contract::{Encoding, Shape};

    use super::*;

    fn call(request: usize, nonce: u32) -> Call {
        Call { request: request as u32, nonce: Nonce::new(nonce), ..Call::default() }
    }

    /// The right reply to a call, by swapping the tag.
    fn reply(corpus: &Corpus, call: Call) -> Vec<u8> {
        let index = call.request as usize;
        let mut reply = corpus.request(index).to_vec();
        call.nonce.write(&mut reply[corpus.nonce(index)]);
        reply[0] = 0x12;
        reply
    }

    #[test]
    fn a_remembered_reply_is_right_only_with_the_calls_own_nonce() {
        for shape in ["text:1", "text:5", "text:16", "text:100", "record", "dto", "tree"] {
            let shape: Shape = shape.parse().unwrap();
            let corpus = Corpus::plain(&shape, 3, Encoding::Protobuf);
            let mut checker = Checker::new(&corpus);
            for index in 0..corpus.len() {
                let (first, next) = (call(index, 0x0123_4567), call(index, 77));
                assert_eq!(checker.check(&corpus, first, &reply(&corpus, first)), Ok(()));
                assert_eq!(*checker.right[index].bytes, reply(&corpus, first));
                assert!(checker.check(&corpus, next, &reply(&corpus, first)).is_err());
                assert_eq!(checker.check(&corpus, next, &reply(&corpus, next)), Ok(()));
                assert_eq!(checker.check(&corpus, first, &reply(&corpus, first)), Ok(()));
            }
        }
    }

    #[test]
    fn each_byte_of_a_beginning_counts_and_none_behind_it() {
        for size in [1, 7, 8, 20] {
            let one = vec![0x5a; size];
            for (length, at) in (0..=size).flat_map(|length| (0..size).map(move |at| (length, at)))
            {
                let mut other = one.clone();
                other[at] ^= 0x80;
                assert_eq!(
                    begin_alike(&one, &other, length),
                    at >= length,
                    "{size}, {length}, {at}"
                );
            }
        }
    }

    #[test]
    fn a_nonce_that_is_found_twice_is_not_taken_for_either() {
        assert_eq!(find_nonce(Nonce::new(0xab), 2, b"xxJK"), Some(2..4));
        assert_eq!(find_nonce(Nonce::new(0xab), 2, b"JKJK"), None);
        assert_eq!(find_nonce(Nonce::new(0xab), 2, b"KJ"), None);
        assert_eq!(find_nonce(Nonce::new(0xab), 0, b""), Some(0..0));
    }
}
