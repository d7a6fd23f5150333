//! What calls carry, and remembered replies, which make checking every reply cheap.

use std::ops::Range;

use crate::nonce::{Digits, Nonce, NonceWriter, put};
use crate::protocol::Call;
use crate::target::Target;

/// Encoded requests to one target, and how to check their replies.
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

    /// The patch points of request number `index`: each call overwrites these bytes, at most 8 each, with its nonce in
    /// letters from `@` to `O`.
    fn patches(&self, _index: usize) -> &[Range<usize>] {
        &[]
    }

    /// How many of the last requests are spot checks, which no load sends: see [`Session::spot_check`](crate::Session).
    fn spot_checks(&self) -> usize {
        0
    }

    /// True if calls with request number `index` must end with this status, and not with a reply.
    fn accepts_status(&self, _index: usize, _code: u32) -> bool {
        false
    }

    /// Checks a reply to request number `index`; `sent` is the request with its patches.
    ///
    /// # Errors
    /// One line that says what is wrong.
    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String>;
}

/// Replies longer than their request by more bytes than this are not remembered.
const MAX_LONGER: usize = 1024;

/// Checks replies: the first one to each request by the payload, later ones by comparing bytes.
#[derive(Debug)]
pub(crate) struct Checker {
    right: Vec<CachedReply>,
    /// Difference between the nonces of successive calls with a request.
    nonce_step: u32,
    nonces: NonceWriter,
}

/// The right reply to a call with a request; empty before the first.
#[derive(Clone, Debug, Default)]
struct CachedReply {
    bytes: Box<[u8]>,
    /// The call's.
    nonce: Nonce,
    /// Where the nonce is in it.
    nonce_at: u32,
    nonce_length: u32,
}

impl CachedReply {
    fn new(reply: &[u8], nonce: Nonce, place: &Range<usize>) -> Self {
        let (nonce_at, nonce_length) = (place.start as u32, place.len() as u32);
        Self { bytes: reply.into(), nonce, nonce_at, nonce_length }
    }

    /// Turns it into the right reply to another call.
    #[inline]
    fn patch_nonce(&mut self, nonce: Nonce, nonces: &mut NonceWriter) {
        let start = self.nonce_at as usize;
        let place = &mut self.bytes[start..start + self.nonce_length as usize];
        put(nonces.digits(nonce), place);
        self.nonce = nonce;
    }
}

impl Checker {
    /// For calls whose nonces increase by `nonce_step` from call to call with the same request.
    pub fn new(payload: &dyn Payload, nonce_step: u32) -> Self {
        let right = vec![CachedReply::default(); payload.len()];
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
        // Written now: a comparison right after the write would stall on the store.
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
            self.right[index] = CachedReply::new(reply, call.nonce, &place);
        }
        Ok(())
    }
}

/// Where the last `length` digits of a nonce are in a right reply. `None` unless they occur exactly once: with several, it is
/// unknown which would differ in another call's reply.
fn find_nonce(digits: &Digits, length: usize, reply: &[u8]) -> Option<Range<usize>> {
    if length == 0 {
        return Some(0..0);
    }
    let digits = &digits[Nonce::DIGITS - length..];
    let mut places = reply.windows(length).enumerate().filter(|(_, bytes)| *bytes == digits);
    let (at, _) = places.next()?;
    places.next().is_none().then(|| at..at + length)
}

/// Requests for tests; every reply passes.
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
    use crate::echo_payload::EchoPayload;

    /// The right reply: the request with another tag.
    fn reply(echo: &EchoPayload, call: Call) -> Vec<u8> {
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
            let echo = EchoPayload::new(shape, Encoding::Protobuf);
            let mut checker = Checker::new(&echo, 2);
            for index in 0..echo.len() {
                let calls = [0x0123_4567, 0x0123_4569, 0x0123_456b, 77].map(|it| call(index, it));
                for (before, next) in calls.into_iter().zip(calls.into_iter().skip(1)) {
                    assert_eq!(checker.check(&echo, before, &reply(&echo, before)), Ok(()));
                    assert!(checker.check(&echo, next, &reply(&echo, before)).is_err());
                    assert_eq!(checker.check(&echo, next, &reply(&echo, next)), Ok(()));
                    assert_eq!(checker.check(&echo, before, &reply(&echo, before)), Ok(()));
                    // Compared, and patched for the next call.
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
