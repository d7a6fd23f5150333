//! Limits of a run's figures, with advice.

use std::borrow::Cow;
use std::collections::BTreeSet;

use itertools::Itertools as _;
use rpcbench_record::{Isolation, IsolationMode, Measured, Preparation, Readiness, Run, Trial};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cell::Cell;
use crate::figures::{ServerFigures, share};
use crate::format::{bytes, percent_near, plural};
use crate::parties::Parties;
use crate::standings::Standings;
use crate::summary::Table;
use crate::verdict::VerdictKind;

/// Share of the CPUs' time stolen by the hypervisor above which there is a warning.
pub const STEAL_SHARE: f64 = 0.01;

/// Share of the windows throttled by the CPU controller above which there is a warning.
pub const THROTTLED_SHARE: f64 = 0.01;

/// Share of the server's CPUs used by other programs above which there is a warning. The kernel samples this use, so smaller
/// shares are noise in a window of a few seconds.
pub const FOREIGN_SHARE: f64 = 0.03;

/// Something that limits the validity of a run's figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// Name of the kind of warning. It stays the same between versions.
    pub kind: &'static str,
    /// What was found: one sentence without its full stop.
    pub message: String,
    /// What to do about it: one sentence without its full stop.
    pub advice: Cow<'static, str>,
}

impl Warning {
    fn new(kind: &'static str, message: impl Into<String>, advice: &'static str) -> Self {
        Self { kind, message: message.into(), advice: advice.into() }
    }

    /// The same, reworded for these parties.
    fn of(self, parties: Parties) -> Self {
        match parties {
            Parties::Server => self,
            Parties::Client | Parties::Pair => Self {
                message: parties.words(&self.message).into_owned(),
                advice: parties.words(&self.advice).into_owned().into(),
                ..self
            },
        }
    }

    pub(crate) fn line(&self) -> String {
        format!("{}; {}", self.message, self.advice)
    }
}

/// All warnings of a run, most important first.
pub(crate) fn warnings(run: &Run, tables: &[Table], cells: &[Cell]) -> Vec<Warning> {
    let mut found = Vec::new();
    found.extend(unfinished(run));
    found.extend(debug_build(run));
    found.extend(scaled(run));
    found.extend(isolation(run));
    found.extend(one_process(tables));
    found.extend(tables.iter().filter_map(client_bound));
    found.extend(steal(cells));
    found.extend(foreign(cells));
    found.extend(rivals(run));
    found.extend(throttled(cells));
    let parties = Parties::of_run(&run.header.plan);
    found.into_iter().map(|warning| warning.of(parties)).collect()
}

fn unfinished(run: &Run) -> Option<Warning> {
    let (ended, planned) = (run.trials.len(), run.header.plan.order.len());
    run.finished.is_none().then(|| {
        Warning::new(
            "unfinished",
            format!("the run is unfinished: {ended} of {planned} trials ended"),
            "resume it with `rpcbench run --resume DIR`",
        )
    })
}

fn debug_build(run: &Run) -> Option<Warning> {
    let message = "this rpcbench is a debug build, so its client is slow";
    let advice = "build it with `cargo build --release`";
    // rpcbench is neither side of a pair.
    let takes_part = !run.header.plan.has_pairs();
    (run.header.tool.profile == "debug" && takes_part)
        .then(|| Warning::new("debug-build", message, advice))
}

fn scaled(run: &Run) -> Option<Warning> {
    let plan = &run.header.plan;
    let (suite, cpus) = (plan.scaled_from?.cpus, plural(plan.limits.cpus.into(), "CPU"));
    Some(Warning::new(
        "scaled",
        format!("scaled to this machine: a server had {cpus}, the suite gives it {suite}"),
        "compare it only with runs scaled the same way",
    ))
}

fn isolation(run: &Run) -> Vec<Warning> {
    const DOCTOR: &str = "`rpcbench doctor` says what cgroups need";
    let ready = run.preparations.iter().filter(|p| p.readiness == Readiness::Ready);
    let used: Vec<&Isolation> = ready.map(|p: &Preparation| &p.isolation).collect();
    let shared: BTreeSet<u32> = used.iter().flat_map(|i| i.shared_cpus()).collect();
    let mut found = Vec::new();
    if !shared.is_empty() {
        let cpus = shared.iter().join(", ");
        found.push(Warning::new(
            "shared-cpus",
            format!("client and server shared CPU {cpus}, so each slowed the other"),
            "use a machine with more CPUs, or give each server fewer",
        ));
    }
    if used.iter().any(|i| i.mode == IsolationMode::Affinity) {
        let message = "servers were isolated by CPU affinity only";
        found.push(Warning::new("no-cgroup", message, DOCTOR));
    }
    let limit = run.header.plan.limits.memory_bytes;
    if let Some(limit) = limit.filter(|_| used.iter().any(|i| i.memory_bytes.is_none())) {
        let message = format!("the memory limit of {} was not enforced", bytes(limit));
        found.push(Warning::new("no-memory-limit", message, DOCTOR));
    }
    found
}

