//! What limits the worth of a run, each with what to do about it.

use std::collections::BTreeSet;

use rpcbench_record::{Isolation, IsolationMode, Measured, Preparation, Run, Trial};

use crate::cell::Cell;
use crate::figures::{Figures, share};
use crate::format;
use crate::standings::Standings;
use crate::summary::Table;
use crate::verdict::Verdict;

/// Share of the CPUs' time that a hypervisor may take before a reader must know.
pub const STEAL_SHARE: f64 = 0.01;

/// Share of the windows for which the CPU controller may hold a server back before a reader must know.
pub const THROTTLED_SHARE: f64 = 0.01;

/// Share of the server's CPUs that other programs may take before a reader must know. The kernel counts
/// their use by sampling, so less can't be told from nothing in a window of some seconds.
pub const FOREIGN_SHARE: f64 = 0.03;

/// Something that limits the worth of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Not every planned trial was made.
    Unfinished {
        /// Trials that ended.
        ended: u32,
        /// Trials planned.
        planned: u32,
    },
    /// Made by a build without optimisation.
    DebugBuild,
    /// Client and server had CPUs in common.
    SharedCpus {
        /// The CPUs.
        cpus: Vec<u32>,
    },
    /// Servers had fewer CPUs than the suite gives them, as the run was scaled to the machine.
    Scaled {
        /// CPUs that the suite gives a server.
        suite_cpus: u32,
        /// CPUs that a server had.
        cpus: u32,
    },
    /// A memory limit was asked for and could not be enforced.
    NoMemoryLimit {
        /// The limit, bytes.
        asked_bytes: u64,
    },
    /// No cgroup: nothing but affinity keeps the server in its place.
    NoCgroup,
    /// One process a cell: no intervals, so places are open.
    OneProcess,
    /// The client was the limit of these.
    ClientBound {
        /// The entries.
        entries: Vec<String>,
        /// Client threads used.
        threads: u32,
    },
    /// The hypervisor took CPU time away.
    Steal {
        /// The entry that suffered most.
        entry: String,
        /// Share of the time of client's and server's CPUs.
        share: f64,
    },
    /// Other programs ran on the server's CPUs.
    Foreign {
        /// The entry that suffered most.
        entry: String,
        /// Share of the time of the server's CPUs.
        share: f64,
    },
    /// Another run measured on the same CPUs.
    Rivals {
        /// Windows at whose end it was there.
        trials: u32,
        /// All windows.
        of: u32,
    },
    /// The CPU controller held a server back.
    Throttled {
        /// The entry that suffered most.
        entry: String,
        /// Share of its windows.
        share: f64,
    },
}

impl Warning {
    /// A word for it that stays the same between versions.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unfinished { .. } => "unfinished",
            Self::DebugBuild => "debug-build",
            Self::SharedCpus { .. } => "shared-cpus",
            Self::Scaled { .. } => "scaled",
            Self::NoMemoryLimit { .. } => "no-memory-limit",
            Self::NoCgroup => "no-cgroup",
            Self::OneProcess => "one-process",
            Self::ClientBound { .. } => "client-bound",
            Self::Steal { .. } => "steal",
            Self::Foreign { .. } => "foreign",
            Self::Rivals { .. } => "rivals",
            Self::Throttled { .. } => "throttled",
        }
    }

    /// What is the case, and what to do about it.
    pub(crate) fn line(&self) -> String {
        format!("{}; {}", self.message(), self.advice())
    }

    /// What is the case, one sentence without its full stop.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Unfinished { ended, planned } => {
                format!("the run is unfinished: {ended} of {planned} trials ended")
            }
            Self::DebugBuild => "this rpcbench is a debug build, so its client is slow".to_owned(),
            Self::SharedCpus { cpus } => {
                format!("client and server shared CPU {}, so each slowed the other", list(cpus))
            }
            Self::Scaled { suite_cpus, cpus } => format!(
                "scaled to this machine: a server had {} where the suite gives it {suite_cpus}",
                format::plural(u64::from(*cpus), "CPU")
            ),
            Self::NoMemoryLimit { asked_bytes } => {
                format!("the memory limit of {} was not enforced", format::bytes(*asked_bytes))
            }
            Self::NoCgroup => "servers were kept apart by CPU affinity alone".to_owned(),
            Self::OneProcess => {
                "one process of a server says nothing about its next one, so places are open"
                    .to_owned()
            }
            Self::ClientBound { entries, threads } => format!(
                "the client with {} was the limit of {}",
                format::plural(u64::from(*threads), "thread"),
                entries.join(", ")
            ),
            Self::Steal { entry, share } => format!(
                "the hypervisor took up to {} of the CPUs' time ({entry})",
                format::percent(*share)
            ),
            Self::Foreign { entry, share } => format!(
                "other programs took up to {} of the server's CPUs ({entry})",
                format::percent(*share)
            ),
            Self::Rivals { trials, of } => {
                format!("another run had some of the same CPUs in {trials} of {of} windows")
            }
            Self::Throttled { entry, share } => format!(
                "the CPU controller held {entry} back for {} of the time",
                format::percent(*share)
            ),
        }
    }

    /// What to do about it, one sentence without its full stop.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Unfinished { .. } => "go on with `rpcbench run --resume DIR`",
            Self::DebugBuild => "build with `cargo build --release`",
            Self::SharedCpus { .. } => "take a machine with more CPUs, or fewer with --cpus",
            Self::Scaled { .. } => "hold it against runs that were scaled in the same way only",
            Self::NoMemoryLimit { .. } | Self::NoCgroup => {
                "`rpcbench doctor` says what cgroups need"
            }
            Self::OneProcess => "take --processes 2 or more",
            Self::ClientBound { .. } => "take more --client-threads, or fewer --cpus",
            Self::Steal { .. } => "repeat when the host is quieter, or on a machine of its own",
            Self::Foreign { .. } => "end them, or repeat when the machine is idle",
            Self::Rivals { .. } => {
                "make one run after the other, or give each CPUs of its own with taskset"
            }
            Self::Throttled { .. } => "look for a CPU quota set above rpcbench's own cgroup",
        }
    }
}

