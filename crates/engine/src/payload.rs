//! What calls carry, and the memory that makes checking every reply cheap.

use std::ops::Range;

use rpcbench_contract::{Corpus, Method, Nonce, NonceWriter};

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
    /// How far apart the nonces of a request's calls are.
    nonce_step: u32,
    nonces: NonceWriter,
}

/// The right reply to a call with a request; empty before there was one.
#[derive(Clone, Debug, Default)]
struct Right {
    bytes: Box<[u8]>,
    /// The call's.
    nonce: Nonce,
    /// Where the nonce is in it.
    nonce_at: u32,
    nonce_length: u32,
}

impl Right {
    fn new(reply: &[u8], nonce: Nonce, place: &Range<usize>) -> Self {
        let (nonce_at, nonce_length) = (place.start as u32, place.len() as u32);
        Self { bytes: reply.into(), nonce, nonce_at, nonce_length }
    }

    /// Makes it the right reply to another call.
    #[inline]
    fn turn_to(&mut self, nonce: Nonce, nonces: &mut NonceWriter) {
        let start = self.nonce_at as usize;
        nonces.write(nonce, &mut self.bytes[start..start + self.nonce_length as usize]);
        self.nonce = nonce;
    }
}

impl Checker {
    /// For calls whose nonces are `nonce_step` apart where their request is the same.
    pub fn new(payload: &dyn Payload, nonce_step: u32) -> Self {
        let right = vec![Right::default(); payload.len()];
        Self { right, nonce_step, nonces: NonceWriter::default() }
    }

    #[inline(always)]
    pub fn check(&mut self, payload: &dyn Payload, call: Call, reply: &[u8]) -> Result<(), String> {
        let right = &mut self.right[call.request as usize];
        if right.nonce != call.nonce {
            right.turn_to(call.nonce, &mut self.nonces);
        }
        if *right.bytes != *reply || reply.is_empty() {
            return self.decode(payload, call, reply);
        }
        // Written now: right before the next comparison, that would wait for the store.
        right.turn_to(call.nonce.plus(self.nonce_step), &mut self.nonces);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn decode(&mut self, payload: &dyn Payload, call: Call, reply: &[u8]) -> Result<(), String> {
        let index = call.request as usize;
        payload.verify(index, call.nonce, reply)?;
        let short = reply.len() <= payload.request(index).len() + MOST_LONGER;
        let place = find_nonce(call.nonce, payload.nonce(index).len(), reply);
        if let Some(place) = place.filter(|_| short) {
            self.right[index] = Right::new(reply, call.nonce, &place);
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
            let mut checker = Checker::new(&corpus, 2);
            for index in 0..corpus.len() {
                let calls = [0x0123_4567, 0x0123_4569, 0x0123_456b, 77].map(|it| call(index, it));
                for (before, next) in calls.into_iter().zip(calls.into_iter().skip(1)) {
                    assert_eq!(checker.check(&corpus, before, &reply(&corpus, before)), Ok(()));
                    assert!(checker.check(&corpus, next, &reply(&corpus, before)).is_err());
                    assert_eq!(checker.check(&corpus, next, &reply(&corpus, next)), Ok(()));
                    assert_eq!(checker.check(&corpus, before, &reply(&corpus, before)), Ok(()));
                    // It was compared, and turned to the next call.
                    let later = Call { nonce: before.nonce.plus(2), ..before };
                    assert_eq!(checker.right[index].nonce, later.nonce);
                    assert_eq!(*checker.right[index].bytes, reply(&corpus, later));
                }
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
