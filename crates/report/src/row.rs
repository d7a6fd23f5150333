//! One row of a table: an entry under a workload.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use rpcbench_record::{PlannedServer, Price, RankedBy, Toolchain};
use rpcbench_stats::{Estimate as Estimated, Range, RankRange};
use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::{Estimate, Figures};
use crate::standings::Pair;
use crate::verdict::Verdict;

/// A cell of the run: an entry under a workload, over all trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Index in the plan's list of servers.
    pub(crate) number: usize,
    /// The entry.
    pub server: PlannedServer,
    /// Library versions from its lock file.
    pub versions: BTreeMap<String, String>,
    /// The compilers and runtimes that built and ran the server.
    pub toolchains: Vec<Toolchain>,
    /// What a client claims to check in replies.
    pub reply_checks: Option<String>,
    /// Trials planned.
    pub planned: u32,
    /// Trials measured to their end.
    pub measured: u32,
    /// Possible places in the ranking. `None` if the row is not ranked.
    pub place: Option<RankRange>,
    /// The fastest ranked entry compared with this one. `None` for the fastest, and if the row is not ranked.
    pub leader: Option<Pair>,
    /// The ranking figure.
    pub by: RankedBy,
    /// Price of CPU time and memory.
    pub(crate) price: Option<Price>,
    /// The verdict on the figures.
    pub verdict: Verdict,
    /// True if a few outlying windows decide its ranking figure.
    pub stalls_decide: bool,
    /// The figures. `None` if no trial was measured. In a search, over the windows at the rates found.
    pub figures: Option<Figures>,
    /// The highest rate that met the threshold, calls per second. `None` without a search, or if it found no rate.
    pub highest_rate: Option<Estimate>,
    /// See [`crate::open::bracket`].
    pub(crate) bracket: f64,
    /// The first round that counts, from 1.
    pub(crate) counts_from: u32,
    /// Calls due per second, mean over trials. `None` in a closed loop.
    pub offered_per_s: Option<f64>,
    /// The capacity of which the load is a share, calls per second.
    pub capacity_per_s: Option<f64>,
    /// Time from the first load until steady, mean over processes, milliseconds. `None` if a process never was steady, or with a
    /// fixed warm-up.
    pub steady_after_ms: Option<u64>,
    /// Calls per second over the first second of load, mean over processes.
    pub cold_calls_per_s: Option<f64>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Last lines of the server's log, failed cases, or examples of errors.
    pub evidence: Vec<String>,
}

impl Row {
    /// `grpc 1.80.0, protobuf 1.36.0`.
    pub fn versions(&self) -> String {
        self.versions.iter().map(|(name, version)| format!("{name} {version}")).join(", ")
    }

    /// `go 1.26.8`.
    pub fn toolchains(&self) -> String {
        self.toolchains.iter().join(", ")
    }

    /// A figure that can rank entries.
    pub fn estimate(&self, by: RankedBy) -> Option<Estimate> {
        let figures = self.figures.as_ref();
        match by {
            RankedBy::CallsPerCpuSecond => figures?.server?.calls_per_cpu_s,
            RankedBy::CallsPerSecond => Some(figures?.calls_per_s),
            RankedBy::HighestRate => self.highest_rate,
        }
    }

    /// The ranking figure. `None` if it was not measured.
    pub fn ranked(&self) -> Option<Estimate> {
        self.estimate(self.by)
    }

    /// Cost of a million calls: the CPU time that they use, and the peak memory for the time that they take at the measured rate.
    /// `None` without a price, or if something priced is unknown.
    pub fn cost_per_million(&self) -> Option<f64> {
        const GIB: f64 = 1_073_741_824.0;
        let (price, figures) = (self.price.as_ref()?, self.figures.as_ref()?);
        let server = figures.server?;
        let hours = |per_s: f64| (per_s > 0.0).then(|| 1e6 / per_s / 3600.0);
        let cpu = price.cpu_hour.map(|price| Some(price * hours(server.calls_per_cpu_s?.value)?));
        let gib = server.memory_peak_bytes as f64 / GIB;
        let memory =
            price.gib_hour.map(|price| Some(price * gib * hours(figures.calls_per_s.value)?));
        [cpu, memory].into_iter().flatten().sum()
    }

    /// True if the row takes part in the ranking.
    pub(crate) fn competes(&self) -> bool {
        self.verdict.is_ranked() && self.ranked().is_some()
    }

    /// Replaces a figure with the comparison's estimate.
    pub(crate) fn apply_estimate(&mut self, by: RankedBy, known: &Estimated) {
        let bracket = if by == RankedBy::HighestRate { self.bracket } else { 1.0 };
        let figures = self.figures.as_mut();
        let estimate = match by {
            RankedBy::CallsPerCpuSecond => figures
                .and_then(|figures| figures.server.as_mut())
                .and_then(|server| server.calls_per_cpu_s.as_mut()),
            RankedBy::CallsPerSecond => figures.map(|figures| &mut figures.calls_per_s),
            RankedBy::HighestRate => self.highest_rate.as_mut(),
        };
        if let Some(estimate) = estimate {
            let widened = |Range { low, high }| Range { low, high: high * bracket };
            estimate.value = known.mean;
            estimate.range = known.comparison.or(known.range).map(widened);
            estimate.own = known.range.map(widened);
        }
    }
}

/// An entry that was not measured, for reasons other than itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct Absent {
    /// Name of the entry.
    pub entry: String,
    /// Reason, in one line.
    pub reason: String,
}

impl Absent {
    /// `java-grpc: the run ended before it was measured`.
    pub(crate) fn line(&self, loads: Option<&String>) -> String {
        let loads = loads.map(|loads| format!(" ({loads})")).unwrap_or_default();
        format!("{}{loads}: {}", self.entry, self.reason)
    }
}
