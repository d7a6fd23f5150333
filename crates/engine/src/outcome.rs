//! How calls end.

use rpcbench_record::{Outcomes, Protocol};

/// How a due call ended; each call has exactly one outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Ok,
    WrongAnswer,
    Status { code: u32, message: String },
    Timeout,
    Transport { reason: String },
    NotSent { reason: String },
}

impl Outcome {
    /// Adds it to `outcomes`.
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

    /// One line for a reader, for those that explain themselves; codes are the protocol's own.
    pub fn example(&self, protocol: Protocol) -> Option<String> {
        match self {
            Self::Status { code, message } => {
                let name = protocol.status_name(*code);
                let name = name.map_or_else(|| format!("status {code}"), str::to_owned);
                Some(if message.is_empty() { name } else { format!("{name}: {message}") })
            }
            Self::Transport { reason } => Some(reason.clone()),
            Self::NotSent { reason } => Some(format!("not sent: {reason}")),
            _ => None,
        }
    }
}
