//! Requests for tests.

#[cfg(test)]
use std::ops::Range;

use super::{MAX_REPLY, Patch, Payload, ReplyCheck, Target};

/// Requests for which every reply passes.
#[derive(Debug)]
pub(crate) struct Filler {
    /// Targets of the requests, in turn.
    pub targets: Vec<Target>,
    pub requests: Vec<Vec<u8>>,
    /// Patches of every request.
    pub patches: Vec<Patch>,
    pub reply_check: ReplyCheck,
    pub max_reply: usize,
    pub limits_content: bool,
}

impl Filler {
    pub fn new(requests: Vec<Vec<u8>>) -> Self {
        let targets = vec![Target::new("/pkg.Service/Method")];
        let (patches, reply_check) = (Vec::new(), ReplyCheck::Status);
        let (max_reply, limits_content) = (MAX_REPLY, false);
        Self { targets, requests, patches, reply_check, max_reply, limits_content }
    }

    /// One request of each length, bytes.
    pub fn of(lengths: &[usize]) -> Self {
        Self::new(lengths.iter().map(|length| vec![b'x'; *length]).collect())
    }

    /// One request of dots with these patch points.
    #[cfg(test)]
    pub fn patched(length: usize, patches: &[Range<usize>]) -> Self {
        let patches = patches.iter().cloned().map(Patch::nonce).collect();
        Self { patches, ..Self::new(vec![vec![b'.'; length]]) }
    }
}

impl Payload for Filler {
    fn target(&self, index: usize) -> &Target {
        &self.targets[index % self.targets.len()]
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn request(&self, index: usize) -> &[u8] {
        &self.requests[index]
    }

    fn patches(&self, _: usize) -> &[Patch] {
        &self.patches
    }

    fn reply_check(&self) -> ReplyCheck {
        self.reply_check
    }

    fn max_reply(&self) -> usize {
        self.max_reply
    }

    fn limits_content(&self) -> bool {
        self.limits_content
    }

    fn verify(&self, _: usize, _: &[u8], _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}
