//! What can be wrong with a search or a sweep.

use rpcbench_record::Threshold;

/// Why nothing can be searched for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SearchError {
    /// There is no highest rate under which it holds.
    #[error(
        "'{0}' can't be searched for: only a response time or errors below a limit have a highest rate, such as 'p99<10ms'"
    )]
    Unbounded(Threshold),
    /// A precision that can't be had, or says nothing.
    #[error("a precision of {0} is out of range; give a share from 0.001 to 1, such as 0.05")]
    Precision(f64),
}

/// A sweep that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepError {
    /// Not the form of one.
    #[error(
        "'{0}' is no sweep; write FROM..TO or FROM..TO+STEP, such as '10%..90%' of the measured capacity or '1k..10k+1k' calls a second"
    )]
    Form(String),
    /// Shares and rates in one.
    #[error("'{0}' mixes shares of capacity and calls a second; write all of it in one of them")]
    Mixed(String),
    /// No step where none can be guessed.
    #[error("'{0}' has no step; write FROM..TO+STEP, such as '1k..10k+1k'")]
    Step(String),
    /// Nothing to go through, or too much.
    #[error("'{text}' makes {loads} loads; make it 1 to {most}", most = super::sweep::MOST)]
    Loads {
        /// As typed.
        text: String,
        /// How many.
        loads: u64,
    },
}
