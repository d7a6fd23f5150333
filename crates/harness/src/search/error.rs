//! What can be wrong with a search or a sweep.

use rpcbench_record::Threshold;

/// Why a search is impossible.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// A threshold without a highest rate.
    #[error(
        "'{0}' can't be searched for: only a response time or errors below a limit have a highest rate, such as 'p99<10ms'"
    )]
    Unbounded(Threshold),
    /// A precision that is too fine or too coarse.
    #[error("a precision of {0} is out of range; give a share from 0.001 to 1, such as 0.05")]
    Precision(f64),
}

/// Not a sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// Another form.
    #[error(
        "invalid sweep '{0}'; write FROM..TO or FROM..TO+STEP, such as '10%..90%' of the measured capacity or '1k..10k+1k' calls a second"
    )]
    Form(String),
    /// Shares and rates together.
    #[error("'{0}' mixes shares of capacity and calls a second; write all of it in one of them")]
    Mixed(String),
    /// No step, and no default.
    #[error("'{0}' has no step; write FROM..TO+STEP, such as '1k..10k+1k'")]
    Step(String),
    /// No loads, or too many.
    #[error("'{text}' makes {loads} loads; expected 1 to {most}", most = super::sweep::MAX_LOADS)]
    Loads {
        /// As typed.
        text: String,
        /// How many.
        loads: u64,
    },
}
