//! Events of a run, and their observers.

use rpcbench_clock::Nanos;
use rpcbench_record::{Arrivals, Failure, PlannedTrial, Preparation, SearchStep, Trial, WarmSlice};
use rpcbench_stats::Steadiness;

use crate::load::Sample;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The server of a trial is being started and checked.
    Starting(&'a PlannedTrial),
    /// Connections are being opened; sent several times a second.
    Connecting {
        /// Number of open connections.
        open: u64,
        /// Number of planned connections.
        wanted: u32,
    },
    /// A slice of a warm-up is over.
    Warming {
        /// Its entry.
        entry: String,
        /// The slice.
        slice: Option<&'a WarmSlice>,
        /// The steadiness of the curve.
        verdict: Steadiness,
    },
    /// A server is ready, or has failed.
    Prepared(&'a Preparation),
    /// A trial begins.
    Measuring {
        /// The trial as planned.
        planned: &'a PlannedTrial,
        /// When calls come due, with a known rate.
        arrivals: Arrivals,
        /// Number of trials of the run that are over or skipped, and of all trials.
        position: (usize, usize),
    },
    /// A window is over; the run waits for its last calls.
    Draining,
    /// The last window was disturbed, and is measured again. Its calls don't count.
    Repeating {
        /// Its entry.
        entry: String,
    },
    /// A search has measured a rate.
    Step {
        /// Its entry.
        entry: String,
        /// The rate, its windows and their verdict.
        step: &'a SearchStep,
    },
    /// A trial has ended.
    Trial(&'a Trial),
    /// A server uses CPU time without calls. It is frozen between its windows from now on.
    Restless {
        /// Its entry.
        entry: String,
        /// CPU time that it used, as a share of a CPU.
        share: f64,
    },
    /// A server that has no more trials could not be stopped, or others still serve its port.
    NotStopped {
        /// Its entry.
        entry: String,
        /// What is left, and the remedy.
        failure: &'a Failure,
    },
}

/// A part of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The kind of stage.
    pub phase: Phase,
    /// Name of the workload.
    pub workload: &'a str,
    /// Start.
    pub start: Nanos,
    /// End, exclusive. [`Nanos::NEVER`] for a number of calls.
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
    /// Receives an event. Must return quickly: it runs next to the load.
    fn event(&self, event: &Event<'_>);

    /// Interval at which to sample the load of a stage; `None`: never. A sample costs each load thread a copy of its histograms.
    fn sample_every(&self, _stage: &Stage<'_>) -> Option<Nanos> {
        None
    }

    /// Receives a sample.
    fn sample(&self, _stage: &Stage<'_>, _sample: &Sample) {}
}
