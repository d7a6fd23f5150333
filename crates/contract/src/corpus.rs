//! Many different requests of one shape, encoded in advance, and the reply that each must get.

use std::ops::Range;

use crate::codec::{Encoding, Sent};
use crate::method::Method;
use crate::nonce::NONCE_BYTES;
use crate::shape::Shape;
use crate::values::{Mismatch, NoncePlace, Source, Value};

/// Request bytes that a corpus aims at: small enough for a second-level cache.
const BUDGET: usize = 256 * 1024;
const FEWEST: usize = 16;
const MOST: usize = 1024;
/// One request in so many is oddly encoded, from this one on.
const ODD_EVERY: usize = 64;
const FIRST_ODD: usize = 7;

/// The requests of a workload. The same shape, seed and encoding give the same bytes on every machine.
///
/// No request equals the one before it, the first coming after the last; only `text:0` has nothing to
/// vary. Every field is filled, with values other than the default, so that no encoding can leave one out.
/// One request in 64 is encoded in a legal way that shows where its bytes are copied.
#[derive(Clone, Debug)]
pub struct Corpus {
    shape: Shape,
    encoding: Encoding,
    requests: Vec<Request>,
}

#[derive(Clone, Debug)]
struct Request {
    value: Value,
    bytes: Vec<u8>,
    /// Where a nonce goes in the value, and in the bytes.
    place: NoncePlace,
    nonce: Range<usize>,
}

impl Corpus {
    /// Between 16 and 1,024 requests, about 256 KiB in all where those limits allow it.
    #[must_use]
    pub fn generate(shape: &Shape, seed: u64, encoding: Encoding) -> Self {
        Self::with(shape, seed, encoding, |value, other, at| {
            let odd = at % ODD_EVERY == FIRST_ODD;
            let oddities = encoding.codec().oddities();
            let oddity = oddities[at / ODD_EVERY % oddities.len()];
            odd.then(|| encoding.codec().odd_request(value, other, oddity))
        })
    }

    /// The same with every request as an encoder writes it: for clients and servers that know no other.
    #[must_use]
    pub fn plain(shape: &Shape, seed: u64, encoding: Encoding) -> Self {
        Self::with(shape, seed, encoding, |_, _, _| None)
    }

    /// `odd` makes the bytes of a value, which are not the usual ones, from another value and their number.
    fn with(
        shape: &Shape,
        seed: u64,
        encoding: Encoding,
        odd: impl Fn(&Value, &Value, usize) -> Option<Vec<u8>>,
    ) -> Self {
        let mut source = Source::new(seed);
        let mut requests: Vec<Request> = Vec::new();
        let mut total = 0;
        while requests.len() < FEWEST || total < BUDGET && requests.len() < MOST {
            let mut value = Value::random(*shape, &mut source);
            let place = value.make_room_for_nonce(&mut source);
            let other = requests.last().map_or(&value, |last| &last.value);
            let bytes = odd(&value, other, requests.len());
            let bytes = bytes.unwrap_or_else(|| encoding.codec().request(&value));
            let repeats = requests.last().is_some_and(|last| last.bytes == bytes);
            if !repeats || *shape == Shape::Text(0) {
                total += bytes.len();
                let nonce = position(&mut value, &place, &bytes);
                requests.push(Request { value, bytes, place, nonce });
            }
        }
        if *shape != Shape::Text(0) && requests[0].bytes == requests[requests.len() - 1].bytes {
            // What came before the last one differs from it, and so from the first.
            requests.pop();
        }
        Self { shape: *shape, encoding, requests }
    }

    /// How many requests there are; at least 16.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a corpus is never empty")]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Request `index`, encoded, without a protocol's framing. Indices wrap around.
    #[must_use]
    pub fn request(&self, index: usize) -> &[u8] {
        &self.at(index).bytes
    }

    /// The bytes of request `index` that a call may replace with letters of ASCII, such as a [nonce](crate::nonce):
    /// [`NONCE_BYTES`] of them; in a shorter text, all of it.
    #[must_use]
    pub fn nonce(&self, index: usize) -> &Range<usize> {
        &self.at(index).nonce
    }

    /// Request `index` with a nonce, or its last digits where it has less room.
    #[must_use]
    pub fn request_with(&self, index: usize, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        let Request { bytes, nonce: range, .. } = self.at(index);
        let mut request = bytes.clone();
        request[range.clone()].copy_from_slice(&nonce[NONCE_BYTES - range.len()..]);
        request
    }

    /// The method that takes the requests.
    #[must_use]
    pub fn method(&self) -> Method {
        self.shape.method()
    }

    /// Compares the reply to request `index` with what it must be, field by field where servers decode; `sent` is the
    /// request as it was sent, with its nonce if it had one. See [`Mismatch`] for what is refused. The order of fields and
    /// of map entries does not matter, nor does an encoding that spells defaults out; NaN equals NaN, and 0.0 equals -0.0,
    /// which some libraries leave out.
    ///
    /// # Errors
    /// The first difference found.
    pub fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), Mismatch> {
        let Request { value, place, nonce, .. } = self.at(index);
        let mut value = value.clone();
        if !nonce.is_empty() {
            value.write_nonce(place, &String::from_utf8_lossy(&sent[nonce.clone()]));
        }
        let sent =
            Sent { shape: self.shape, content: Some(&value), request: sent, unknown_inside: false };
        self.encoding.codec().verify(sent, reply)
    }

    fn at(&self, index: usize) -> &Request {
        &self.requests[index % self.requests.len()]
    }
}

/// Where the bytes of `place` are in the request; nowhere if its text is not there as it is. A short text may be in a
/// name before it, in JSON.
fn position(value: &mut Value, place: &NoncePlace, request: &[u8]) -> Range<usize> {
    let Some(text) = value.nonce_texts().into_iter().nth(place.text) else { return 0..0 };
    let at = (!text.is_empty())
        .then(|| request.windows(text.len()).rposition(|bytes| bytes == text.as_bytes()))
        .flatten();
    at.map_or(0..0, |at| at + place.range.start..at + place.range.end)
}
