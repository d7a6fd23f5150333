//! The contract's requests as a payload, for unit tests. The one of the harness can't serve here: it is a [`Payload`] of the
//! library, which for the compiler is another crate than its unit tests.

use std::ops::Range;

use rpcbench_contract::{Corpus, Encoding};

use crate::payload::Payload;
use crate::target::Target;

/// The canonical requests of a shape.
pub(crate) struct EchoPayload {
    pub corpus: Corpus,
    target: Target,
}

impl EchoPayload {
    pub fn new(shape: &str, encoding: Encoding) -> Self {
        let corpus = Corpus::canonical(&shape.parse().unwrap(), 1, encoding);
        Self { target: Target::new(corpus.method().name()), corpus }
    }
}

impl Payload for EchoPayload {
    fn target(&self) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        self.corpus.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        self.corpus.request(index)
    }

    fn patches(&self, index: usize) -> &[Range<usize>] {
        std::slice::from_ref(self.corpus.nonce(index))
    }

    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String> {
        self.corpus.verify(index, sent, reply).map_err(|mismatch| mismatch.to_string())
    }
}
