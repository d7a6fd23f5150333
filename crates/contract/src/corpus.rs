//! Many different requests of one shape, encoded in advance, and the reply that each must get.

use crate::payload::Payload;
use crate::reply::{self, Mismatch};
use crate::shape::Shape;
use crate::source::Source;

/// Request bytes that a corpus aims at: small enough for a second-level cache.
const BUDGET: usize = 256 * 1024;
const FEWEST: usize = 16;
const MOST: usize = 1024;

/// The requests of a workload. The same shape and seed give the same bytes on every machine.
///
/// No request equals the one before it, the first coming after the last; only `text:0` has nothing to
/// vary. Every field is filled, with values other than the default, so that no encoding can leave one out.
#[derive(Clone, Debug)]
pub struct Corpus {
    shape: Shape,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    payload: Payload,
    request: Vec<u8>,
}

impl Corpus {
    /// Between 16 and 1,024 requests, about 256 KiB in all where those limits allow it.
    #[must_use]
    pub fn generate(shape: &Shape, seed: u64) -> Self {
        let mut source = Source::new(seed);
        let mut entries: Vec<Entry> = Vec::new();
        let mut bytes = 0;
        while entries.len() < FEWEST || bytes < BUDGET && entries.len() < MOST {
            let next = Entry::random(*shape, &mut source);
            let repeats = entries.last().is_some_and(|last| last.request == next.request);
            if !repeats || *shape == Shape::Text(0) {
                bytes += next.request.len();
                entries.push(next);
            }
        }
        if *shape != Shape::Text(0) && entries[0].request == entries[entries.len() - 1].request {
            // What came before the last one differs from it, and so from the first.
            entries.pop();
        }
        Self { shape: *shape, entries }
    }

    /// How many requests there are; at least 16.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a corpus is never empty")]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Request `index` as a protobuf message, without gRPC's five-byte prefix. Indices wrap around.
    #[must_use]
    pub fn request(&self, index: usize) -> &[u8] {
        &self.entry(index).request
    }

    /// Path of the method that takes the requests: `/rpcbench.v1.Echo/Text`.
    #[must_use]
    pub fn path(&self) -> &'static str {
        self.shape.method()
    }

    /// Decodes the reply to request `index` and compares it field by field: see [`Mismatch`] for what is
    /// refused. The order of fields and of map entries does not matter, nor does an encoding that
    /// spells defaults out; NaN equals NaN, and 0.0 equals -0.0, which some libraries leave out.
    ///
    /// # Errors
    /// The first difference found.
    pub fn verify(&self, index: usize, reply: &[u8]) -> Result<(), Mismatch> {
        let Entry { payload, request } = self.entry(index);
        if payload.is_plainly(reply) {
            return Ok(());
        }
        if reply == request {
            return Err(Mismatch::RequestReturned);
        }
        reply::compare(self.shape, &payload.reply(), reply)
    }

    fn entry(&self, index: usize) -> &Entry {
        &self.entries[index % self.entries.len()]
    }
}

impl Entry {
    fn random(shape: Shape, source: &mut Source) -> Self {
        let payload = Payload::random(shape, source);
        Self { request: payload.request(), payload }
    }
}
