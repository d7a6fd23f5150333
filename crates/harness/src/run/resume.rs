//! Going on with a run that was interrupted.

use rpcbench_record::{Machine, PlannedTrial, Readiness, Run, TrialResult};

/// Why a run can't be gone on with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    /// There is nothing left.
    #[error("this run is finished; `rpcbench report` shows it")]
    Finished,
    /// The numbers would not belong together.
    #[error("this run was made on another machine ({there}; this is {here}); start a new one")]
    OtherMachine {
        /// CPU and kernel of the record.
        there: String,
        /// CPU and kernel of this machine.
        here: String,
    },
}

/// Refuses to go on with a run that is finished, or that was made on another machine.
///
/// # Errors
/// Why not.
pub fn same_machine(run: &Run, here: &Machine) -> Result<(), ResumeError> {
    if run.finished.is_some() {
        return Err(ResumeError::Finished);
    }
    let name = |machine: &Machine| {
        format!("{} x {}, Linux {}", machine.cpu.logical, machine.cpu.model, machine.kernel)
    };
    let (there, here) = (name(&run.header.machines.client), name(here));
    if there == here { Ok(()) } else { Err(ResumeError::OtherMachine { there, here }) }
}

/// The trials of the plan that have not ended, in the plan's order. A cell whose server failed, or was
/// skipped, has none left. What was left out of a process when the next one was begun stays left out.
#[must_use]
pub fn remaining(run: &Run) -> Vec<PlannedTrial> {
    let order = &run.header.plan.order;
    let is_made = |planned: &PlannedTrial| {
        run.trials.iter().any(|trial| {
            (&trial.entry, &trial.workload, trial.number)
                == (&planned.entry, &planned.workload, planned.number)
        })
    };
    let last = order.iter().rposition(is_made);
    let is_over = |at: usize| last.is_some_and(|l| at < l && order[at].process != order[l].process);
    let left =
        order.iter().enumerate().filter(|(at, planned)| !is_over(*at) && !is_done(run, planned));
    left.map(|(_, planned)| planned.clone()).collect()
}

