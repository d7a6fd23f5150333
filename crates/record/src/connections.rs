//! What became of connections in a window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections that ended or could not be opened, and calls that came back because of it or were refused: from the window's begin until its
/// last call has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Connections that came to be open, where they live for a number of calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub opened: u64,
    /// Connections that ended, closed by the peer or lost.
    pub ended: u64,
    /// Those of them that the peer ended in good order, with a GOAWAY or `Connection: close`, and every call answered.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub orderly: u64,
    /// Those of them that the peer reset.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reset: u64,
    /// Connections that the client ended as planned, after the last call of their life. Not among those that `ended`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub retired: u64,
    /// Attempts to open one that failed, or took longer than the connect timeout.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connect_failed: u64,
    /// Those of them that the peer refused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connect_refused: u64,
    /// Connections on which the peer broke the protocol, those that never came to be open included.
    pub broken: u64,
    /// Times that one was opened in the place of another, or tried to be.
    pub reopened: u64,
    /// Calls that the peer said it never looked at; one that is refused twice counts twice.
    pub refused: u64,
    /// Times that such a call was sent again, those refused before the window included.
    pub resent: u64,
    /// Why the first connection ended, one line. `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Connections {
    /// One ended, in good order or not.
    pub fn end(&mut self, reason: &str, orderly: bool) {
        self.ended += 1;
        self.orderly += u64::from(orderly);
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
        self.opened += other.opened;
        self.ended += other.ended;
        self.orderly += other.orderly;
        self.reset += other.reset;
        self.retired += other.retired;
        self.connect_refused += other.connect_refused;
        self.connect_failed += other.connect_failed;
        self.broken += other.broken;
        self.reopened += other.reopened;
        self.refused += other.refused;
        self.resent += other.resent;
        if let Some(reason) = &other.reason {
            self.explain(reason);
        }
    }
}
