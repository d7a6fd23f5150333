//! The ways a call can end.

/// How a call ended. Every call that came due has exactly one outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// Answered correctly.
    Ok,
    /// Answered with success, but with wrong content.
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
