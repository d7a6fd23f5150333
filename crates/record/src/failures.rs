//! Failed calls: how they failed, how long they took, and what servers said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::OutcomeKind;
use crate::protocol::Protocol;

/// Calls of a window that failed in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureKind {
    /// How the calls ended; never `ok`.
    pub outcome: OutcomeKind,
    /// The protocol's status code. Absent if the calls ended without a status, and for codes beyond the first sixteen kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
    /// Number of calls.
    pub calls: u64,
    /// Median response time, from due until the end of the call, nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile of the response time, nanoseconds.
    pub p99_ns: u64,
    /// Longest response time, nanoseconds.
    pub max_ns: u64,
    /// The first calls that differ from each other, at most three. Absent if empty.
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

/// Replies that were checked beyond their status. Only of services other than rpcbench's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checks {
    /// Replies checked against all expectations.
    pub expected: u64,
    /// Replies decoded as the declared message type.
    pub decoded: u64,
}

impl Checks {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Self) {
        self.expected += other.expected;
        self.decoded += other.decoded;
    }
}

/// A call that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCall {
    /// The server's message, or what is wrong. Over HTTP without a message: the start of the body.
    pub message: String,
    /// Details of the status, each with its type and texts: `google.rpc.ErrorInfo (NO_STOCK, shop.v1)`. Absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Start of a wrong reply, as text or in hex. Absent if there was no wrong reply.
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
