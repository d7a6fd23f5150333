//! What calls carry, and the memory that makes checking every reply cheap.

use std::ops::Range;

use crate::nonce::{Digits, Nonce, NonceWriter, put};
use crate::protocol::Call;
use crate::target::Target;

/// Encoded requests to one target, and the verdict on their replies.
pub trait Payload: Send + Sync {
    /// What calls address.
    fn target(&self) -> &Target;

    /// The number of requests; at least one.
    fn len(&self) -> usize;

    /// True if there are no requests.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Request number `index`, encoded.
    fn request(&self, index: usize) -> &[u8];

    /// The patch points of request number `index`: each call writes its own number over these bytes, at most 8 each, as
    /// letters from `@` to `O`.
    fn patches(&self, _index: usize) -> &[Range<usize>] {
        &[]
    }

    /// Judges a reply to request number `index`; `sent` is the request with its patches.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String>;
}

/// The longest right reply that is remembered: bytes beyond the length of its request.
const MAX_LONGER: usize = 1024;

/// Checks replies: the first to each request by the payload's verdict, the same bytes again by comparing them.
#[derive(Debug)]
pub(crate) struct Checker {
    right: Vec<Right>,
    /// How far apart the nonces of a request's calls are.
    nonce_step: u32,
    nonces: NonceWriter,
}

/// The right reply to a call with a request; empty until one has come.
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
    fn patch_nonce(&mut self, nonce: Nonce, nonces: &mut NonceWriter) {
        let start = self.nonce_at as usize;
        let place = &mut self.bytes[start..start + self.nonce_length as usize];
        put(nonces.digits(nonce), place);
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
            right.patch_nonce(call.nonce, &mut self.nonces);
        }
        if *right.bytes != *reply || reply.is_empty() {
            return self.verify(payload, call, reply);
        }
        // Written now: just before the next comparison, that would wait for the store.
        right.patch_nonce(call.nonce.plus(self.nonce_step), &mut self.nonces);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn verify(&mut self, payload: &dyn Payload, call: Call, reply: &[u8]) -> Result<(), String> {
        let index = call.request as usize;
        let (patches, digits) = (payload.patches(index), call.nonce.digits());
        let mut sent = payload.request(index).to_vec();
        patches.iter().for_each(|patch| put(&digits, &mut sent[patch.clone()]));
        payload.verify(index, &sent, reply)?;
        let place = match patches {
            [] => Some(0..0),
            [one] => find_nonce(&digits, one.len(), reply),
            _ => None,
        };
        let short = reply.len() <= sent.len() + MAX_LONGER;
        if let Some(place) = place.filter(|_| short) {
            self.right[index] = Right::new(reply, call.nonce, &place);
        }
        Ok(())
    }
}

/// Where the last `length` digits of a nonce are in a right reply. `None` unless there is exactly one such place: which of
/// several would differ in another call's reply is unknown.
fn find_nonce(digits: &Digits, length: usize, reply: &[u8]) -> Option<Range<usize>> {
    if length == 0 {
        return Some(0..0);
    }
    let digits = &digits[Nonce::DIGITS - length..];
    let mut places = reply.windows(length).enumerate().filter(|(_, bytes)| *bytes == digits);
    let (at, _) = places.next()?;
    places.next().is_none().then(|| at..at + length)
}

/// Requests for tests; every reply to them is right.
#[cfg(any(test, feature = "fuzzing"))]
#[derive(Debug)]
pub(crate) struct Filler {
    pub target: Target,
    pub requests: Vec<Vec<u8>>,
    /// The same in all of them.
    pub patches: Vec<Range<usize>>,
}

#[cfg(any(test, feature = "fuzzing"))]
impl Filler {
    pub fn new(requests: Vec<Vec<u8>>) -> Self {
        Self { target: Target::new("/pkg.Service/Method"), requests, patches: Vec::new() }
    }