fn is_done(run: &Run, planned: &PlannedTrial) -> bool {
    let plan = &run.header.plan;
    let of_cell =
        |entry: &str, workload: &str| entry == planned.entry && workload == planned.workload;
    let shares = |workload: &str| {
        let (own, other) = (plan.workload(&planned.workload), plan.workload(workload));
        own.zip(other).is_some_and(|(own, other)| own.shares_process(other))
    };
    // What kept a process from being ready keeps it from every workload that would share it.
    let out = run.preparations.iter().any(|preparation| {
        preparation.entry == planned.entry
            && (preparation.workload == planned.workload || shares(&preparation.workload))
            && preparation.readiness != Readiness::Ready
    });
    let ended =
        run.trials.iter().filter(|trial| of_cell(&trial.entry, &trial.workload)).any(|trial| {
            trial.number == planned.number || matches!(trial.result, TrialResult::Failed(_))
        });
    out || ended
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rpcbench_record::{
        CheckResult, ConnectionLife, Cpu, Failure, Header, Isolation, IsolationMode, Limits,
        PlacementKind, Plan, Preparation, SCHEMA, Tool, Trial, WarmUp, Window, Workload,
    };

    use super::*;

    fn machine() -> Machine {
        let cpu = Cpu { model: "m".into(), logical: 2, cores: 2, governor: None, turbo: None };
        Machine {
            kernel: "6.1".into(),
            os: String::new(),
            cpu,
            memory_bytes: 0,
            cgroup: "v2".into(),
            virtualization: None,
            clock_source: None,
            huge_pages: None,
            open_files: 0,
        }
    }

    fn planned(entry: &str, number: u32) -> PlannedTrial {
        PlannedTrial { entry: entry.into(), workload: "w".into(), process: 1, number }
    }

    fn run() -> Run {
        let order = (1..=3).flat_map(|n| ["a", "b"].map(|entry| planned(entry, n))).collect();
        let plan = Plan {
            suite: "s".into(),
            seed: 1,
            placement: PlacementKind::Native,
            fail_if: Vec::new(),
            log_calls: false,
            scaled_from: None,
            published: Vec::new(),
            stopping: None,
            limits: Limits { cpus: 1, memory_bytes: None },
            workloads: Vec::new(),
            servers: Vec::new(),
            order,
        };
        let header = Header {
            schema: SCHEMA,
            id: "019ca932-4c00-7000-8000-000000000001".parse().unwrap(),
            tool: Tool { version: String::new(), commit: None, profile: String::new() },
            arguments: Vec::new(),
            started: "2026-03-01T12:00:00Z".parse().unwrap(),
            machines: machine().into(),
            plan,
        };
        Run { header, preparations: Vec::new(), trials: Vec::new(), finished: None }
    }

    fn failure() -> Failure {
        Failure { reason: "exited".into(), log_tail: Vec::new() }
    }

    fn ended(entry: &str, number: u32, result: TrialResult) -> Trial {
        let started = "2026-03-01T12:00:00Z".parse().unwrap();
        Trial {
            entry: entry.into(),
            workload: "w".into(),
            process: 1,
            number,
            started,
            arrivals: None,
            search: None,
            unmeasured: None,
            result,
        }
    }

    fn measured() -> TrialResult {
        let json = r#"{"measured":{"window_ns":1,"outcomes":{"ok":0,"wrong_answer":0,"status":{},
            "timeout":0,"transport":0,"not_sent":0},"error_examples":[],"latency":null,
            "error_latency":null,"carried_in_ns":0,"carried_out_ns":0,"server":null,"client":
            {"threads":1,"cpu_ns":1,"run_delay_ns":null,"busiest_ns":1},"machine":
            {"steal_ns":0,"server_cpus_busy_ns":null,"cpu_pressure_ns":null},"series":[]}}"#;
        serde_json::from_str(json).unwrap()
    }

    fn prepared(entry: &str, readiness: Readiness) -> Preparation {
        Preparation {
            entry: entry.into(),
            workload: "w".into(),
            process: 1,
            versions: BTreeMap::new(),
            lock_hash: String::new(),
            toolchains: Vec::new(),
            build: String::new(),
            build_env: Vec::new(),
            command: Vec::new(),
            env: BTreeMap::new(),
            isolation: Isolation {
                mode: IsolationMode::Affinity,
                server_cpus: Vec::new(),
                client_cpus: Vec::new(),
                memory_bytes: None,
                notes: Vec::new(),
            },
            check: CheckResult::default(),
            warm: None,
            readiness,
        }
    }

    #[test]
    fn what_ended_is_not_done_again_and_the_order_stays() {
        let mut run = run();
        run.preparations.push(prepared("a", Readiness::Ready));
        run.trials.extend([ended("a", 1, measured()), ended("b", 2, measured())]);
        let left = remaining(&run);
        assert_eq!(left, [planned("b", 1), planned("a", 2), planned("a", 3), planned("b", 3)]);
    }

    #[test]
    fn what_was_left_out_of_a_process_stays_so_and_other_workloads_follow() {
        let of = |process, number| PlannedTrial { process, ..planned("a", number) };
        let mut run = run();
        run.header.plan.order = vec![of(1, 1), of(1, 2), of(2, 3), of(2, 4)];
        run.trials.extend([ended("a", 1, measured()), ended("a", 3, measured())]);
        assert_eq!(remaining(&run), [of(2, 4)]);
        // As older runs were ordered: a process for each trial, workload by workload.
        let other = |number| PlannedTrial { workload: "other".into(), ..of(number, number) };
        run.header.plan.order = vec![of(1, 1), of(2, 2), of(3, 3), other(1), other(2)];
        run.trials.push(ended("a", 2, measured()));
        assert_eq!(remaining(&run), [other(1), other(2)]);
    }

    #[test]
    fn a_server_that_failed_or_was_skipped_has_no_trials_left() {
        let mut failed = run();
        failed.trials.push(ended("a", 1, TrialResult::Failed(failure())));
        let mut out = run();
        out.preparations.push(prepared("a", Readiness::Failed(failure())));
        let mut skipped = run();
        let reason = "no compiler".into();
        skipped.preparations.push(prepared("a", Readiness::Skipped { reason }));
        for run in [failed, out, skipped] {
            assert_eq!(remaining(&run), [planned("b", 1), planned("b", 2), planned("b", 3)]);
        }
    }

    fn workload(name: &str, arrivals: &str, connections: u32) -> Workload {
        Workload {
            name: name.into(),
            shape: "text:100".into(),
            connections,
            connection_life: ConnectionLife::Long,
            in_flight: 10,
            arrivals: arrivals.parse().unwrap(),
            find_max: None,
            warm_up: WarmUp::Fixed { length_ms: 0 },
            settle_ms: Workload::SETTLE_MS,
            window: Window::Duration { length_ms: 100 },
            timeout_ms: 1000,
            grace_ms: 1000,
            client_threads: 1,
            pipelining: false,
        }
    }

    #[test]
    fn what_never_got_ready_is_done_for_every_load_that_would_share_its_process() {
        let mut run = run();
        let loads = [("w", "closed", 5), ("load", "poisson:10%", 5), ("other", "closed", 6)];
        let plan = &mut run.header.plan;
        plan.workloads =
            loads.map(|(name, arrivals, connections)| workload(name, arrivals, connections)).into();
        let at = |workload: &str| PlannedTrial { workload: workload.into(), ..planned("a", 1) };
        plan.order = loads.map(|(name, ..)| at(name)).into();
        assert_eq!(remaining(&run).len(), 3);
        run.preparations.push(prepared("a", Readiness::Failed(failure())));
        assert_eq!(remaining(&run), [at("other")]);
        // A trial that failed says nothing about the other loads.
        run.preparations.clear();
        run.trials.push(ended("a", 1, TrialResult::Failed(failure())));
        assert_eq!(remaining(&run), [at("load"), at("other")]);
    }

    #[test]
    fn a_finished_run_and_another_machine_are_refused() {
        let mut run = run();
        assert_eq!(same_machine(&run, &machine()), Ok(()));
        let other = Machine { kernel: "6.2".into(), ..machine() };
        let error = same_machine(&run, &other).unwrap_err().to_string();
        assert!(error.contains("2 x m, Linux 6.1") && error.contains("Linux 6.2"), "{error}");
        run.finished = Some(run.header.started);
        assert_eq!(same_machine(&run, &machine()), Err(ResumeError::Finished));
    }
}
