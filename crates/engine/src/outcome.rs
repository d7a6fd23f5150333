//! How calls end.

use rpcbench_record::{FailedCall, OutcomeKind, Outcomes, Protocol};

use crate::failures::start_of;

/// How a due call ended; each call has exactly one outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    WrongAnswer,
    Status { code: u32, message: String, details: Vec<String> },
    Timeout,
    Transport { reason: String },
    NotSent { reason: String },
}

impl Outcome {
    /// Counts it in `outcomes`.
    #[inline]
    pub fn count(&self, outcomes: &mut Outcomes) {
        match self {
            Self::Ok => outcomes.ok += 1,
            Self::WrongAnswer => outcomes.wrong_answer += 1,
            Self::Status { code, .. } => *outcomes.status.entry(*code).or_default() += 1,
            Self::Timeout => outcomes.timeout += 1,
            Self::Transport { .. } => outcomes.transport += 1,
            Self::NotSent { .. } => outcomes.not_sent += 1,
        }
    }

    /// Its kind, and the code of a status.
    pub fn kind(&self) -> (OutcomeKind, Option<u32>) {
        match self {
            Self::Ok => (OutcomeKind::Ok, None),
            Self::WrongAnswer => (OutcomeKind::WrongAnswer, None),
            Self::Status { code, .. } => (OutcomeKind::Status, Some(*code)),
            Self::Timeout => (OutcomeKind::Timeout, None),
            Self::Transport { .. } => (OutcomeKind::Transport, None),
            Self::NotSent { .. } => (OutcomeKind::NotSent, None),
        }
    }

    /// True if the server replied.
    pub fn is_reply(&self) -> bool {
        matches!(self, Self::Ok | Self::WrongAnswer | Self::Status { .. })
    }

    /// Everything known about it.
    pub fn failed_call(&self) -> FailedCall {
        let (message, details) = match self {
            Self::Status { message, details, .. } => (message.as_str(), details.clone()),
            Self::Transport { reason } | Self::NotSent { reason } => (reason.as_str(), Vec::new()),
            Self::Ok | Self::WrongAnswer | Self::Timeout => ("", Vec::new()),
        };
        FailedCall { message: start_of(message), details, reply: None }
    }

    /// One line for a reader, if the outcome explains itself; codes are the protocol's own.
    pub fn example(&self, protocol: Protocol) -> Option<String> {
        match self {
            Self::Status { code, .. } => {
                let name = protocol.status_name(*code);
                let name = name.map_or_else(|| format!("status {code}"), str::to_owned);
                let said = self.failed_call().to_string();
                Some(if said.is_empty() { name } else { format!("{name}: {said}") })
            }
            Self::Transport { reason } => Some(reason.clone()),
            Self::NotSent { reason } => Some(format!("not sent: {reason}")),
            _ => None,
        }
    }
}
