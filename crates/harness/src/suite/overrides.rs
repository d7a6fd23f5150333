//! Values from the command line that replace a suite's.

use rpcbench_contract::Shape;
use rpcbench_record::{Fresh, Protocol, WarmUp, Window, Workload};

use super::Suite;

/// Values that replace a suite's, in each of its workloads. `None` leaves the suite's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `--trials`.
    pub trials: Option<u32>,
    /// `--fresh` and `--kept`.
    pub fresh: Option<Fresh>,
    /// `--cpus`.
    pub cpus: Option<u32>,
    /// `--memory`, bytes.
    pub memory_bytes: Option<u64>,
    /// `--protocol`; empty leaves the suite's.
    pub protocols: Vec<Protocol>,
    /// `--shape`.
    pub shape: Option<Shape>,
    /// `--connections`.
    pub connections: Option<u32>,
    /// `--in-flight`.
    pub in_flight: Option<u32>,
    /// `--warmup`. Replaces the suite's cap too. A cap of its own is not looked at.
    pub warm_up: Option<WarmUp>,
    /// `--warmup-max`, milliseconds.
    pub warm_up_cap_ms: Option<u64>,
    /// `--duration`, milliseconds.
    pub duration_ms: Option<u64>,
    /// `--timeout`, milliseconds.
    pub timeout_ms: Option<u64>,
    /// `--grace`, milliseconds.
    pub grace_ms: Option<u64>,
    /// `--client-threads`.
    pub client_threads: Option<u32>,
}

impl Overrides {
    pub(super) fn apply(&self, suite: &Suite) -> Suite {
        let mut suite = suite.clone();
        replace(&mut suite.trials, self.trials);
        replace(&mut suite.fresh, self.fresh);
        replace(&mut suite.limits.cpus, self.cpus);
        if !self.protocols.is_empty() {
            suite.protocols = Some(self.protocols.clone());
        }
        if self.memory_bytes.is_some() {
            suite.limits.memory_bytes = self.memory_bytes;
        }
        suite.workloads.iter_mut().for_each(|workload| self.apply_to(workload));
        suite
    }

    fn apply_to(&self, workload: &mut Workload) {
        replace(&mut workload.shape, self.shape.map(|shape| shape.to_string()));
        replace(&mut workload.connections, self.connections);
        replace(&mut workload.in_flight, self.in_flight);
        replace(&mut workload.warm_up, self.warm_up);
        if let (WarmUp::UntilSteady { cap_ms, .. }, Some(cap)) =
            (&mut workload.warm_up, self.warm_up_cap_ms)
        {
            *cap_ms = Some(cap);
        }
        let window = self.duration_ms.map(|length_ms| Window::Duration { length_ms });
        replace(&mut workload.window, window);
        replace(&mut workload.timeout_ms, self.timeout_ms);
        replace(&mut workload.grace_ms, self.grace_ms);
        replace(&mut workload.client_threads, self.client_threads);
    }
}

fn replace<T>(value: &mut T, with: Option<T>) {
    if let Some(with) = with {
        *value = with;
    }
}
