//! The noise that each part of the model removes.

use rpcbench_record::{
    Analysis, RankedBy, ReferenceUsage, Run, Trial, Workload, observations, observe,
};
use rpcbench_stats::{Adjustment, Observation, Spread, compare};

/// A part of the machine reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Sending messages through a pair of sockets.
    Syscalls,
    /// Loads from memory.
    Memory,
    /// Arithmetic.
    Arithmetic,
}

/// Every part.
pub const PARTS: [Part; 3] = [Part::Syscalls, Part::Memory, Part::Arithmetic];

/// Standard deviations of the logarithm of a window's figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Noise {
    /// Of the windows of a process.
    pub windows: Option<f64>,
    /// Without what all entries of a round share.
    pub in_rounds: Option<f64>,
    /// Adjusted by one part of the reference each, as in [`PARTS`]. `None` if it was not usable.
    pub by_part: [Option<f64>; 3],
    /// Adjusted by the whole reference.
    pub by_all: Option<f64>,
}

/// The noise of one workload of a run.
pub fn noise(run: &Run, workload: &Workload) -> Noise {
    let by = RankedBy::of(run, workload);
    let windows = observations(run, workload, by);
    let raw = spread(run, &with(&windows, &[])).map(|(spread, _)| spread);
    let adjusted = |windows: &[Observation]| {
        let (spread, adjustment) = spread(run, windows)?;
        matches!(adjustment, Adjustment::To { .. }).then_some(spread.adjusted)
    };
    Noise {
        windows: raw.map(|it| it.windows),
        in_rounds: raw.map(|it| it.in_rounds),
        by_part: PARTS.map(|part| {
            let readings = observe(run, workload, |trial| Some(part.reading(reference(trial)?)));
            adjusted(&with(&windows, &readings))
        }),
        by_all: adjusted(&windows),
    }
}

fn spread(run: &Run, windows: &[Observation]) -> Option<(Spread, Adjustment)> {
    let plan = &run.header.plan;
    let processes = windows.iter().map(|window| window.process).max()?;
    let found = compare(windows, plan.servers.len(), &plan.question(Analysis::Final(processes)));
    Some((found.spread()?, found.adjustment()))
}

/// The windows with `readings` as their reference.
fn with(windows: &[Observation], readings: &[Observation]) -> Vec<Observation> {
    let place = |it: &Observation| (it.entry, it.process, it.round);
    let reading = |window: &Observation| {
        readings.iter().find(|it| place(it) == place(window)).map(|it| it.value)
    };
    windows.iter().map(|it| Observation { reference: reading(it), ..*it }).collect()
}

fn reference(trial: &Trial) -> Option<ReferenceUsage> {
    trial.measured()?.machine.reference
}

impl Part {
    /// CPU time per repetition, nanoseconds.
    fn reading(self, usage: ReferenceUsage) -> f64 {
        let all = match self {
            Self::Syscalls => usage.syscalls_ns,
            Self::Memory => usage.memory_ns,
            Self::Arithmetic => usage.arithmetic_ns,
        };
        all as f64 / usage.pieces.max(1) as f64
    }
}
