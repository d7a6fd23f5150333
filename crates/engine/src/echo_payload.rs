//! The contract's requests as a payload, for unit tests. The harness's own can't be used here: it implements the library's
//! [`Payload`], and to the compiler the library is another crate than its unit tests.

use rpcbench_contract::{Corpus, Encoding};

use crate::patch::Patch;
use crate::payload::{Payload, ReplyCheck};
use crate::target::Target;

/// The canonical requests of a shape.
pub(crate) struct EchoPayload {
    pub corpus: Corpus,
    target: Target,
    patches: Vec<Patch>,
}

impl EchoPayload {
    pub fn new(shape: &str, encoding: Encoding) -> Self {
        let corpus = Corpus::canonical(&shape.parse().unwrap(), 1, encoding);
        let patch = |index| Patch::nonce(corpus.nonce(index).clone());
        let patches = (0..corpus.len()).map(patch).collect();
        Self { target: Target::new(corpus.method().name()), patches, corpus }
    }
}

impl Payload for EchoPayload {
    fn target(&self, _: usize) -> &Target {
        &self.target
    }

    fn len(&self) -> usize {
        self.corpus.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        self.corpus.request(index)
    }

    fn patches(&self, index: usize) -> &[Patch] {
        std::slice::from_ref(&self.patches[index])
    }

    fn reply_check(&self) -> ReplyCheck {
        ReplyCheck::Echo
    }

    fn verify(&self, index: usize, sent: &[u8], reply: &[u8]) -> Result<(), String> {
        self.corpus.verify(index, sent, reply).map_err(|mismatch| mismatch.to_string())
    }
}
