//! One row of a table: an entry under a workload.

use std::collections::BTreeMap;

use rpcbench_record::{PlannedServer, RankedBy, Toolchain};
use rpcbench_stats::{Estimate as Estimated, Place, Range};

use crate::figures::{Estimate, Figures};
use crate::standings::Pair;
use crate::verdict::Verdict;

/// A cell of the run: an entry under a workload, its trials taken together.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Place in the plan's list of servers, from 0.
    pub(crate) number: usize,
    /// What was measured.
    pub server: PlannedServer,
    /// Library versions from its lock file.
    pub versions: BTreeMap<String, String>,
    /// Compilers and runtimes that built and run it.
    pub toolchains: Vec<Toolchain>,
    /// Trials planned.
    pub planned: u32,
    /// Trials measured to their end.
    pub measured: u32,
    /// Its places in the ranking, as far as the run can tell. `None` where the verdict forbids one.
    pub place: Option<Place>,
    /// How it compares with the fastest entry that has a rank. `None` for that one, and without a rank.
    pub leader: Option<Pair>,
    /// What it is ranked by.
    pub by: RankedBy,
    /// What the figures are worth.
    pub verdict: Verdict,
    /// Whether a few windows, far from the others, decide the figure that it is ranked by.
    pub stalls_decide: bool,
    /// `None` where no trial was measured. Of a search: the windows at the rates that it found.
    pub figures: Option<Figures>,
    /// The highest rate that met the threshold, calls a second. `None` where none was searched for or found.
    pub highest_rate: Option<Estimate>,
    /// See [`crate::open::bracket`].
    pub(crate) bracket: f64,
    /// Calls a second that came due by the schedule, mean of the trials. `None` in a closed loop.
    pub offered_per_s: Option<f64>,
    /// The capacity of which the load is a share, calls a second. `None` where it is no share.
    pub capacity_per_s: Option<f64>,
    /// Time from the first load to steady, mean over its processes, milliseconds. `None` where it
    /// was not reached or not asked for.
    pub steady_after_ms: Option<u64>,
    /// Calls a second over the first second of load, mean over its processes.
    pub cold_calls_per_s: Option<f64>,
    /// What a reader must know about it.
    pub notes: Vec<String>,
    /// What went wrong, line by line: last lines of the server's log, failed cases, examples of errors.
    pub evidence: Vec<String>,
}

impl Row {
    /// `grpc 1.80.0, protobuf 1.36.0`.
    #[must_use]
    pub fn versions(&self) -> String {
        let all: Vec<String> =
            self.versions.iter().map(|(name, v)| format!("{name} {v}")).collect();
        all.join(", ")
    }

    /// `go 1.26.8`.
    #[must_use]
    pub fn toolchains(&self) -> String {
        self.toolchains.iter().map(Toolchain::to_string).collect::<Vec<_>>().join(", ")
    }

    /// A figure by which entries are ranked.
    #[must_use]
    pub fn estimate(&self, by: RankedBy) -> Option<Estimate> {
        let figures = self.figures.as_ref();
        match by {
            RankedBy::CallsPerCpuSecond => figures?.server?.calls_per_cpu_s,
            RankedBy::CallsPerSecond => Some(figures?.calls_per_s),
            RankedBy::HighestRate => self.highest_rate,
        }
    }

    /// The figure that it is ranked by. `None` where it was not measured.
    #[must_use]
    pub fn ranked(&self) -> Option<Estimate> {
        self.estimate(self.by)
    }

    /// Whether it takes part in the ranking.
    pub(crate) fn competes(&self) -> bool {
        self.verdict.is_ranked() && self.ranked().is_some()
    }

    /// Takes over what the comparison of entries knows about one of its figures.
    pub(crate) fn know(&mut self, by: RankedBy, known: &Estimated) {
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

/// An entry that was not measured, through no fault of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It can't run on this machine.
    Skipped {
        /// The entry.
        entry: String,
        /// What is missing and what to install.
        reason: String,
    },
    /// Its load is a share of a capacity that could not be measured.
    NoCapacity {
        /// The entry.
        entry: String,
    },
    /// The run ended before its turn.
    NotReached {
        /// The entry.
        entry: String,
    },
}

impl Absent {
    /// The entry's name.
    #[must_use]
    pub fn entry(&self) -> &str {
        match self {
            Self::Skipped { entry, .. }
            | Self::NoCapacity { entry }
            | Self::NotReached { entry } => entry,
        }
    }

    /// Why it was not measured, one line.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Skipped { reason, .. } => reason,
            Self::NoCapacity { .. } => "its capacity could not be measured",
            Self::NotReached { .. } => "the run ended before it was measured",
        }
    }
}
