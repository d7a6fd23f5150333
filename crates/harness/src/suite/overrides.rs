//! Values from the command line that replace a suite's.

use rpcbench_contract::Shape;
use rpcbench_record::{
    Arrivals, ConnectionLife, Limits, Rate, Stopping, Threshold, WarmUp, Window, Workload,
};

use super::Suite;
use crate::search::{Sweep, at_rate};

/// Processes of each entry that `--precision` may take in a suite that has no such number: with 16 of them a difference
/// of the size that two processes of one server have by themselves can be told.
const MOST_PROCESSES: u32 = 16;

/// Values that replace a suite's, in each of its workloads. `None` leaves the suite's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `--processes`: exactly so many.
    pub processes: Option<u32>,
    /// `--rounds`.
    pub rounds: Option<u32>,
    /// `--precision`, a fraction.
    pub precision: Option<f64>,
    /// `--max-time`, milliseconds.
    pub max_time_ms: Option<u64>,
    /// The suite's own limits, where `--scale-to-machine` lowered them.
    pub scaled_from: Option<Limits>,
    /// `--runtime-statistics`; `false` leaves the suite's.
    pub runtime_statistics: bool,
    /// `--log-calls`; `false` leaves the suite's.
    pub log_calls: bool,
    /// `--calls`.
    pub calls: Option<u64>,
    /// `--cpus`.
    pub cpus: Option<u32>,
    /// `--memory`, bytes.
    pub memory_bytes: Option<u64>,
    /// `--arrivals`, `--rate`, `--sweep`, `--find-max`: in place of the suite's loads.
    pub loads: Option<Loads>,
    /// `--shape`.
    pub shape: Option<Shape>,
    /// `--connections`.
    pub connections: Option<u32>,
    /// `--connection-life`.
    pub connection_life: Option<ConnectionLife>,
    /// `--in-flight`.
    pub in_flight: Option<u32>,
    /// `--warmup`. Replaces the suite's cap too. A cap of its own is not looked at.
    pub warm_up: Option<WarmUp>,
    /// `--warmup-min`, milliseconds.
    pub warm_up_least_ms: Option<u64>,
    /// `--warmup-max`, milliseconds.
    pub warm_up_cap_ms: Option<u64>,
    /// `--settle`, milliseconds.
    pub settle_ms: Option<u64>,
    /// `--duration`, milliseconds.
    pub duration_ms: Option<u64>,
    /// `--timeout`, milliseconds.
    pub timeout_ms: Option<u64>,
    /// `--grace`, milliseconds.
    pub grace_ms: Option<u64>,
    /// `--client-threads`.
    pub client_threads: Option<u32>,
    /// `--pipelining`; `false` leaves the suite's.
    pub pipelining: bool,
}

/// Loads that replace a suite's: one, or those of a sweep, or a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Loads {
    /// When calls come due; of a sweep at its first rate, of a search as it begins.
    pub arrivals: Arrivals,
    /// `--sweep`.
    pub sweep: Option<Sweep>,
    /// `--find-max`.
    pub find_max: Option<Threshold>,
}

impl Overrides {
    pub(super) fn apply(&self, suite: &Suite) -> Suite {
        let mut suite = suite.clone();
        replace(&mut suite.rounds, self.rounds);
        self.apply_to_stopping(&mut suite);
        suite.runtime_statistics |= self.runtime_statistics;
        suite.log_calls |= self.log_calls;
        replace(&mut suite.limits.cpus, self.cpus);
        if self.memory_bytes.is_some() {
            suite.limits.memory_bytes = self.memory_bytes;
        }
        if let Some(loads) = &self.loads {
            suite.workloads = loads.replace(&suite);
        }
        suite.workloads.iter_mut().for_each(|workload| self.apply_to(workload));
        suite
    }

    fn apply_to_stopping(&self, suite: &mut Suite) {
        let mut stopping = suite.stopping.unwrap_or(Stopping {
            precision: None,
            agreement: None,
            least_processes: suite.processes,
            max_time_ms: None,
        });
        if self.max_time_ms.is_some() {
            stopping.max_time_ms = self.max_time_ms;
        }
        if let Some(precision) = self.precision {
            if stopping.precision.is_none() {
                suite.processes = suite.processes.max(MOST_PROCESSES);
            }
            stopping.precision = Some(precision);
        }
        if let Some(processes) = self.processes {
            suite.processes = processes;
            stopping.precision = None;
            stopping.least_processes = processes;
        }
        let is_any = stopping.precision.is_some()
            || stopping.agreement.is_some()
            || stopping.max_time_ms.is_some();
        suite.stopping = is_any.then_some(stopping);
    }

    fn apply_to(&self, workload: &mut Workload) {
        replace(&mut workload.shape, self.shape.map(|shape| shape.to_string()));
        replace(&mut workload.connections, self.connections);
        replace(&mut workload.connection_life, self.connection_life);
        replace(&mut workload.in_flight, self.in_flight);
        replace(&mut workload.warm_up, self.warm_up);
        if let WarmUp::UntilSteady { least_ms, cap_ms } = &mut workload.warm_up {
            replace(least_ms, self.warm_up_least_ms);
            *cap_ms = self.warm_up_cap_ms.or(*cap_ms);
        }
        replace(&mut workload.settle_ms, self.settle_ms);
        let window = self.duration_ms.map(|length_ms| Window::Duration { length_ms });
        replace(&mut workload.window, window);
        replace(&mut workload.window, self.calls.map(|calls| Window::Calls { calls }));
        replace(&mut workload.timeout_ms, self.timeout_ms);
        replace(&mut workload.grace_ms, self.grace_ms);
        replace(&mut workload.client_threads, self.client_threads);
        workload.pipelining |= self.pipelining;
    }
}

impl Loads {
    /// Workloads of one process become these loads, before them the closed loop that finds the capacity where one takes a
    /// share of it.
    fn replace(&self, suite: &Suite) -> Vec<Workload> {
        let mut groups: Vec<Vec<&Workload>> = Vec::new();
        for workload in &suite.workloads {
            match groups.iter_mut().find(|group| group[0].shares_process(workload)) {
                Some(group) => group.push(workload),
                None => groups.push(vec![workload]),
            }
        }
        let alone = groups.len() == 1;
        let mut workloads = Vec::new();
        for group in groups {
            let first = group[0];
            let like = group.iter().find(|w| w.arrivals.is_open()).copied().unwrap_or(first);
            let base = if alone { suite.name.clone() } else { first.name.clone() };
            let loads = self.loads(&base, like);
            if loads.iter().any(|load| load.arrivals.needs_capacity()) {
                let name = if alone { "capacity".to_owned() } else { format!("{base}-capacity") };
                let closed =
                    Workload { name, arrivals: Arrivals::Closed, find_max: None, ..first.clone() };
                workloads.push(closed);
            }
            workloads.extend(loads);
        }
        workloads
    }

    fn loads(&self, base: &str, like: &Workload) -> Vec<Workload> {
        let load = Workload {
            name: base.to_owned(),
            arrivals: self.arrivals,
            find_max: self.find_max,
            ..like.clone()
        };
        let Some(sweep) = &self.sweep else { return vec![load] };
        let at = |rate: &Rate| {
            let name = format!("{base}-{}", rate.to_string().trim_end_matches('%'));
            Some(Workload { name, arrivals: at_rate(self.arrivals, *rate)?, ..load.clone() })
        };
        sweep.rates().iter().filter_map(at).collect()
    }
}

fn replace<T>(value: &mut T, with: Option<T>) {
    if let Some(with) = with {
        *value = with;
    }
}
