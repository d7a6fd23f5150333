//! What a run tells whoever watches it.

use rpcbench_engine::Sample;
use rpcbench_engine::clock::Nanos;
use rpcbench_record::{Arrivals, Preparation, SearchStep, Trial, WarmSlice};
use rpcbench_stats::Steadiness;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A server is being started and checked.
    Starting {
        /// Whose.
        entry: String,
        /// 1-based number of its process.
        process: u32,
    },
    /// Connections are being opened; told several times a second.
    Connecting {
        /// Those that are open.
        open: u64,
        /// All of them.
        wanted: u32,
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
    /// A trial begins.
    Measuring {
        /// Whose.
        entry: String,
        /// Under which workload.
        workload: String,
        /// When calls come due; its rate is known.
        arrivals: Arrivals,
        /// 1-based trial number.
        number: u32,
        /// Trials of the whole run that are over or left out, and how many there are.
        position: (usize, usize),
    },
    /// A window is over, and its last calls are awaited.
    Draining,
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

/// A part of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// Which.
    pub phase: Phase,
    /// See [`rpcbench_record::Workload::name`].
    pub workload: &'a str,
    /// First instant.
    pub start: Nanos,
    /// First instant after it.
    pub end: Nanos,
}

/// The parts of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Load before the window opens.
    Settling,
    /// The window.
    Measuring,
}

/// Watches a run.
pub trait Observer {
    /// Takes an event; must not take long, as it runs beside the load.
    fn event(&self, event: &Event<'_>);

    /// How often it looks at the load of a stage. A look costs each load thread a copy of its histograms, so that it
    /// is not taken (`None`) unless somebody reads it.
    fn look_every(&self, _stage: &Stage<'_>) -> Option<Nanos> {
        None
    }

    /// Takes a look.
    fn look(&self, _stage: &Stage<'_>, _sample: &Sample) {}
}
