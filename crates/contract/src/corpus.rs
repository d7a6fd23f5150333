//! Many different requests of one shape, encoded in advance, and the check of their replies.

use std::ops::Range;

use crate::codec::{Encoding, NonCanonicalVariant, Sent};
use crate::method::Method;
use crate::nonce::NONCE_BYTES;
use crate::shape::Shape;
use crate::values::{Mismatch, PatchPoint, Source, Value};

/// Limits on the number of requests of a corpus.
#[derive(Clone, Copy)]
struct Size {
    min: usize,
    max: usize,
    /// Target size of all requests, bytes.
    bytes: usize,
}

/// For a load: fits in a second-level cache.
const LOAD: Size = Size { min: 16, max: 1024, bytes: 256 * 1024 };
/// One request in this many has a non-canonical encoding.
const NON_CANONICAL_EVERY: usize = 64;
/// Index of the first non-canonical request.
const FIRST_NON_CANONICAL: usize = 7;

/// Passes over a server that compare the requests of a load with others, in pairs of one pass each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    /// Selects the other requests.
    pub number: u32,
    /// Number of pairs, at least 1.
    pub pairs: u32,
    /// Calls per pass, at least 1.
    pub calls: u32,
}

impl Passes {
    /// True if a pair begins with the requests that no load sends. Each kind begins half of the pairs, in Thue-Morse order: work
    /// that a server does every few passes, such as garbage collection, affects both alike.
    pub fn unseen_is_first(pair: u32) -> bool {
        pair.count_ones() % 2 == 1
    }
}

/// The requests of a workload. The same shape, seed and encoding give the same bytes on every machine.
///
/// No request equals the one before it, and the last differs from the first, except for `text:0`, which can't vary. Every field
/// differs from its default, so that no encoding omits it. One request in 64 has a valid but non-canonical encoding, which
/// reveals a server that copies bytes. Every second of these is non-canonical only inside, if the shape has inner levels.
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
    /// The bytes of the value that a nonce replaces; `nonce` is their range in the encoded request.
    patch_point: PatchPoint,
    nonce: Range<usize>,
}

impl Corpus {
    /// Generates 16 to 1,024 requests, about 256 KiB in total if those limits allow it.
    pub fn generate(shape: &Shape, seed: u64, encoding: Encoding) -> Self {
        let encode = non_canonical(*shape, encoding);
        Self::with(shape, (seed, LOAD), encoding, Value::add_patch_point, encode)
    }

    /// The same with every request in canonical encoding, for clients and servers that support no other.
    pub fn canonical(shape: &Shape, seed: u64, encoding: Encoding) -> Self {
        Self::with(shape, (seed, LOAD), encoding, Value::add_patch_point, |_, _, _| None)
    }

    /// The same with the nonce at the beginning of the first text, where client programs put it: contract/clients.md.
    pub fn for_clients(shape: &Shape, seed: u64, encoding: Encoding) -> Self {
        Self::with(shape, (seed, LOAD), encoding, Value::add_leading_patch_point, |_, _, _| None)
    }

    /// The same with `mark` at the beginning of another text field.
    pub fn for_clients_with(
        mark: [u8; NONCE_BYTES],
        shape: &Shape,
        seed: u64,
        encoding: Encoding,
    ) -> Self {
        let patch = |value: &mut Value, source: &mut Source| {
            value.add_mark(mark, source);
            value.add_leading_patch_point(source)
        };
        Self::with(shape, (seed, LOAD), encoding, patch, |_, _, _| None)
    }

    /// The requests of all `passes` in a row: those of [`Self::generate`], as a load sends them, and requests that no load sends,
    /// each once.
    pub fn of_passes(shape: &Shape, seed: u64, encoding: Encoding, passes: Passes) -> Self {
        let Passes { number, pairs, calls } = passes;
        let mut load = Self::generate(shape, seed, encoding);
        let unseen = load.unseen(seed, (number, (pairs * calls) as usize));
        let mut kinds = [&load, &unseen].map(|corpus| corpus.requests.iter().cycle().cloned());
        let mut requests = Vec::new();
        for pair in 0..pairs {
            let first = usize::from(Passes::unseen_is_first(pair));
            for kind in [first, 1 - first] {
                requests.extend(kinds[kind].by_ref().take(calls as usize));
            }
        }
        load.requests = requests;
        load
    }

    /// Generates `count` requests that differ from these, generated from `seed`, and from those of another `number`. Only map
    /// keys are the same, since decoders cache keys.
    fn unseen(&self, seed: u64, (number, count): (u32, usize)) -> Self {
        let mut at = 0;
        let patch = |value: &mut Value, source: &mut Source| {
            value.take_keys(&self.at(at).value);
            at += 1;
            value.add_patch_point(source)
        };
        let seed = (seed ^ 1 << 63).wrapping_add(number.into());
        let size = Size { min: count, max: count, bytes: 0 };
        let encode = non_canonical(self.shape, self.encoding);
        Self::with(&self.shape, (seed, size), self.encoding, patch, encode)
    }