fn one_process(tables: &[Table]) -> Option<Warning> {
    let one = |standings: &Standings| standings.processes == 1 && !standings.pairs.is_empty();
    let tables = tables.iter().filter(|table| table.standings.as_ref().is_some_and(one));
    let ranked = tables.flat_map(|table| table.rows.iter().filter(|row| row.verdict.is_ranked()));
    let assumed = ranked.map(|row| row.server.assumed_spread() * 100.0).minmax_by(f64::total_cmp);
    let (least, most) = assumed.into_option()?;
    let range = if least < most { format!("{least} to {most} %") } else { format!("{most} %") };
    Some(Warning::new(
        "one-process",
        format!(
            "one process of each server was measured, so how much processes differ is assumed, {range}"
        ),
        "measure 2 processes or more",
    ))
}

fn client_bound(table: &Table) -> Option<Warning> {
    let bound = |row: &&crate::row::Row| {
        matches!(row.verdict.kind, VerdictKind::ClientBound | VerdictKind::ReferenceBound)
    };
    let entries = table.rows.iter().filter(bound).map(|row| &row.server.entry).join(", ");
    let threads = plural(table.workload.client_threads.into(), "thread");
    (!entries.is_empty()).then(|| {
        Warning::new(
            "client-bound",
            format!("the client with {threads} was the limit of {entries}"),
            "use more client threads, or give each server fewer CPUs",
        )
    })
}

/// The cell with the largest share above `limit`.
fn worst<'a>(
    cells: &'a [Cell],
    of: fn(&Cell) -> Option<f64>,
    limit: f64,
) -> Option<(&'a str, String)> {
    cells
        .iter()
        .filter_map(|cell| Some((cell.server.entry.as_str(), of(cell)?)))
        .filter(|(_, share)| *share > limit)
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(entry, share)| (entry, percent_near(share, &[limit])))
}

fn steal(cells: &[Cell]) -> Option<Warning> {
    let (entry, share) = worst(cells, steal_share, STEAL_SHARE)?;
    Some(Warning::new(
        "steal",
        format!("the hypervisor took up to {share} of the CPUs' time ({entry})"),
        "repeat when the host is quieter, or on a dedicated machine",
    ))
}

fn steal_share(cell: &Cell) -> Option<f64> {
    let windows = cell.measured();
    let stolen_ns: u64 = windows.iter().map(|window| window.machine.steal_ns).sum();
    let measured_ns: u64 = windows.iter().map(|window| window.window_ns).sum();
    let isolation = cell.preparations.iter().map(|p| &p.isolation);
    let cpus = isolation.flat_map(|it| it.server_cpus.iter().chain(&it.client_cpus));
    let cpus: BTreeSet<u32> = cpus.copied().collect();
    (!windows.is_empty()).then(|| share(stolen_ns as f64, measured_ns as f64 * cpus.len() as f64))
}

fn foreign(cells: &[Cell]) -> Option<Warning> {
    let (entry, share) = worst(cells, foreign_share, FOREIGN_SHARE)?;
    Some(Warning::new(
        "foreign",
        format!("other programs took up to {share} of the server's CPUs ({entry})"),
        "end them, or repeat when the machine is idle",
    ))
}

/// Over all windows together: in a short window the kernel's clock ticks can be off by several percent.
fn foreign_share(cell: &Cell) -> Option<f64> {
    let of_trial = |trial: &Measured| -> Option<(f64, f64)> {
        let server = trial.server.as_ref()?;
        let all = trial.machine.server_cpus_busy_ns? as f64 / 1e9;
        let available = server.interval_ns as f64 / 1e9 * f64::from(cell.limits.cpus);
        Some((all - server.cpu_seconds(), available))
    };
    let trials: Vec<_> = cell.measured().into_iter().filter_map(of_trial).collect();
    let (foreign, available) =
        trials.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (!trials.is_empty()).then(|| share(foreign.max(0.0), available))
}

fn rivals(run: &Run) -> Option<Warning> {
    let windows: Vec<&Measured> = run.trials.iter().filter_map(Trial::measured).collect();
    let (shared, all) =
        (windows.iter().filter(|window| window.machine.rivals > 0).count(), windows.len());
    (shared > 0).then(|| {
        Warning::new(
            "rivals",
            format!("another run had some of the same CPUs in {shared} of {all} windows"),
            "make one run at a time, or give each its own CPUs with taskset",
        )
    })
}

fn throttled(cells: &[Cell]) -> Option<Warning> {
    let of = |cell: &Cell| ServerFigures::of(&cell.measured(), cell.limits)?.throttled_share;
    let (entry, share) = worst(cells, of, THROTTLED_SHARE)?;
    Some(Warning::new(
        "throttled",
        format!("the CPU controller held {entry} back for {share} of the time"),
        "look for a CPU quota above rpcbench's own cgroup",
    ))
}
