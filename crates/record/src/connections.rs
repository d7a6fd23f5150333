//! What became of connections in a window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections that ended, and calls that came back because of it or were refused: from the window's begin until its
/// last call has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Connections that ended, closed by the peer or lost.
    pub ended: u64,
    /// Connections on which the peer broke the protocol, those that never came to be open included.
    pub broken: u64,
    /// Times that one was opened in the place of another, or tried to be.
    pub reopened: u64,
    /// Calls that the peer said it never looked at; one that is refused twice counts twice.
    pub refused: u64,
    /// Those of them that were sent again.
    pub resent: u64,
    /// Why the first connection ended, one line. `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Connections {
    /// One ended.
    pub fn end(&mut self, reason: &str) {
        self.ended += 1;
        self.explain(reason);
    }

    /// On one the peer broke the protocol.
    pub fn break_off(&mut self, reason: &str) {
        self.broken += 1;
        self.explain(reason);
    }

    fn explain(&mut self, reason: &str) {
        self.reason.get_or_insert_with(|| reason.to_owned());
    }

    /// Adds what became of others.
    pub fn add(&mut self, other: &Self) {
        self.ended += other.ended;
        self.broken += other.broken;
        self.reopened += other.reopened;
        self.refused += other.refused;
        self.resent += other.resent;
        if let Some(reason) = &other.reason {
            self.explain(reason);
        }
    }
}