    /// `patch` chooses where a value's nonce goes. `encode` returns the non-canonical bytes of a value, given another value and
    /// the request's index; `None` for the canonical ones.
    fn with(
        shape: &Shape,
        (seed, size): (u64, Size),
        encoding: Encoding,
        mut patch: impl FnMut(&mut Value, &mut Source) -> PatchPoint,
        encode: impl Fn(&Value, &Value, usize) -> Option<Vec<u8>>,
    ) -> Self {
        let mut source = Source::new(seed);
        let mut requests: Vec<Request> = Vec::new();
        let mut total = 0;
        while requests.len() < size.min || total < size.bytes && requests.len() < size.max {
            let mut value = Value::random(*shape, &mut source);
            let patch_point = patch(&mut value, &mut source);
            let other = requests.last().map_or(&value, |last| &last.value);
            let bytes = encode(&value, other, requests.len());
            let bytes = bytes.unwrap_or_else(|| encoding.codec().request(&value));
            let repeats = requests.last().is_some_and(|last| last.bytes == bytes);
            if !repeats || *shape == Shape::Text(0) {
                total += bytes.len();
                let nonce = patch_range(&mut value, &patch_point, &bytes);
                requests.push(Request { value, bytes, patch_point, nonce });
            }
        }
        if *shape != Shape::Text(0) && requests[0].bytes == requests[requests.len() - 1].bytes {
            // The new last request differs from the removed one, and so from the first.
            requests.pop();
        }
        Self { shape: *shape, encoding, requests }
    }

    /// Number of requests, at least 16.
    #[expect(clippy::len_without_is_empty, reason = "a corpus is never empty")]
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Request `index`, encoded, without a protocol's framing. Indices wrap around.
    pub fn request(&self, index: usize) -> &[u8] {
        &self.at(index).bytes
    }

    /// The bytes of request `index` that a call may replace with ASCII letters, such as a [nonce](crate::nonce()):
    /// [`NONCE_BYTES`] of them, or a whole shorter text.
    pub fn nonce(&self, index: usize) -> &Range<usize> {
        &self.at(index).nonce
    }

    /// Request `index` with a nonce, or as many of its last digits as fit.
    pub fn request_with(&self, index: usize, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        let Request { bytes, nonce: range, .. } = self.at(index);
        let mut request = bytes.clone();
        request[range.clone()].copy_from_slice(&nonce[NONCE_BYTES - range.len()..]);
        request
    }

    /// The method to call with the requests.
    pub fn method(&self) -> Method {
        self.shape.method()
    }

    /// Checks the reply to request `index`, field by field if servers decode. `sent` is the request as sent, including
    /// its nonce. The order of fields and map entries and explicit defaults do not matter; NaN equals NaN, and 0.0
    /// equals -0.0, which some libraries omit.
    ///
    /// # Errors
    /// The first difference.
    pub fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), Mismatch> {
        let Request { value, patch_point, nonce, .. } = self.at(index);
        let mut value = value.clone();
        if !nonce.is_empty() {
            value.write_nonce(patch_point, &String::from_utf8_lossy(&sent[nonce.clone()]));
        }
        self.encoding.codec().verify(Sent::new(&value, sent), reply)
    }

    fn at(&self, index: usize) -> &Request {
        &self.requests[index % self.requests.len()]
    }
}

/// Encodes one request in 64 in a non-canonical form.
fn non_canonical(
    shape: Shape,
    encoding: Encoding,
) -> impl Fn(&Value, &Value, usize) -> Option<Vec<u8>> {
    move |value, other, at| {
        let forms = encoding.codec().non_canonical_forms();
        let number = at / NON_CANONICAL_EVERY;
        let variant = NonCanonicalVariant::numbered(forms[number % forms.len()], shape, number);
        (at % NON_CANONICAL_EVERY == FIRST_NON_CANONICAL)
            .then(|| encoding.codec().non_canonical_request(value, other, variant))
    }
}

/// Where `patch_point` is in the request; empty if the request does not contain its text verbatim. Searches from the end, as in
/// JSON a field name before a short text may contain it.
fn patch_range(value: &mut Value, patch_point: &PatchPoint, request: &[u8]) -> Range<usize> {
    let Some(text) = value.nonce_texts().into_iter().nth(patch_point.text) else { return 0..0 };
    let at = (!text.is_empty())
        .then(|| request.windows(text.len()).rposition(|bytes| bytes == text.as_bytes()))
        .flatten();
    at.map_or(0..0, |at| at + patch_point.range.start..at + patch_point.range.end)
}
