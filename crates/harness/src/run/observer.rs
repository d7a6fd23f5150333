//! What a run tells whoever watches it.

use rpcbench_record::{Preparation, SearchStep, Trial, WarmSlice};
use rpcbench_stats::Steadiness;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A server is being started and checked.
    Starting {
        /// Whose.
        entry: String,
    },
    /// A slice of a warm-up is over.
    Warming {
        /// Whose.
        entry: String,
        /// The slice.
        slice: Option<&'a WarmSlice>,
        /// What the curve looks like.
        verdict: Steadiness,
    },
    /// A server is ready, or is out.
    Prepared(&'a Preparation),
    /// A window has opened.
    Measuring {
        /// Whose.
        entry: String,
        /// Under which workload.
        workload: String,
        /// 1-based trial number.
        number: u32,
        /// Trials of the whole run that have ended, and how many there are.
        position: (usize, usize),
    },
    /// A search is done with a rate.
    Step {
        /// Whose.
        entry: String,
        /// The rate, its windows and what they say.
        step: &'a SearchStep,
    },
    /// A trial has ended.
    Trial(&'a Trial),
}

/// Watches a run.
pub trait Observer {
    /// Takes an event; must not take long, as it runs beside the load.
    fn event(&self, event: &Event<'_>);
}
