//! What calls carry, and the memory that makes checking every reply cheap.

use rpcbench_contract::{Corpus, Method};

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

    /// Decodes a reply to request number `index` and compares it field by field.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    fn verify(&self, index: usize, reply: &[u8]) -> Result<(), String>;
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

    fn verify(&self, index: usize, reply: &[u8]) -> Result<(), String> {
        Self::verify(self, index, reply).map_err(|mismatch| mismatch.to_string())
    }
}

/// Checks replies: the first to each request by decoding it, the same bytes again by comparing them.
#[derive(Debug)]
pub(crate) struct Checker {
    /// The last right reply to each request; empty before there is one.
    right: Vec<Vec<u8>>,
}

impl Checker {
    pub fn new(payload: &dyn Payload) -> Self {
        Self { right: vec![Vec::new(); payload.len()] }
    }

    #[inline]
    pub fn check(&mut self, payload: &dyn Payload, index: u32, reply: &[u8]) -> Result<(), String> {
        let known = &self.right[index as usize];
        if !known.is_empty() && known == reply {
            return Ok(());
        }
        self.decode(payload, index as usize, reply)
    }

    #[cold]
    fn decode(&mut self, payload: &dyn Payload, index: usize, reply: &[u8]) -> Result<(), String> {
        payload.verify(index, reply)?;
        let known = &mut self.right[index];
        known.clear();
        known.extend_from_slice(reply);
        Ok(())
    }
}
