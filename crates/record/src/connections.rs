//! What happened to connections in a window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections that ended or could not be opened, and calls that the peer refused, from the start of the window until its last
/// call ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// Connections opened. Absent if 0, and unless connections have a call limit (`connection_life`).
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub opened: u64,
    /// Connections closed by the peer or lost.
    pub ended: u64,
    /// Connections that the peer closed cleanly: announced with GOAWAY or `Connection: close`, and with every call answered.
    /// Included in `ended`. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub orderly: u64,
    /// Connections that the peer reset. Included in `ended`. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub reset: u64,
    /// Connections that the client closed as planned after their last call. Not included in `ended`. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub retired: u64,
    /// Attempts to connect that failed or timed out. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub connect_failed: u64,
    /// Attempts to connect that the peer refused. Included in `connect_failed`. Absent if 0.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub connect_refused: u64,
    /// Connections on which the peer broke the protocol, including those that were never fully open.
    pub broken: u64,
    /// Attempts to connect again after a connection was lost or could not be opened.
    pub reopened: u64,
    /// Calls that the peer refused without processing them. A call refused twice counts twice.
    pub refused: u64,
    /// Times that a refused call was sent again, including calls refused before the window.
    pub resent: u64,
    /// Lowest limit on concurrent calls that the peer set on a connection. Absent if it allowed as many as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_allowed: Option<u32>,
    /// Why the first connection ended or broke, in one line. Absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Connections {
    /// Counts a connection that ended; `orderly` if it ended cleanly.
    pub fn end(&mut self, reason: &str, orderly: bool) {
        self.ended += 1;
        self.orderly += u64::from(orderly);
        self.explain(reason);
    }

    /// Counts a connection on which the peer broke the protocol.
    pub fn break_off(&mut self, reason: &str) {
        self.broken += 1;
        self.explain(reason);
    }

    fn explain(&mut self, reason: &str) {
        self.reason.get_or_insert_with(|| reason.to_owned());
    }

    /// Adds the counts of `other`.
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
        let allowed = [self.calls_allowed, other.calls_allowed];
        self.calls_allowed = allowed.into_iter().flatten().min();
        if let Some(reason) = &other.reason {
            self.explain(reason);
        }
    }
}
