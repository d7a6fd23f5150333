//! The ways a call can end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a call ended. Every call that came due has exactly one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// Answered correctly.
    Ok,
    /// Answered with success but wrong content.
    WrongAnswer,
    /// Ended with an error status of the protocol.
    Status,
    /// Not answered in time.
    Timeout,
    /// The connection broke, or the peer broke the protocol.
    Transport,
    /// Came due but was never sent.
    NotSent,
}

/// How a single call without a reply ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The server ended it with a status other than success.
    #[error("status {code} ({message:?})")]
    Status {
        /// The protocol's code: 12 for an unknown gRPC method.
        code: u32,
        /// The server's message; may be empty.
        message: String,
    },
    /// Connecting failed, the connection was lost, or the peer violated the protocol.
    #[error("transport: {0}")]
    Transport(String),
    /// The server closed the connection instead of answering.
    #[error("transport: {0}")]
    Closed(String),
    /// No answer in time.
    #[error("no answer in time")]
    Timeout,
}

impl OutcomeKind {
    /// The name in exports and call logs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::WrongAnswer => "wrong_answer",
            Self::Status => "status",
            Self::Timeout => "timeout",
            Self::Transport => "transport",
            Self::NotSent => "not_sent",
        }
    }

    /// The name in messages.
    pub fn words(self) -> String {
        self.key().replace('_', " ")
    }
}
