//! How a call ends, in words.

/// How a call that came due ended: exactly one for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// Answered, and the answer was right.
    Ok,
    /// Answered with success, and the answer was wrong.
    WrongAnswer,
    /// Ended by the protocol's own status.
    Status,
    /// Not answered in time.
    Timeout,
    /// The connection broke, or the peer broke the protocol.
    Transport,
    /// Came due and never left the client.
    NotSent,
}

impl OutcomeKind {
    /// As exports and logs of calls write it.
    #[must_use]
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

    /// As people read it.
    #[must_use]
    pub fn words(self) -> String {
        self.key().replace('_', " ")
    }
}
