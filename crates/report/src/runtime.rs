//! Statistics of the servers' runtimes.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use rpcbench_record::{Measured, Pauses, RuntimeStatistics};

use crate::figures::share;
use crate::format;

/// Garbage collection and allocation, over all trials of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeFigures {
    /// Pauses by kind.
    pub by_kind: BTreeMap<String, Pauses>,
    /// Pauses of every kind.
    pub pauses: Pauses,
    /// Total length of pauses as a share of the windows.
    pub pause_share: f64,
    /// Bytes allocated. `None` if a runtime does not count them, or did not report in time.
    pub allocated_bytes: Option<u64>,
    /// Bytes allocated per second. `None` under the same conditions.
    pub allocated_per_s: Option<f64>,
    /// Bytes allocated per correct answer within the windows. `None` under the same conditions, and without answers.
    pub allocated_per_call_bytes: Option<u64>,
    /// Largest heap, bytes. `None` if a runtime does not report it.
    pub heap_peak_bytes: Option<u64>,
}

impl RuntimeFigures {
    /// The statistics of a cell's trials; `runtime` reads those of a trial. `None` if a trial has none, or has refused
    /// statistics.
    pub fn of(
        trials: &[&Measured],
        runtime: fn(&Measured) -> &Option<RuntimeStatistics>,
    ) -> Option<Self> {
        let all: Option<Vec<&RuntimeStatistics>> =
            trials.iter().map(|trial| runtime(trial).as_ref()).collect();
        let all = all.filter(|all| !all.is_empty() && all.iter().all(|it| it.refused.is_none()))?;
        let mut by_kind: BTreeMap<String, Pauses> = BTreeMap::new();
        for (kind, pauses) in all.iter().flat_map(|all| &all.pauses) {
            by_kind.entry(kind.clone()).or_default().add(*pauses);
        }
        let mut pauses = Pauses::default();
        by_kind.values().for_each(|kind| pauses.add(*kind));
        let window_ns = trials.iter().map(|trial| trial.window_ns).sum::<u64>() as f64;
        let answered = trials.iter().map(|trial| trial.ok_pro_rata).sum::<f64>();
        let allocated: Option<u64> = all.iter().map(|all| all.allocated_bytes).sum();
        let heaps: Option<Vec<u64>> = all.iter().map(|all| all.heap_peak_bytes).collect();
        Some(Self {
            by_kind,
            pauses,
            pause_share: share(pauses.total_ns as f64, window_ns),
            allocated_bytes: allocated,
            allocated_per_s: allocated.map(|bytes| share(bytes as f64, window_ns / 1e9)),
            allocated_per_call_bytes: allocated
                .filter(|_| answered > 0.0)
                .map(|bytes| (bytes as f64 / answered).round() as u64),
            heap_peak_bytes: heaps.and_then(|heaps| heaps.into_iter().max()),
        })
    }

    /// `old: 1, 12.0 ms; young: 30, 41.5 ms, mean 1.38 ms, longest 3.20 ms`.
    pub fn kinds(&self) -> String {
        let time = |ns: u64| format::duration_ns(ns as f64);
        let kind = |(kind, pauses): (&String, &Pauses)| {
            let Pauses { count, total_ns, max_ns } = *pauses;
            let sum = format!("{kind}: {}, {}", format::count(count), time(total_ns));
            match count {
                0 | 1 => sum,
                _ => {
                    let mean = format::duration_ns(total_ns as f64 / count as f64);
                    format!("{sum}, mean {mean}, longest {}", time(max_ns))
                }
            }
        };
        self.by_kind.iter().map(kind).join("; ")
    }
}
