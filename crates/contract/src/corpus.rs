//! Many different requests of one shape, encoded in advance, and the reply that each must get.

use crate::codec::{Encoding, Sent};
use crate::method::Method;
use crate::shape::Shape;
use crate::values::{Mismatch, Source, Value};

/// Request bytes that a corpus aims at: small enough for a second-level cache.
const BUDGET: usize = 256 * 1024;
const FEWEST: usize = 16;
const MOST: usize = 1024;

/// The requests of a workload. The same shape, seed and encoding give the same bytes on every machine.
///
/// No request equals the one before it, the first coming after the last; only `text:0` has nothing to
/// vary. Every field is filled, with values other than the default, so that no encoding can leave one out.
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
}

impl Corpus {
    /// Between 16 and 1,024 requests, about 256 KiB in all where those limits allow it.
    #[must_use]
    pub fn generate(shape: &Shape, seed: u64, encoding: Encoding) -> Self {
        let mut source = Source::new(seed);
        let mut requests: Vec<Request> = Vec::new();
        let mut total = 0;
        while requests.len() < FEWEST || total < BUDGET && requests.len() < MOST {
            let value = Value::random(*shape, &mut source);
            let bytes = encoding.codec().request(&value);
            let repeats = requests.last().is_some_and(|last| last.bytes == bytes);
            if !repeats || *shape == Shape::Text(0) {
                total += bytes.len();
                requests.push(Request { value, bytes });
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

    /// The method that takes the requests.
    #[must_use]
    pub fn method(&self) -> Method {
        self.shape.method()
    }

    /// Compares the reply to request `index` with what it must be, field by field where servers decode: see
    /// [`Mismatch`] for what is refused. The order of fields and of map entries does not matter, nor does an
    /// encoding that spells defaults out; NaN equals NaN, and 0.0 equals -0.0, which some libraries leave out.
    ///
    /// # Errors
    /// The first difference found.
    pub fn verify(&self, index: usize, reply: &[u8]) -> Result<(), Mismatch> {
        let Request { value, bytes } = self.at(index);
        let sent =
            Sent { shape: self.shape, content: Some(value), request: bytes, unknown_inside: false };
        self.encoding.codec().verify(sent, reply)
    }

    fn at(&self, index: usize) -> &Request {
        &self.requests[index % self.requests.len()]
    }
}