/// All warnings of a run.
pub(crate) fn warnings(run: &Run, tables: &[Table], cells: &[Cell]) -> Vec<Warning> {
    let mut found = Vec::new();
    found.extend(unfinished(run));
    found.extend((run.header.tool.profile == "debug").then_some(Warning::DebugBuild));
    let plan = &run.header.plan;
    found.extend(
        plan.scaled_from
            .map(|suite| Warning::Scaled { suite_cpus: suite.cpus, cpus: plan.limits.cpus }),
    );
    found.extend(isolation(run));
    found.extend(one_process(tables));
    found.extend(tables.iter().filter_map(client_bound));
    found.extend(
        worst(cells, steal_share, STEAL_SHARE)
            .map(|(entry, share)| Warning::Steal { entry, share }),
    );
    found.extend(
        worst(cells, foreign_share, FOREIGN_SHARE)
            .map(|(entry, share)| Warning::Foreign { entry, share }),
    );
    found.extend(rivals(run));
    found.extend(
        worst(cells, throttled_share, THROTTLED_SHARE)
            .map(|(entry, share)| Warning::Throttled { entry, share }),
    );
    found
}

fn unfinished(run: &Run) -> Option<Warning> {
    let planned = run.header.plan.order.len() as u32;
    let ended = run.trials.len() as u32;
    run.finished.is_none().then_some(Warning::Unfinished { ended, planned })
}

fn isolation(run: &Run) -> Vec<Warning> {
    let used: Vec<&Isolation> = measured(&run.preparations).map(|p| &p.isolation).collect();
    let shared: BTreeSet<u32> = used
        .iter()
        .flat_map(|i| i.server_cpus.iter().filter(|cpu| i.client_cpus.contains(cpu)))
        .copied()
        .collect();
    let mut found = Vec::new();
    if !shared.is_empty() {
        found.push(Warning::SharedCpus { cpus: shared.into_iter().collect() });
    }
    if used.iter().any(|i| i.mode == IsolationMode::Affinity) {
        found.push(Warning::NoCgroup);
    }
    match run.header.plan.limits.memory_bytes {
        Some(asked_bytes) if used.iter().any(|i| i.memory_bytes.is_none()) => {
            found.push(Warning::NoMemoryLimit { asked_bytes });
        }
        _ => {}
    }
    found
}

/// Preparations that came as far as a process of their own.
fn measured(preparations: &[Preparation]) -> impl Iterator<Item = &Preparation> {
    preparations.iter().filter(|p| p.readiness == rpcbench_record::Readiness::Ready)
}

fn one_process(tables: &[Table]) -> Option<Warning> {
    let standings = tables.iter().filter_map(|table| table.standings.as_ref());
    let one = |standings: &Standings| standings.processes == 1 && !standings.pairs.is_empty();
    standings.into_iter().any(one).then_some(Warning::OneProcess)
}

fn client_bound(table: &Table) -> Option<Warning> {
    let entries: Vec<String> = table
        .rows
        .iter()
        .filter(|row| matches!(row.verdict, Verdict::ClientBound { .. }))
        .map(|row| row.server.entry.clone())
        .collect();
    let threads = table.workload.client_threads;
    (!entries.is_empty()).then_some(Warning::ClientBound { entries, threads })
}

fn worst(cells: &[Cell], of: fn(&Cell) -> Option<f64>, limit: f64) -> Option<(String, f64)> {
    cells
        .iter()
        .filter_map(|cell| Some((cell.server.entry.clone(), of(cell)?)))
        .filter(|(_, share)| *share > limit)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
}

fn steal_share(cell: &Cell) -> Option<f64> {
    let figures = Figures::of(&cell.measured(), None)?;
    let cpus: BTreeSet<u32> = cell
        .preparations
        .iter()
        .flat_map(|p| p.isolation.server_cpus.iter().chain(&p.isolation.client_cpus))
        .copied()
        .collect();
    Some(share(figures.steal_ns as f64 / 1e9, figures.measured_s * cpus.len() as f64))
}

/// Over all windows together: of a short one the kernel's clock ticks may be off by several percent.
fn foreign_share(cell: &Cell) -> Option<f64> {
    let of_trial = |trial: &Measured| -> Option<(f64, f64)> {
        let server = trial.server.as_ref()?;
        let all = trial.machine.server_cpus_busy_ns? as f64 / 1e9;
        let there = server.interval_ns as f64 / 1e9 * f64::from(cell.limits.cpus);
        Some((all - server.cpu_seconds(), there))
    };
    let trials: Vec<_> = cell.measured().into_iter().filter_map(of_trial).collect();
    let (foreign, there) = trials.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (!trials.is_empty()).then(|| share(foreign.max(0.0), there))
}

fn rivals(run: &Run) -> Option<Warning> {
    let windows: Vec<&Measured> = run.trials.iter().filter_map(Trial::measured).collect();
    let trials = windows.iter().filter(|window| window.machine.rivals > 0).count() as u32;
    (trials > 0).then_some(Warning::Rivals { trials, of: windows.len() as u32 })
}

fn throttled_share(cell: &Cell) -> Option<f64> {
    Figures::of(&cell.measured(), Some(cell.limits))?.server?.throttled_share
}

fn list(cpus: &[u32]) -> String {
    cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
