//! Failed calls: how they failed, how long they took, and what servers said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::OutcomeKind;
use crate::protocol::Protocol;

/// The calls of a window that ended in one way other than `ok`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureKind {
    /// How they ended.
    pub outcome: OutcomeKind,
    /// The protocol's code, if they ended with a status. `None` for the codes beyond the first sixteen kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
    /// How many.
    pub calls: u64,
    /// Median of their response times, from due until they ended, nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
    /// The first ones that differ, at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<FailedCall>,
}

impl FailureKind {
    /// In words: `timeout`, `status 13 INTERNAL`.
    pub fn words(&self, protocol: Protocol) -> String {
        match self.status {
            Some(code) => protocol.status(code),
            None => self.outcome.words(),
        }
    }
}

/// Replies of another service than the contract's that were judged by more than their status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// By all expectations.
    pub expected: u64,
    /// Decoded as the declared message.
    pub decoded: u64,
}

impl Checks {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Self) {
        self.expected += other.expected;
        self.decoded += other.decoded;
    }

    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCall {
    /// The server's message, or what is wrong. Without a message, the start of HTTP's body.
    pub message: String,
    /// Details of a status, each its type and the texts in it: `google.rpc.ErrorInfo (NO_STOCK, shop.v1)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// The start of a wrong reply: text, or hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// In one line.
impl std::fmt::Display for FailedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let details = Some(self.details.join(", ")).filter(|details| !details.is_empty());
        let reply = self.reply.as_ref().map(|reply| format!("reply: {reply}"));
        let message = Some(self.message.clone()).filter(|message| !message.is_empty());
        let parts: Vec<String> = [message, details, reply].into_iter().flatten().collect();
        f.pad(&parts.join("; "))
    }
}