    /// One request of each length, bytes.
    pub fn of(lengths: &[usize]) -> Self {
        Self::new(lengths.iter().map(|length| vec![b'x'; *length]).collect())
    }

    /// One request of dots with these patch points.
    #[cfg(test)]
    pub fn patched(length: usize, patches: &[Range<usize>]) -> Self {
        Self { patches: patches.to_vec(), ..Self::new(vec![vec![b'.'; length]]) }
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl Payload for Filler {
    fn target(&self) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        &self.requests[index]
    }

    fn patches(&self, _: usize) -> &[Range<usize>] {
        &self.patches
    }

    fn verify(&self, _: usize, _: &[u8], _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rpcbench_contract::Encoding;

    use super::*;
    use crate::tests::Echo;

    /// The right reply: the request with another tag.
    fn reply(echo: &Echo, call: Call) -> Vec<u8> {
        let mut reply = echo.corpus.request_with(call.request as usize, call.nonce.digits());
        reply[0] = 0x12;
        reply
    }

    fn call(request: usize, nonce: u32) -> Call {
        Call { request: request as u32, nonce: Nonce::new(nonce), ..Call::default() }
    }

    #[test]
    fn a_remembered_reply_is_right_only_with_the_calls_own_nonce() {
        for shape in ["text:1", "text:5", "text:16", "text:100", "record", "dto", "tree"] {
            let echo = Echo::new(shape, Encoding::Protobuf);
            let mut checker = Checker::new(&echo, 2);
            for index in 0..echo.len() {
                let calls = [0x0123_4567, 0x0123_4569, 0x0123_456b, 77].map(|it| call(index, it));
                for (before, next) in calls.into_iter().zip(calls.into_iter().skip(1)) {
                    assert_eq!(checker.check(&echo, before, &reply(&echo, before)), Ok(()));
                    assert!(checker.check(&echo, next, &reply(&echo, before)).is_err());
                    assert_eq!(checker.check(&echo, next, &reply(&echo, next)), Ok(()));
                    assert_eq!(checker.check(&echo, before, &reply(&echo, before)), Ok(()));
                    // It was compared, and patched for the next call.
                    let later = Call { nonce: before.nonce.plus(2), ..before };
                    assert_eq!(checker.right[index].nonce, later.nonce);
                    assert_eq!(*checker.right[index].bytes, reply(&echo, later));
                }
            }
        }
    }

    #[test]
    fn replies_to_requests_with_several_patches_are_judged_each_time() {
        struct Twice(Filler);

        impl Payload for Twice {
            fn target(&self) -> &Target {
                self.0.target()
            }

            fn len(&self) -> usize {
                self.0.len()
            }

            fn request(&self, index: usize) -> &[u8] {
                self.0.request(index)
            }

            fn patches(&self, index: usize) -> &[Range<usize>] {
                self.0.patches(index)
            }

            fn verify(&self, _: usize, sent: &[u8], reply: &[u8]) -> Result<(), String> {
                if sent == reply { Ok(()) } else { Err("another".to_owned()) }
            }
        }

        let payload = Twice(Filler::patched(8, &[1..3, 4..7]));
        let mut checker = Checker::new(&payload, 1);
        for (nonce, reply) in [(0xab, b".JK.@JK."), (0xcd, b".LM.@LM.")] {
            assert_eq!(checker.check(&payload, call(0, nonce), reply), Ok(()));
            assert!(checker.check(&payload, call(0, nonce + 1), reply).is_err());
        }
    }

    #[test]
    fn a_nonce_that_is_found_twice_is_not_taken_for_either() {
        let digits = Nonce::new(0xab).digits();
        assert_eq!(find_nonce(&digits, 2, b"xxJK"), Some(2..4));
        assert_eq!(find_nonce(&digits, 2, b"JKJK"), None);
        assert_eq!(find_nonce(&digits, 2, b"KJ"), None);
        assert_eq!(find_nonce(&digits, 0, b""), Some(0..0));
    }
}
