//! The noise that each part of the model removes.

use rpcbench_record::{RankedBy, ReferenceUsage, Run, Trial, Workload, observations, observe};
use rpcbench_stats::{Adjustment, Observation, Question, Spread, compare};

/// CPU time of the parts of the machine reference, nanoseconds: sending messages through a pair of sockets, loads from
/// memory, arithmetic.
const PARTS: [fn(&ReferenceUsage) -> u64; 3] =
    [|usage| usage.syscalls_ns, |usage| usage.memory_ns, |usage| usage.arithmetic_ns];

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
            let per_piece =
                |usage: ReferenceUsage| part(&usage) as f64 / usage.pieces.max(1) as f64;
            let readings = observe(run, workload, |trial| reference(trial).map(per_piece));
            adjusted(&with(&windows, &readings))
        }),
        by_all: adjusted(&windows),
    }
}

fn spread(run: &Run, windows: &[Observation]) -> Option<(Spread, Adjustment)> {
    let found = compare(windows, run.header.plan.servers.len(), &Question::default());
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
